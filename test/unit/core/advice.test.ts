import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ADVICE } from '#words/en/advice.ts'

const INDEXER = fileURLToPath(new URL('../../../indexer', import.meta.url))

/** Look like codes of findings: names of files, and what jobs fail with or the files endpoint answers. */
const NO_FINDINGS = /\.jsonl?$|^mount\.|^index\.(?!limit_)|^file\.(?!unreadable)/

test('every code of a warning or diagnostic has advice, and advice has a code', async () => {
  const entries = await readdir(INDEXER, { recursive: true, withFileTypes: true })
  const sources = entries.filter(entry => entry.name.endsWith('.ts') && entry.name !== 'schema.ts')
  const texts = await Promise.all(sources.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  const codes = new Set(
    texts.flatMap(text => [...text.matchAll(/(?<!\bt\()['`]([a-z_]+\.[a-z_]+)(?::[\w$]|')/g)].map(([, code]) => code ?? '')),
  )
  const findings = [...codes].filter(code => !NO_FINDINGS.test(code))
  expect(findings.length).toBeGreaterThan(40)
  expect(Object.keys(ADVICE).sort()).toEqual(findings.sort())
})

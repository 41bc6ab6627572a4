import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ADVICE } from '#words/en/advice.ts'

const INDEXER = fileURLToPath(new URL('../../../indexer', import.meta.url))
/** What is told of a folder as a whole. */
const OF_FOLDERS = fileURLToPath(new URL('../../../core/folder-findings.ts', import.meta.url))

/** Look like codes of findings: names of files, and what jobs fail with or the files endpoint answers. */
const NO_FINDINGS = /\.jsonl?$|^mount\.|^index\.(?!limit_)|^file\.(?!unreadable)/

test('every code of a warning or diagnostic has advice, and advice has a code', async () => {
  const entries = await readdir(INDEXER, { recursive: true, withFileTypes: true })
  const sources = entries.filter(entry => entry.name.endsWith('.ts') && entry.name !== 'schema.ts')
  const files = [...sources.map(({ parentPath, name }) => join(parentPath, name)), OF_FOLDERS]
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8')))
  const codes = new Set(
    texts.flatMap(text => [...text.matchAll(/(?<!\bt\()['`]([a-z_]+\.[a-z_]+)(?::[\w$]|')/g)].map(([, code]) => code ?? '')),
  )
  const findings = [...codes].filter(code => !NO_FINDINGS.test(code))
  expect(findings.length).toBeGreaterThan(40)
  expect(Object.keys(ADVICE).sort()).toEqual(findings.sort())
})

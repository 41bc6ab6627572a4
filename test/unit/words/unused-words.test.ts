import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PAGES } from '#words/en/en.ts'
import { sentencesOf } from '#words/t.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Sections whose keys are codes of the interface, or come from its contract. */
const BY_CODE = /^(?:finding|findingKind|reason|advice|errorOnPage|contract|reference)\./

/** The keys that no source names, whole or by their beginning in a template. */
function unusedIn(keys: readonly string[], source: string): string[] {
  return keys.filter(key => {
    const beginnings = key.split('.').map((_, index, names) => `\`${names.slice(0, index).join('.')}.\${`)
    return !BY_CODE.test(key) && ![`'${key}'`, `"${key}"`, ...beginnings].some(named => source.includes(named))
  })
}

test('each sentence of pages is said somewhere', () => {
  const files = execFileSync('git', ['ls-files', 'site', 'api', 'core', 'cli', 'indexer'], { cwd: ROOT, encoding: 'utf8' })
  const sources = files.split('\n').filter(path => /\.(?:astro|ts)$/.test(path))
  const source = sources.map(path => readFileSync(join(ROOT, path), 'utf8')).join('\n')
  expect(
    unusedIn(
      [...sentencesOf(PAGES)].map(([key]) => key),
      source,
    ),
  ).toEqual([])
})

test('and one that is not is detected', () => {
  const source = ["t('a.b')", 't(`a.c.$', '{kind}`)'].join('')
  expect(unusedIn(['a.b', 'a.c.d', 'e.f'], source)).toEqual(['e.f'])
})

import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { READER_SETTINGS } from '#cli/service.ts'
import { IndexErrorCode } from '#core/contract/shared.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { METRICS } from '#core/ports/metrics.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const namesIn = (texts: readonly string[], name: RegExp) => [...new Set(texts.flatMap(text => text.match(name) ?? []))].sort()

const README = await read('README.md')
const GUIDE = await read('docs/operating.md')
const SETTINGS = await read('docs/settings.md')

describe('settings', async () => {
  const name = /(?<![\w<])(?:MOUNTGLASS_[A-Z_]+|HOST|PORT)\b/g
  const sources = await Promise.all(
    [
      'core/settings.ts',
      'infra/infra-settings.ts',
      'cli/service-settings.ts',
      'indexer/jobs/worker-settings.ts',
      'cli/service.ts',
      'cli/reader/cache.ts',
    ].map(read),
  )
  const known = namesIn(sources, name)
  const rowsOf = (text: string) => text.split('\n').filter(line => /^\| `(?:MOUNTGLASS_|HOST)/.test(line))
  const firstCellsOf = (rows: readonly string[]) => rows.map(row => row.split('|')[1] ?? '')

  const [summary = '', details = ''] = SETTINGS.split('\n## Listening\n')

  test('each has a row in the table of all settings, and no row names anything else', () => {
    expect(namesIn(firstCellsOf(rowsOf(summary)), name)).toEqual(known)
  })

  test('each is explained on the page of settings, and the page and the guide name no other', () => {
    expect(namesIn(firstCellsOf(rowsOf(details)), name)).toEqual(known)
    for (const named of namesIn([README, GUIDE, SETTINGS], name)) expect(known).toContain(named)
  })

  test('those of commands that read stand by themselves', () => {
    const [, ofCommands = ''] = /\n## Commands that read\n([\s\S]*?)\n## /.exec(details) ?? []
    expect(namesIn(firstCellsOf(rowsOf(ofCommands)), name)).toEqual([...READER_SETTINGS].sort())
  })

  test('the cells of the table of all settings stay short', () => {
    for (const row of rowsOf(summary)) {
      const [, , fallback = '', meaning = ''] = row.split('|').map(cell => cell.trim())
      expect(fallback.length, row).toBeLessThanOrEqual(30)
      expect(meaning.length, row).toBeLessThanOrEqual(60)
    }
  })
})

test('the README stays one that is read whole, and its first command needs no checkout', () => {
  expect(README.split('\n').length - 1).toBeLessThanOrEqual(150)
  expect(/```sh\n(.*)\n(.*)\n(.*)\n```/.exec(README)?.slice(1)).toEqual([
    expect.stringMatching(/^npx mountglass \S+\/\S+ /),
    expect.stringMatching(/^npx mountglass serve /),
    expect.stringMatching(/^docker run .* mountglass /),
  ])
})

test('every metric that the guide for operators names exists', () => {
  const [, watching = ''] = GUIDE.split('## Monitoring')
  const told = namesIn([watching], /\bmountglass_[a-z_]+/g)
  expect(told.length).toBeGreaterThan(0)
  for (const name of told) expect(Object.keys(METRICS)).toContain(name)
})

test('every error code that the guide for operators names exists', () => {
  const told = namesIn([GUIDE], /(?<=`)[a-z]+\.[a-z_]+(?=`)/g).filter(name => !/\.(sqlite|json|yaml|env)$/.test(name))
  expect(told.length).toBeGreaterThan(0)
  for (const name of told) expect([...Object.keys(ERROR_STATUS), ...IndexErrorCode.options]).toContain(name)
})

test('every relative link of the documents leads to a file or folder', async () => {
  const folders = ['', 'docs', 'docs/decisions', 'cli/action']
  const documents = (
    await Promise.all(
      folders.map(async folder =>
        (await readdir(join(ROOT, folder))).filter(name => name.endsWith('.md')).map(name => join(folder, name)),
      ),
    )
  ).flat()
  expect(documents).toContain('README.md')
  let links = 0
  for (const document of documents) {
    for (const [, target = ''] of (await read(document)).matchAll(/\]\((?!https?:|#)([^)\s#]+)(?:#[^)]*)?\)/g)) {
      links++
      await expect(access(join(ROOT, dirname(document), target)), `${document} links to ${target}`).resolves.toBeUndefined()
    }
  }
  expect(links).toBeGreaterThan(20)
})

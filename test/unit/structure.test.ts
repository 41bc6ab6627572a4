import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  BOUNDS,
  findExcess,
  findFaults,
  findLongFiles,
  measure,
  measureFiles,
  readRooms,
  readSources,
  readTests,
} from '../../scripts/structure.mjs'

const ROOT = join(import.meta.dirname, '..', '..')

test('the sources keep to their rooms and bounds', () => {
  const sources = readSources(ROOT)
  expect(sources.length).toBeGreaterThan(300)
  expect(findFaults(readRooms(sources))).toEqual([])
  expect(findExcess(measure(sources))).toEqual([])
})

test('the files of the tests keep to the bound on files', () => {
  const tests = readTests(ROOT)
  expect(tests.length).toBeGreaterThan(300)
  expect(findLongFiles(measureFiles(tests))).toEqual([])
})

test('the scripts are among the sources', () => {
  expect(readSources(ROOT).map(({ path }) => path)).toContain('scripts/structure.mjs')
})

describe('rooms', () => {
  const faultsOf = (files: Record<string, string>) =>
    findFaults(readRooms(Object.entries(files).map(([path, text]) => ({ path, text }))))

  test('import from the rows below them, and files at the top from anywhere', () => {
    const files = {
      'cli/serve.ts': "import './routes/a.ts'",
      'api/routes/a.ts': "import '../mount/a.ts'",
      'api/mount/a.ts': "import type { A } from '../snapshot/a.ts'",
      'api/snapshot/a.ts': "import '#core/text.ts'",
      'core/text.ts': '',
    }
    expect(faultsOf(files)).toEqual([])
  })

  test.each([
    ["import '../routes/b.ts'", 'above'],
    ["import type { B } from '../routes/b.ts'", 'above'],
    ["export { b } from '../routes/b.ts'", 'above'],
    ["const b = await import('../routes/b.ts')", 'above'],
    ["import '../search/b.ts'", 'beside'],
  ])('do not import up or sideways: %s', (text, where) => {
    expect(faultsOf({ 'api/mount/a.ts': text })).toEqual([expect.stringContaining(`lies ${where} it`)])
  })

  test('do not import each other in a circle by way of files at the top', () => {
    const files = { 'api/mount/a.ts': "import '../deps.ts'", 'api/deps.ts': "import './mount/b.ts'" }
    expect(faultsOf(files)).toEqual(['rooms import each other in a circle: api/mount -> api/deps.ts -> api/mount'])
  })

  test('keep their inner folders out of circles, too', () => {
    const files = {
      'api/search/a.ts': "import './passage/b.ts'",
      'api/search/passage/b.ts': "import '../c.ts'",
      'api/search/c.ts': '',
    }
    expect(faultsOf(files)).toEqual(['rooms import each other in a circle: api/search -> api/search/passage -> api/search'])
  })

  test('have a row each', () => {
    expect(faultsOf({ 'api/attic/a.ts': '' })).toEqual([expect.stringContaining('api/attic has no row')])
  })
})

test('long functions and files are reported with their place', () => {
  const body = '  f()\n'.repeat(BOUNDS.function)
  const text = `const f = () => {}\nexport function long() {\n${body}}\n${'\n'.repeat(BOUNDS.file)}`
  expect(findExcess(measure([{ path: 'api/a.ts', text }]))).toEqual([
    expect.stringMatching(/^api\/a\.ts:2: a function of 82 lines/),
    expect.stringMatching(/^api\/a\.ts: \d+ lines/),
  ])
})

test('a file is too long by its first line over the bound', () => {
  const lines = (count: number) => ({ path: `test/${count}.test.ts`, text: 'f()\n'.repeat(count) })
  expect(findLongFiles(measureFiles([lines(BOUNDS.file), lines(BOUNDS.file + 1)]))).toEqual([
    `test/${BOUNDS.file + 1}.test.ts: ${BOUNDS.file + 1} lines, more than ${BOUNDS.file}`,
  ])
})

// Each build has the same key of server islands (scripts/setup/portable-site.mjs), so nothing may be sealed with it.
test('no page has a server island', () => {
  const files = globSync('site/**/*.astro', { cwd: ROOT })
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter(file => /\bserver:defer\b/.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

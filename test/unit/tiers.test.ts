import { globSync, readFileSync } from 'node:fs'
import { basename, join, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chosenRuns, LONGEST, OWN_OF_ALL, type TestRun, TIERS } from '#test/support/tiers.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = globSync('test/**/*.ts', { cwd: ROOT })
const FILES = SOURCES.filter(path => path.endsWith('.test.ts'))

const includes = ({ include, exclude = [] }: TestRun, file: string) =>
  include.some(glob => matchesGlob(file, glob)) && !exclude.some(glob => matchesGlob(file, glob))

/** Names of the configurations in which a file runs when both tiers run. */
const runsOf = (file: string) =>
  Object.values(TIERS)
    .flat()
    .flatMap(run => (includes(run, file) ? [run.name] : []))

/** Configurations of the first tier. */
const FIRST = TIERS.test.map(({ name }) => name)

describe('the tiers of the tests', () => {
  test('every test file runs in exactly one tier, by its name', () => {
    expect(FILES.length).toBeGreaterThan(150)
    for (const file of FILES) {
      // Beside it, only the runs of the second tier that run files again.
      const isOfAll = file.endsWith('.all.test.ts')
      const own = runsOf(file).filter(name => FIRST.includes(name) || name === OWN_OF_ALL)
      expect(own.length, file).toBe(1)
      expect(own[0] === OWN_OF_ALL, file).toBe(isOfAll)
    }
  })

  test('a configuration that runs a file again differs from every other of that file', () => {
    const runs = Object.values(TIERS).flat()
    expect(new Set(runs.map(({ name }) => name)).size).toBe(runs.length)
    for (const file of FILES) {
      const environments = runs.flatMap(run => (includes(run, file) ? [JSON.stringify(run.env)] : []))
      expect(new Set(environments).size, file).toBe(environments.length)
    }
  })

  test('every path and pattern of a configuration finds a file', () => {
    for (const { include } of Object.values(TIERS).flat()) {
      for (const glob of include) expect(FILES.filter(file => matchesGlob(file, glob)).length, glob).toBeGreaterThan(0)
    }
    for (const file of LONGEST) expect(FILES).toContain(file)
  })

  test('no file with tests has a name that no tier finds', () => {
    const withTests = SOURCES.filter(path => /^\s*(test|it)(\.\w+)*\(/m.test(readFileSync(join(ROOT, path), 'utf8')))
    const suites = withTests.filter(path => !path.endsWith('.test.ts'))
    // Suites that test files run with their own drivers, some of them through another suite.
    const users = (suite: string): string[] =>
      SOURCES.filter(path => readFileSync(join(ROOT, path), 'utf8').includes(`/${basename(suite)}'`))
    const isRun = (path: string): boolean => FILES.includes(path) || users(path).some(isRun)
    for (const suite of suites) expect(isRun(suite), suite).toBe(true)
  })

  test('a module that test files share registers hooks only on request, since files share loaded modules', () => {
    const isHooked = (path: string) => /^(before|after)(All|Each)\(/m.test(readFileSync(join(ROOT, path), 'utf8'))
    expect(SOURCES.filter(path => !path.endsWith('.test.ts') && isHooked(path))).toEqual([])
  })

  test('a tier runs its own files and no others; without one, every file is found once', () => {
    const names = (env: NodeJS.ProcessEnv) => chosenRuns(env).map(({ name }) => name)
    expect(names({ MOUNTGLASS_TEST_TIER: 'test' })).toEqual(FIRST)
    for (const name of FIRST) expect(names({ MOUNTGLASS_TEST_TIER: 'test:all' })).not.toContain(name)
    expect(names({})).toEqual([...FIRST, OWN_OF_ALL])
    expect(chosenRuns({ MOUNTGLASS_TEST_STORES: 's3' })[0]?.env).toEqual({})
    expect(() => chosenRuns({ MOUNTGLASS_TEST_TIER: 'some' })).toThrow('the tiers are test and test:all')
  })
})

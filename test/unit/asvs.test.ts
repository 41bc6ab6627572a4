import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Items of OWASP ASVS 5.0.0 that apply to sign-ins, sessions, secrets and answers; each is met, or said not to be. */
const APPLYING = [
  ...['3.2.1', '3.2.2', '3.3.1', '3.3.2', '3.3.3', '3.3.4', '3.4.1', '3.4.2', '3.4.3', '3.4.4', '3.4.5', '3.4.6'],
  ...['3.5.1', '3.5.2', '3.5.3', '3.7.2'],
  ...['7.2.3', '7.2.4', '7.3.1', '7.3.2', '7.4.1', '7.5.2'],
  ...['8.2.2', '8.3.2', '8.4.1'],
  ...['13.2.4', '13.3.1', '14.2.1', '14.2.2', '14.3.2'],
  ...['16.2.5', '16.3.1', '16.3.2', '16.3.3', '16.5.1', '16.5.3'],
]

/** The beginning of the name of a test: `v5.0.0-3.3.1, v5.0.0-3.3.2 and v5.0.0-3.3.3: …`. */
const NAMED = /['`](v5\.0\.0-[\d.]+(?:(?:, | and )v5\.0\.0-[\d.]+)*): /g
const ITEM = /\d+\.\d+\.\d+/g

/** The items in the names of the tests of a file. */
function itemsOf(path: string): string[] {
  return [...read(path).matchAll(NAMED)].flatMap(([, names = '']) =>
    [...names.matchAll(/v5\.0\.0-([\d.]+)/g)].map(([, item = '']) => item),
  )
}

const FILES = globSync('test/**/*.ts', { cwd: ROOT }).filter(path => !path.endsWith('asvs.test.ts'))
const inOrder = (items: Iterable<string>) =>
  [...new Set(items)].sort((left, right) => left.localeCompare(right, 'en', { numeric: true }))

/** The tables of a page that have a column `ASVS`: those that are met have four columns, those that are not have two. */
function tablesOf(page: string) {
  const rows = read(page)
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.slice(2, -2).split(' | '))
  const met = rows.filter(cells => cells.length === 4 && /^[\d., ]+$/.test(cells[1] ?? ''))
  const unmet = rows.filter(cells => cells.length === 2 && /^\d+\.\d+\.\d+/.test(cells[0] ?? ''))
  return {
    met: met.map(([, items = '', , tests = '']) => ({
      items: [...items.matchAll(ITEM)].map(([item]) => item),
      files: [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    })),
    unmet: unmet.flatMap(([items = '']) => items.match(ITEM) ?? []),
  }
}

describe.each(['docs/security.md', 'docs/de/security.md'])('%s', page => {
  const { met, unmet } = tablesOf(page)

  test('lists every item that a test is named after, and a test is named after every listed item', () => {
    const named = FILES.flatMap(itemsOf)
    expect(named.length).toBeGreaterThan(50)
    expect(inOrder(met.flatMap(({ items }) => items))).toEqual(inOrder(named))
  })

  test('names the files of these tests, and no file without one', () => {
    for (const { items, files } of met) {
      const found = files.map(file => ({ file, items: itemsOf(file).filter(item => items.includes(item)) }))
      expect(inOrder(found.flatMap(one => one.items))).toEqual(inOrder(items))
      expect(found.filter(one => one.items.length === 0)).toEqual([])
    }
  })

  test('lists every applicable item as met or not', () => {
    const said = new Set([...met.flatMap(({ items }) => items), ...unmet])
    expect(unmet.length).toBeGreaterThan(0)
    expect(APPLYING.filter(item => !said.has(item))).toEqual([])
  })
})

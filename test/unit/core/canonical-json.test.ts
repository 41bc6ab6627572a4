import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { createRandom } from '#test/support/random.ts'

test.each<[string, unknown, string]>([
  [
    'the keys of every object are sorted',
    { b: 1, a: { d: [{ f: 1, e: 2 }], c: null } },
    '{"a":{"c":null,"d":[{"e":2,"f":1}]},"b":1}',
  ],
  ['a field that is undefined is left out', { b: undefined, a: 1 }, '{"a":1}'],
  ['an item that is undefined keeps its place', [undefined, { b: 1, a: undefined }], '[null,{"b":1}]'],
  ['numbers as keys are sorted as texts', { 2: 'b', 10: 'a', x: { 1: 'c' } }, '{"10":"a","2":"b","x":{"1":"c"}}'],
  [
    'a key may mean something to JavaScript',
    JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}'),
    '{"__proto__":{"a":2,"b":1},"z":1}',
  ],
  ['keys and texts are escaped', { '"': '\n', '\ud800': '\udc00' }, '{"\\"":"\\n","\\ud800":"\\udc00"}'],
  ['a text is a value', 'a', '"a"'],
])('%s', (_, value, json) => {
  expect(canonicalJson(value)).toBe(json)
})

describe('of random values', () => {
  const values = Array.from({ length: 2_000 }, (_, seed) => randomValue(createRandom('json', seed)))

  test('the text is that of joining sorted fields', () => {
    for (const value of values) expect(canonicalJson(value)).toBe(joined(value))
  })

  test('the text does not depend on the order in which the fields were set', () => {
    for (const value of values) expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
  })

  test('the text encodes the value, which stays unchanged', () => {
    for (const value of values) {
      const plain = JSON.stringify(value)
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(plain))
      expect(JSON.stringify(value)).toBe(plain)
    }
  })
})

const KEYS = [
  'a',
  'b',
  'path',
  'Path',
  'sizeBytes',
  '',
  '1',
  '10',
  '2',
  '-1',
  '01',
  '__proto__',
  'toJSON',
  'ä',
  '😀',
  '\ud800',
  '"',
  'a b',
]
const LEAVES = [0, -1.5, 1e21, true, null, undefined, '', 'text', '\ud800', 'line\n"']

/** Sometimes with more keys than are sorted by insertion. */
function randomValue(random: () => number, depth = 0): unknown {
  const kind = random()
  if (depth > 0 && (depth > 4 || kind < 0.4)) return LEAVES[Math.floor(random() * LEAVES.length)]
  if (kind < 0.6) return Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1))
  const hasOdd = random() < 0.3
  const count = random() < 0.05 ? 40 : Math.floor(random() * 6)
  const fields = Array.from({ length: count }, (_, at): [string, unknown] => {
    const key =
      hasOdd || random() < 0.5
        ? (KEYS[Math.floor(random() * (hasOdd ? KEYS.length : 6))] as string)
        : `key-${Math.floor(random() * 100)}-${at}`
    return [key, randomValue(random, depth + 1)]
  })
  return Object.fromEntries(fields)
}

function joined(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(item => (item === undefined ? 'null' : joined(item))).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value)
    .sort()
    .filter(key => (value as Record<string, unknown>)[key] !== undefined)
  return `{${keys.map(key => `${JSON.stringify(key)}:${joined((value as Record<string, unknown>)[key])}`).join()}}`
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  )
}

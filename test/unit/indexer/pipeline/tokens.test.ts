import { beforeAll, expect, test } from 'vitest'
import { createTokenCounter, loadTokenizer, type Tokenizer } from '#indexer/pipeline/tokens.ts'

let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await loadTokenizer()
})

test.each([
  ['', 0],
  ['hello world', 2],
  ['Grüße aus Köln', 5],
  ['<|endoftext|> is a word like others', 12],
])('%j is counted as %d tokens of o200k_base', (text, tokens) => {
  expect(tokenizer.count(text)).toBe(tokens)
})

test('text with ordinary words is counted as one piece, whatever its length', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  expect(tokenizer.count(sentence.repeat(1_000))).toBe(10_001)
})

test.each([
  ['a letter', 'a'],
  ['spaces', ' '],
  ['signs', '=-'],
  ['a picture', '🎻'],
  ['a word without an end', 'Donaudampfschiff'],
])('a mebibyte of %s is counted in the end', (_what, run) => {
  const text = run.repeat(1_048_576 / Buffer.byteLength(run))
  expect(tokenizer.count(text)).toBeGreaterThan(1_000)
})

test('a long run is cut wherever it begins', () => {
  const words = Array.from({ length: 130 }, (_, at) => 'a bc def '.repeat(at)).concat(
    Array.from({ length: 9 }, (_, at) => ' '.repeat(at)),
  )
  for (const before of words) {
    const long = `${before}${'x'.repeat(511)}hello`
    expect(tokenizer.count(long)).toBe(tokenizer.count(long.slice(0, -4)) + tokenizer.count('ello'))
  }
})

test('of a very long text the beginning is counted, and the rest is taken to be like it', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  const times = 20_000
  const whole = tokenizer.count(sentence.repeat(times))
  expect(Math.abs(whole - 10 * times)).toBeLessThan(times / 50)
})

test('a text is counted once, and one that an earlier snapshot counted is not counted again', async () => {
  const first = createTokenCounter(new Map())
  expect([await first.count('hello world'), await first.count('hello world')]).toEqual([2, 2])
  expect([...first.counts.values()]).toEqual([2])
  const [key = ''] = first.counts.keys()
  const next = createTokenCounter(new Map([[key, 17]]))
  expect(await next.count('hello world')).toBe(17)
  expect([...next.counts]).toEqual([[key, 17]])
})

import { beforeAll, expect, test } from 'vitest'
import { loadTokenizer, type Tokenizer } from '#indexer/check/tokens.ts'

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
  expect([tokenizer.name, tokenizer.count(text)]).toEqual(['o200k_base', tokens])
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

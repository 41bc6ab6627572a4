import { expect, test } from 'vitest'
import { nameOfTerm } from '#core/search/terms-block.ts'
import { spelledWord } from '#indexer/search/section-writer.ts'
import { bytesOf } from '#test/support/posting-list.ts'

test.each([
  ['a word', 'deploy', true],
  ['a word with other letters', 'größe', true],
  ['a word of another alphabet', 'сервер', true],
  ['four characters that each are several bytes', 'データ型', true],
  ['32 letters', 'a'.repeat(32), true],
  ['33 letters', 'a'.repeat(33), false],
  ['three letters', 'cat', false],
  ['three characters of three bytes', 'データ', false],
  ['two characters beyond 16 bits', '\u{20000}\u{20001}', false],
  ['an identifier with an underscore', 'max_tokens', false],
  ['an identifier with a dot', 'node.js', false],
  ['an identifier with colons', 'std::vector', false],
  ['a path', 'src/main', false],
  ['a word that stands in every text', nameOfTerm('would'), false],
])('%s may be misspelled, or not', (_name, term, isWord) => {
  expect(spelledWord(bytesOf(term))).toBe(isWord ? term : null)
})

import { markHidden } from './hidden-characters.ts'

const WORDS = 20

/** The words of a query, longest first, for `markWords`. */
export function wordsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words.filter(word => word.length > 1 || /[^\p{ASCII}]/u.test(word)))]
    .sort((left, right) => right.length - left.length)
    .slice(0, WORDS)
}

/** `markHidden`, with a `mark` around each word that begins with one of the words. Scripts without spaces are marked within words. */
export function markWords(text: string, words: readonly string[] = []): string {
  if (words.length === 0) return markHidden(text)
  const pattern = new RegExp(`((?<![\\p{Script=Latin}\\p{N}])(?:${words.join('|')})\\p{Script=Latin}*)`, 'giu')
  return text
    .split(pattern)
    .map((piece, index) => (index % 2 === 0 ? markHidden(piece) : `<mark>${markHidden(piece)}</mark>`))
    .join('')
}

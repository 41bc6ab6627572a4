import type { SearchInput } from '#indexer/search/input.ts'

/** What people ask of a repository, made of its own words, the same for the same items. */
export interface BenchQueries {
  /** Titles, words of descriptions, questions, words of texts. */
  plain: string[]
  /** A title with two letters exchanged. */
  misspelled: string[]
}

/** So many items are asked for. */
const ASKED_ITEMS = 15

export function queriesOf(items: readonly SearchInput[]): BenchQueries {
  const step = Math.max(1, Math.floor(items.length / ASKED_ITEMS))
  const asked = items.filter((_, index) => index % step === Math.floor(step / 2)).slice(0, ASKED_ITEMS)
  const queries: BenchQueries = { plain: [], misspelled: [] }
  for (const [turn, { title, summary, fields }] of asked.entries()) {
    const named = wordsOf(fields.description ?? summary)
    const body = wordsOf(fields.body ?? '')
    const pick = (words: readonly string[], place: number) => words[(turn + place * 7) % words.length] ?? title
    queries.plain.push(
      title,
      [pick(named, 2), pick(named, 0), pick(named, 1)].join(' '),
      `how do I ${pick(body, 1)} the ${pick(body, 2)} with a ${pick(named, 3)}`,
      longest(body),
    )
    const misspelled = misspell(title)
    if (misspelled !== null) queries.misspelled.push(misspelled)
  }
  const isQuery = (query: string) => query.trim() !== ''
  return { plain: [...new Set(queries.plain)].filter(isQuery), misspelled: [...new Set(queries.misspelled)] }
}

/** Words of a text; of scripts without spaces some characters. */
function wordsOf(text: string): string[] {
  const words = text.slice(0, 20_000).match(/[\p{L}\p{N}_]{3,}/gu) ?? []
  return words.map(word => (isAscii(word) ? word : Array.from(word).slice(0, 6).join('')))
}

function longest(words: readonly string[]): string {
  return words.reduce((best, word) => (word.length > best.length && word.length <= 32 ? word : best), '')
}

/** `null` where no word is long enough. */
function misspell(title: string): string | null {
  const word = longest(wordsOf(title).filter(isAscii))
  if (word.length < 5) return null
  const middle = word.length >> 1
  const exchanged = `${word.slice(0, middle - 1)}${word[middle]}${word[middle - 1]}${word.slice(middle + 1)}`
  return exchanged === word ? null : title.replace(word, exchanged)
}

function isAscii(word: string): boolean {
  return /^[a-zA-Z0-9_]+$/.test(word)
}

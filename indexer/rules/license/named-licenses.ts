import { aliases, aliasWords } from './license-ids.ts'
import { NAMES } from './significant-words.ts'

/** The licenses that the words name, and the other words without fillers such as "the"; at each position the longest name counts. */
export function takeLicenseNames(words: readonly string[]): { ids: Set<string>; rest: string[] } {
  const telling = aliasWords(words)
  const ids = new Set<string>()
  const rest: string[] = []
  for (let start = 0; start < telling.length; ) {
    const length = longestName(telling, start)
    const id = length === 0 ? undefined : aliases().get(telling.slice(start, start + length).join(' '))
    if (id !== undefined) ids.add(id)
    else rest.push(telling[start] ?? '')
    start += Math.max(1, length)
  }
  return { ids, rest }
}

function longestName(words: readonly string[], start: number): number {
  for (let length = Math.min(NAME_WORDS, words.length - start); length > 0; length--) {
    const name = words.slice(start, start + length)
    // "Fair", "Intel" and "Jam" are names of licenses and ordinary words.
    if (aliases().has(name.join(' ')) && (length > 1 || NAMES.test(name[0] ?? ''))) return length
  }
  return 0
}

const NAME_WORDS = 10

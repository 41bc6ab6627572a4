import { licenseTemplates, once } from './data.ts'

/** A template, with or without its optional parts, that is similar to the text. */
export interface Candidate {
  id: string
  words: string[]
  /** Counts of optional words at the beginning and at the end. */
  before: number
  after: number
  /** Sørensen–Dice of the pairs of neighbouring words, 0 to 1. */
  similarity: number
}

/** Templates of at least `minimum` similarity, best first; equals by length, longest first. */
export function similarTemplates(words: readonly string[], minimum: number): Candidate[] {
  const { variants, wordNumbers } = library()
  const pairs = pairsOf(words, wordNumbers)
  // The Sørensen–Dice coefficient is at most 2 × shorter / (shorter + longer). So templates that are too long or too short are skipped.
  const reachable = (2 - minimum) / minimum
  const found: Candidate[] = []
  for (const { length, part, partPairs } of variants) {
    if (length - 1 > pairs.length * reachable || pairs.length > (length - 1) * reachable) continue
    const similarity = dice(pairs, partPairs())
    if (similarity >= minimum) found.push({ ...part(), similarity })
  }
  return found.sort((left, right) => right.similarity - left.similarity || right.words.length - left.words.length)
}

interface Variant {
  /** In words. */
  length: number
  part: () => Omit<Candidate, 'similarity'>
  /** Sorted. */
  partPairs: () => Float64Array
}

/** Every template with and without its optional parts. The pairs of a variant are computed when a text has a similar length. */
const library = once(() => {
  const wordNumbers = new Map<string, number>()
  const variants = licenseTemplates().flatMap(({ id, before, words, after }) => {
    const [head, body, tail] = [splitWords(before), splitWords(words), splitWords(after)]
    for (const part of [head, body, tail]) {
      for (const word of part) if (!wordNumbers.has(word)) wordNumbers.set(word, wordNumbers.size + 1)
    }
    const heads = head.length === 0 ? [head] : [[], head]
    const tails = tail.length === 0 ? [tail] : [[], tail]
    return heads.flatMap(first =>
      tails.map((last): Variant => {
        const part = once(() => ({ id, words: [...first, ...body, ...last], before: first.length, after: last.length }))
        return {
          length: first.length + body.length + last.length,
          part,
          partPairs: once(() => pairsOf(part().words, wordNumbers)),
        }
      }),
    )
  })
  return { variants, wordNumbers }
})

function splitWords(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(' ')
}

const PAIR_BASE = 1 << 20

/** The sorted numbers of all pairs of neighbouring words. A word that no template has is 0, so its pairs match none. */
function pairsOf(words: readonly string[], wordNumbers: ReadonlyMap<string, number>): Float64Array {
  const pairs = new Float64Array(Math.max(0, words.length - 1))
  for (let index = 0; index < pairs.length; index++) {
    const left = wordNumbers.get(words[index] ?? '') ?? 0
    pairs[index] = left * PAIR_BASE + (wordNumbers.get(words[index + 1] ?? '') ?? 0)
  }
  return pairs.sort()
}

function dice(left: Float64Array, right: Float64Array): number {
  let shared = 0
  let l = 0
  let r = 0
  while (l < left.length && r < right.length) {
    const difference = (left[l] ?? 0) - (right[r] ?? 0)
    if (difference === 0) shared++
    if (difference <= 0) l++
    if (difference >= 0) r++
  }
  return (2 * shared) / Math.max(1, left.length + right.length)
}

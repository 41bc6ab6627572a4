import { hash } from 'node:crypto'
import { cutAtBytes, utf8Length } from '#core/text.ts'
import { createSeparator } from './token-boundaries.ts'

/** Estimates the tokens of a text. Each model counts with an encoding of its own. */
export interface Tokenizer {
  count(text: string): number
}

/** The encoding of the estimates. */
export const TOKENIZER = 'o200k_base'

/** Counts the tokens of texts, each text once. */
export interface TokenCounter {
  count(text: string): Promise<number>
  /** The counts of all texts so far, by the key of their bytes. */
  readonly counts: ReadonlyMap<string, number>
}

/** @param known counts of an earlier snapshot, as in `counts` */
export function createTokenCounter(known: ReadonlyMap<string, number>): TokenCounter {
  const counts = new Map<string, number>()
  return {
    counts,
    async count(text) {
      const key = keyOf(text)
      const found = counts.get(key) ?? known.get(key) ?? (await loadTokenizer()).count(text)
      counts.set(key, found)
      return found
    },
  }
}

/** SHA-256 of the text, first 32 hex digits. */
function keyOf(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

let loading: Promise<Tokenizer> | null = null

/** Loads the vocabulary once in a process, which takes 0.2 s and 75 MB. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= load()
  return loading
}

async function load(): Promise<Tokenizer> {
  const [{ countTokens }, { default: vocabulary }] = await Promise.all([
    import('gpt-tokenizer/encoding/o200k_base'),
    import('gpt-tokenizer/bpeRanks/o200k_base'),
  ])
  const separate = createSeparator(vocabulary)
  // Names of control tokens count as plain text.
  const options = { disallowedSpecial: new Set<string>() }
  const countPart = (part: string) => {
    const { text, added } = separate(part)
    return countTokens(text, options) - added
  }
  const countExactly = (text: string) => cutLongRuns(text).reduce((sum, part) => sum + countPart(part), 0)
  return {
    count(text) {
      const beginning = cutAtBytes(text, EXACT_BYTES)
      const count = countExactly(beginning)
      return beginning.length === text.length ? count : Math.round((count * utf8Length(text)) / utf8Length(beginning))
    },
  }
}

/** Of a longer text the beginning is counted, and the rest is assumed to be like it: so the time for one text is bounded. */
const EXACT_BYTES = 128 * 1024

/** The tokenizer takes quadratic time for a run without spaces, so longer runs are cut; ordinary text has none. */
const RUN = /\S{512}|\s{512}/gu
const RUN_LENGTH = 512
const SPACE = /\s/

function cutLongRuns(text: string): string[] {
  if (!hasLongRun(text)) return [text]
  const parts: string[] = []
  let from = 0
  for (const { 0: run, index } of text.matchAll(RUN)) {
    parts.push(text.slice(from, index + run.length))
    from = index + run.length
  }
  parts.push(text.slice(from))
  return parts
}

/**
 * Whether as many code units as a run has characters are all spaces, or none is. It looks at the end of a possible run first and goes back; where
 * the text changes between space and no space, the next possible run begins. The expression looks at each character of a word as often as the word is
 * long, which takes a quarter of the time of counting.
 */
function hasLongRun(text: string): boolean {
  const isSpace = (at: number) => SPACE.test(text.charAt(at))
  for (let end = RUN_LENGTH - 1; end < text.length; ) {
    const first = end - RUN_LENGTH + 1
    let start = end
    while (start > first && isSpace(start - 1) === isSpace(end)) start--
    if (start === first) return true
    end = start + RUN_LENGTH - 1
  }
  return false
}

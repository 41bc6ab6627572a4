/**
 * Estimates how many tokens of `o200k_base` a text has, without the vocabulary of a tokenizer: runs of letters, digits, signs, white space and
 * letters of scripts without spaces cost what they cost on average.
 *
 * The constants were fitted to Markdown, data and code of this and 17 public repositories. Of 2,360 files, half are within 4 % of what gpt-tokenizer
 * 4.0.0 counts, nine of ten within 10 %, all together within 1 %. In the middle, Chinese is off by 3 %, Korean by 5 %, Japanese and German by 6 %,
 * code by 2 %. Short texts and those in other scripts may be off by a fourth.
 */
export function estimateTokens(text: string): number {
  return Math.round(measure(text, Number.POSITIVE_INFINITY).tokens)
}

/** The length of the longest beginning of a text that has at most `limit` estimated tokens, in UTF-16 units. */
export function lengthWithinTokens(text: string, limit: number): number {
  return measure(text, limit).length
}

function measure(text: string, limit: number): { tokens: number; length: number } {
  let tokens = 0
  let run = 0
  let kind = SPACE
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const next = code < 128 ? (KINDS[code] as number) : code < WIDE_FROM ? LETTER : WIDE
    if (next !== kind) {
      tokens += tokensOfRun(kind, run)
      kind = next
      run = 0
    }
    run += code < 128 ? 1 : weightOf(code)
    if (limit !== Number.POSITIVE_INFINITY && tokens + tokensOfRun(kind, run) > limit) return { tokens, length: at }
  }
  return { tokens: tokens + tokensOfRun(kind, run), length: text.length }
}

const [SPACE, LETTER, DIGIT, SIGN, WIDE] = [0, 1, 2, 3, 4]
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /\s/.test(character) ? SPACE : /[a-z]/i.test(character) ? LETTER : /\d/.test(character) ? DIGIT : SIGN
})
/** Chinese, Japanese and Korean begin here. */
const WIDE_FROM = 0x2e80

/** Tokens of characters of one kind. @param length the sum of their weights */
function tokensOfRun(kind: number, length: number): number {
  switch (kind) {
    case LETTER:
      return length <= 7 ? 1.03 : 1 + (length - 7) / 5.5
    case DIGIT:
      return Math.ceil(length / 3)
    case SIGN:
      return length <= 3 ? 0.85 : 1 + length / 12
    case WIDE:
      return length * 0.82
    default:
      return length <= 1 ? 0.06 : 0.9
  }
}

/** A letter beyond ASCII makes a word as long as so many letters of ASCII: most words with one have more tokens. */
function weightOf(code: number): number {
  if (code >= WIDE_FROM) return 1
  for (const [end, weight] of WEIGHTS) if (code < end) return weight
  return 2
}

/** By the first code of the next range. */
const WEIGHTS: readonly (readonly [end: number, weight: number])[] = [
  // Letters of western Europe, other Latin letters
  [0x100, 3],
  [0x250, 6],
  // Greek
  [0x400, 2],
  // Cyrillic
  [0x530, 1.4],
  // Armenian, Hebrew
  [0x600, 2.6],
  // Arabic, scripts of India, Thai
  [0xe80, 2],
  // Scripts that the vocabulary has few words of
  [0x2000, 10],
]

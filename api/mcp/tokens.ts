/*
 * Tokens, estimated: the vocabulary of a tokenizer takes 75 MB, which no answer is worth. The estimate is that of o200k_base on the high side,
 * so that a text within a bound of estimated tokens is within the bound for the models that people use.
 */

/** Tokens of a code point above ASCII, by the first code point of the next range. */
const WEIGHTS: readonly (readonly [end: number, tokens: number])[] = [
  // Other Latin letters, Greek, Cyrillic, Hebrew, Arabic.
  [0x800, 0.45],
  // Scripts of India, Thai.
  [0xe80, 0.5],
  [0x2000, 2.3],
  // Punctuation, arrows, symbols.
  [0x2e80, 1],
  // Chinese, Japanese, Korean.
  [0xa000, 0.95],
  [0xac00, 2.3],
  [0xd7b0, 0.7],
  [0xff00, 2.3],
  [0xfff0, 1],
]
const ASTRAL = 2
/** Capitals, digits and most marks are tokens of their own, or halves of one. */
const ASCII_OTHER = 0.5

/** Estimated tokens of a text in the encoding o200k_base. */
export function estimateTokens(text: string): number {
  let tokens = 0
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) as number
    tokens += tokensOf(code)
    index += unitsOf(code)
  }
  return Math.ceil(tokens)
}

/**
 * The text in one line, shortened to about `tokens` tokens: at a word where possible, and never inside of a character that a reader sees as one.
 * A text that was shortened ends with an ellipsis.
 */
export function inOneLine(text: string, tokens: number): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  const end = endWithin(flat, tokens)
  if (end === flat.length) return flat
  const cut = flat.slice(0, end)
  return `${(flat[end] === ' ' ? cut : cut.replace(/ \S{0,30}$/, '')).trimEnd()}…`
}

/** Where the text ends that leaves a token to the ellipsis; its whole length where it takes no more than `limit`. */
function endWithin(text: string, limit: number): number {
  let tokens = 0
  let end = 0
  let isJoined = false
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) as number
    const continues = isJoined || (code >= FIRST_MARK && CONTINUES.test(String.fromCodePoint(code)))
    if (!continues && tokens <= limit - 1) end = index
    tokens += tokensOf(code)
    if (tokens > limit) return end
    isJoined = code === JOINER || (isRegional(code) && !isJoined)
    index += unitsOf(code)
  }
  return text.length
}

const JOINER = 0x200d
const FIRST_MARK = 0x300
/** What belongs to the character before it: accents, vowel signs, skin tones, joiners. */
const CONTINUES = /^[\p{M}\p{Emoji_Modifier}\u200c\u200d]$/u

function tokensOf(code: number): number {
  if (code < 0x80) return isSmallLetterOrSpace(code) ? 0.25 : ASCII_OTHER
  for (const [end, tokens] of WEIGHTS) if (code < end) return tokens
  return ASTRAL
}

function isSmallLetterOrSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x61 && code <= 0x7a)
}

/** Two of them are a flag. */
function isRegional(code: number): boolean {
  return code >= 0x1f1e6 && code <= 0x1f1ff
}

function unitsOf(code: number): number {
  return code > 0xffff ? 2 : 1
}

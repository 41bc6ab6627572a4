/** Tokens of a byte pair encoding: as text, or as bytes where these are no whole characters. May have holes. */
export type Vocabulary = readonly (string | readonly number[] | undefined)[]

/** A text with added line breaks. It has exactly `added` tokens more than the text without them. */
export interface SeparatedText {
  text: string
  added: number
}

/**
 * Returns a function that puts a line break between each two letters that no token of the vocabulary contains side by side.
 *
 * Chinese and Japanese have no spaces, so the tokenizer takes a sentence for one word, and its time is quadratic in the length of a word. The line
 * breaks leave short words. Each adds one token and changes no other: the tokenizer only ever joins bytes into tokens of its vocabulary, and its
 * expression for words never matches a letter and a line break together.
 */
export function createSeparator(vocabulary: Vocabulary): (text: string) => SeparatedText {
  const isJoined = joinedLetters(vocabulary)
  return text => {
    let separated = ''
    let from = 0
    let added = 0
    let previous = 0
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (!isUnspacedLetter(unit)) previous = 0
      else {
        if (previous !== 0 && !isJoined(previous, unit)) {
          separated += `${text.slice(from, index)}\n`
          from = index
          added++
        }
        previous = unit
      }
    }
    return { text: added === 0 ? text : separated + text.slice(from), added }
  }
}

/** Returns whether a token may contain the end of the left letter and the beginning of the right one. Errs towards `true`. */
function joinedLetters(vocabulary: Vocabulary): (left: number, right: number) => boolean {
  const letters = new Set<number>()
  const bytes = new Set<number>()
  for (const token of vocabulary) {
    if (token === undefined) continue
    for (let index = 1; index < token.length; index++) {
      if (typeof token === 'string') {
        const unit = token.charCodeAt(index)
        if (isUnspacedLetter(unit)) letters.add(pairOf(token.charCodeAt(index - 1), unit))
      } else bytes.add(pairOf(token[index - 1] as number, token[index] as number))
    }
  }
  return (left, right) => letters.has(pairOf(left, right)) || bytes.has(pairOf(lastByteOf(left), firstByteOf(right)))
}

function pairOf(left: number, right: number): number {
  return left * 0x10000 + right
}

/** Hiragana, katakana, Han and Hangul: of the category `Lo`, with three bytes in UTF-8. */
function isUnspacedLetter(unit: number): boolean {
  if (unit < 0x3041) return false
  if (unit >= 0x4e00) return unit <= 0x9fff || (unit >= 0xac00 && unit <= 0xd7a3)
  return unit <= 0x3096 || (unit >= 0x30a1 && unit <= 0x30fa) || (unit >= 0x3400 && unit <= 0x4dbf)
}

function firstByteOf(unit: number): number {
  return 0xe0 | (unit >> 12)
}

function lastByteOf(unit: number): number {
  return 0x80 | (unit & 0x3f)
}

import { lengthWithinTokens } from '#core/estimate-tokens.ts'

/**
 * The text in one line, shortened to about `tokens` tokens: at a word where possible, and never inside of a character that a reader sees as one.
 * A text that was shortened ends with an ellipsis.
 */
export function inOneLine(text: string, tokens: number): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  if (lengthWithinTokens(flat, tokens) === flat.length) return flat
  // One token is left to the ellipsis.
  const end = CHARACTERS.segment(flat).containing(lengthWithinTokens(flat, tokens - 1))?.index ?? 0
  const cut = flat.slice(0, end)
  return `${(flat[end] === ' ' ? cut : cut.replace(/ \S{0,30}$/, '')).trimEnd()}…`
}

/** As a reader sees them: with their accents, skin tones and joiners. */
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })

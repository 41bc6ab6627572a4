export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
/** Returns the text in a style, or unchanged where the output has no styles. */
export type Paint = (style: Style, text: string) => string

/** A piece of a line. Pieces are separated by a space. */
export interface Span {
  text: string
  style?: Style
}

export interface FoldOptions {
  /** Columns of a line. */
  width: number
  /** Spaces before every line. */
  indent: number
  paint: Paint
}

/** Breaks text into lines of at most `width` columns: between words, and inside a word that is longer than a line. */
export function fold(spans: readonly Span[], { width, indent, paint }: FoldOptions): string[] {
  const room = Math.max(1, width - indent)
  const lines: Span[][] = [[]]
  let used = 0
  for (const word of wordsOf(spans, room)) {
    const needed = widthOf(word.text)
    if (used > 0 && used + 1 + needed > room) {
      lines.push([])
      used = 0
    }
    used += needed + (used > 0 ? 1 : 0)
    lines.at(-1)?.push(word)
  }
  return lines.map(words => ' '.repeat(indent) + joinWords(words, paint))
}

function wordsOf(spans: readonly Span[], room: number): Span[] {
  return spans.flatMap(({ text, style }) => {
    const words = text.split(' ').filter(word => word !== '')
    return words.flatMap(word => cut(word, room)).map(word => ({ text: word, ...(style === undefined ? {} : { style }) }))
  })
}

/** Cuts a word into parts of at most `room` columns. */
function cut(word: string, room: number): string[] {
  if (widthOf(word) <= room) return [word]
  const parts: string[] = []
  let part = ''
  for (const character of word) {
    if (part !== '' && widthOf(part + character) > room) {
      parts.push(part)
      part = ''
    }
    part += character
  }
  return [...parts, part]
}

/** Neighbours of one style are painted together. */
function joinWords(words: readonly Span[], paint: Paint): string {
  const runs: Span[] = []
  for (const word of words) {
    const last = runs.at(-1)
    if (last && last.style === word.style) last.text += ` ${word.text}`
    else runs.push({ ...word })
  }
  return runs.map(({ text, style }) => (style === undefined ? text : paint(style, text))).join(' ')
}

/** Maximum width of a column; longer cells overflow. */
const MAX_COLUMN_WIDTH = 60

export function columnWidth(cells: readonly string[]): number {
  return Math.min(MAX_COLUMN_WIDTH, Math.max(0, ...cells.map(widthOf)))
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function leftPadded(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

/** The width in terminal columns: wide scripts and emoji take two, marks none. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u

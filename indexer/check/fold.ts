export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
/** Returns the text in a style, or unchanged where the output has no styles. */
export type Paint = (style: Style, text: string) => string

/** A piece of a line. Pieces are separated by a space. */
export interface Span {
  text: string
  style?: Style
  /** Never broken: a path, a URL or a command to type. */
  whole?: boolean
  /** The URL that it opens (OSC 8), percent-encoded. Only for a terminal that has links. */
  link?: string
}

export interface FoldOptions {
  /** Columns of a line. */
  width: number
  /** Spaces before every line. */
  indent: number
  paint: Paint
}

/**
 * Breaks text between words into lines of at most `width` columns. A word that is longer stands whole, so that it can be copied, and the terminal
 * wraps it; only text in scripts without spaces is broken between its letters.
 */
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
  return spans.flatMap(span => {
    if (span.whole) return [span]
    const words = span.text.split(' ').filter(word => word !== '')
    return words.flatMap(word => cut(word, room)).map(text => ({ ...span, text }))
  })
}

/** Cuts a word between wide letters into parts of at most `room` columns. What has a slash is a path or a URL, and stands whole. */
function cut(word: string, room: number): string[] {
  if (word.includes('/') || widthOf(word) <= room) return [word]
  const parts: string[] = []
  let part = ''
  for (const [letters] of word.matchAll(UNBREAKABLE)) {
    if (part !== '' && widthOf(part + letters) > room) {
      parts.push(part)
      part = ''
    }
    part += letters
  }
  return [...parts, part]
}

/** Neighbours of one style and link are painted together. */
function joinWords(words: readonly Span[], paint: Paint): string {
  const runs: Span[] = []
  for (const word of words) {
    const last = runs.at(-1)
    if (last && last.style === word.style && last.link === word.link) last.text += ` ${word.text}`
    else runs.push({ ...word })
  }
  return runs.map(run => painted(run, paint)).join(' ')
}

/** The text in its style, as a link if it is one. Takes as many columns as the text alone. */
export function painted({ text, style, link }: Span, paint: Paint): string {
  const styled = style === undefined ? text : paint(style, text)
  return link === undefined ? styled : `${OSC_8}${link}${END}${styled}${OSC_8}${END}`
}

const OSC_8 = '\u001B]8;;'
const END = '\u001B\\'

/** An entry of a list. */
export interface Entry {
  sign: Span
  /** What it is about: a path, `path:line` or a count. Stands whole. */
  place: Span
  /** What is told of it. */
  said: readonly Span[]
  /** What stands on lines of its own below. */
  below?: readonly Span[]
}

/** Where entries are printed. Default indent: 2. */
type ListPlace = Pick<FoldOptions, 'paint' | 'width'> & Partial<Pick<FoldOptions, 'indent'>>

/** Entries of a list: what fits on one line stands in columns; else the place has a line of its own, and what is told of it stands below. */
export function entryLines(entries: readonly Entry[], { paint, width, indent = 2 }: ListPlace): string[] {
  const isOneLine = ({ place, said }: Entry, column: number) =>
    indent + 2 + Math.max(column, widthOf(place.text)) + 2 + widthOf(textOf(said)) <= width
  const column = columnWidth(entries.filter(entry => isOneLine(entry, 0)).map(({ place }) => place.text))
  return entries.flatMap(entry => {
    const { sign, place, said } = entry
    const first = `${' '.repeat(indent)}${painted(sign, paint)} ${painted(place, paint)}`
    const below = entry.below === undefined ? [] : fold(entry.below, { paint, width, indent: indent + 4 })
    if (said.length === 0) return [first, ...below]
    if (!isOneLine(entry, column)) return [first, ...fold(said, { paint, width, indent: indent + 2 }), ...below]
    const [line] = fold(said, { paint, width: Number.POSITIVE_INFINITY, indent: 0 })
    return [`${first}${padded('', column - widthOf(place.text))}  ${line}`, ...below]
  })
}

export function textOf(spans: readonly Span[]): string {
  return spans.map(span => span.text).join(' ')
}

/** A sentence behind a sign. */
export function signedLines(sign: Span, said: readonly Span[], { paint, width, indent = 2 }: ListPlace): string[] {
  const [first = '', ...rest] = fold(said, { paint, width, indent: indent + 2 })
  return [`${' '.repeat(indent)}${painted(sign, paint)} ${first.slice(indent + 2)}`, ...rest]
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

const WIDE_LETTERS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Yi}\\p{Emoji_Presentation}\\u3000-\\u303f\\uff01-\\uff60\\uffe0-\\uffe6'
const WIDE = new RegExp(`[${WIDE_LETTERS}]`, 'u')
/** A wide letter with its marks, or the text between two of them. */
const UNBREAKABLE = new RegExp(`[${WIDE_LETTERS}]\\p{M}*|[^${WIDE_LETTERS}]+`, 'gu')

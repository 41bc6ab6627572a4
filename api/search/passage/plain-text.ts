import { visibleLine } from '#core/hidden-text.ts'

/**
 * The text of a Markdown block on one line, as a reader sees it: without marks, tags, images and link targets.
 *
 * Time is linear in the text. Marks that are never closed are text.
 *
 * @param markdown without the marks that begin the block, and without comments
 */
export function plainText(markdown: string): string {
  return visibleLine(HAS_MARKS.test(markdown) ? new InlineReader(markdown).read() : markdown)
}

const HAS_MARKS = /[`*_~[<\\{&]/
const NEXT_MARK = /[`*_~[\]<\\{!&]/g
const PUNCTUATION = /[!-/:-@[-`{-~]/
const WORD = /[\p{L}\p{N}]/u
/** Tags, directives and link targets are at most this long. UTF-16 units. */
const CONSTRUCT_UNITS = 600
/** Labels of footnotes are shorter. UTF-16 units. */
const FOOTNOTE_UNITS = 40
/** How many opening marks wait for their closing mark at once; the oldest becomes text. */
const OPEN_MARKS = 16

/** An opening mark. Its closing mark empties the piece, or replaces it and what follows. */
interface OpenMark {
  mark: string
  /** Index of the piece that holds the mark. */
  piece: number
}

/** Reads inline marks from left to right into pieces of plain text. Every `read…` gets the start of a mark and returns where to go on. */
class InlineReader {
  readonly #text: string
  readonly #pieces: string[] = []
  readonly #emphasis: OpenMark[] = []
  readonly #brackets: OpenMark[] = []
  readonly #lastTagEnd: number
  /** Lengths of backtick runs that no later run closes. */
  readonly #unclosedTicks = new Set<number>()

  constructor(text: string) {
    this.#text = text
    this.#lastTagEnd = text.lastIndexOf('>')
  }

  read(): string {
    for (let index = 0; ; ) {
      NEXT_MARK.lastIndex = index
      const at = NEXT_MARK.test(this.#text) ? NEXT_MARK.lastIndex - 1 : this.#text.length
      if (at > index) this.#pieces.push(this.#text.slice(index, at))
      if (at >= this.#text.length) return this.#pieces.join('')
      index = this.#readMark(at)
    }
  }

  #readMark(at: number): number {
    const mark = this.#text[at] as string
    switch (mark) {
      case '\\':
        return this.#readEscape(at)
      case '`':
        return this.#readCode(at)
      case '<':
        return this.#readTag(at)
      case '{':
        return this.#readBraces(at)
      case '&':
        return this.#readEntity(at)
      case '[':
        return this.#openBracket(at, '[')
      case ']':
        return this.#readLinkEnd(at)
      case '!':
        return this.#text[at + 1] === '[' ? this.#openBracket(at, '![') : this.#push('!', at + 1)
      case '~':
        return this.#readStrikethrough(at)
      default:
        return this.#readEmphasis(at, mark)
    }
  }

  #readEscape(at: number): number {
    const next = this.#text[at + 1] ?? ''
    return PUNCTUATION.test(next) ? this.#push(next, at + 2) : this.#push('\\', at + 1)
  }

  #readCode(at: number): number {
    const text = this.#text
    const end = endOfRun(text, at, '`')
    const ticks = text.slice(at, end)
    if (this.#unclosedTicks.has(ticks.length)) return end
    for (let close = text.indexOf(ticks, end); close >= 0; ) {
      const closeEnd = endOfRun(text, close, '`')
      if (closeEnd - close === ticks.length) return this.#push(text.slice(end, close), closeEnd)
      close = text.indexOf(ticks, closeEnd)
    }
    this.#unclosedTicks.add(ticks.length)
    return end
  }

  /** An autolink leaves its address, an inline tag nothing, any other tag a space. */
  #readTag(at: number): number {
    const isTag = at < this.#lastTagEnd && TAG_START.test(this.#text[at + 1] ?? '')
    const end = isTag ? endOfTag(this.#text, at) : at
    if (end === at) return this.#push('<', at + 1)
    const content = this.#text.slice(at + 1, end - 1)
    return this.#push(AUTOLINK.test(content) ? content : INLINE_TAG.test(content) ? '' : ' ', end)
  }

  /** Directives: `{#anchor}`, `{.class}`, `{{#include …}}`, `{% raw %}`. */
  #readBraces(at: number): number {
    const isDirective = /^\{(?:[#.]|\{#|%|: )/.test(this.#text.slice(at, at + 3))
    const end = isDirective ? this.#text.indexOf('}', at) : -1
    if (end < 0 || end - at > CONSTRUCT_UNITS) return this.#push('{', at + 1)
    return this.#text[end + 1] === '}' ? end + 2 : end + 1
  }

  #readEntity(at: number): number {
    const [written = '&', name = '', decimal, hexadecimal] = ENTITY.exec(this.#text.slice(at, at + ENTITY_UNITS)) ?? []
    const number = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16)
    const character = number > 0 && number <= 0x10ffff ? String.fromCodePoint(number) : ENTITIES.get(name)
    return character === undefined ? this.#push('&', at + 1) : this.#push(character, at + written.length)
  }

  #openBracket(at: number, mark: string): number {
    if (this.#text[at + 1] === '^') {
      const end = this.#text.indexOf(']', at)
      if (end > 0 && end - at < FOOTNOTE_UNITS) return end + 1
    }
    this.#addOpen(this.#brackets, mark)
    return this.#push(mark, at + mark.length)
  }

  #readLinkEnd(at: number): number {
    const opened = this.#brackets.pop()
    if (opened === undefined) return this.#push(']', at + 1)
    const end = endOfTarget(this.#text, at + 1)
    const isWiki = this.#text[at + 1] === ']' && this.#brackets.at(-1)?.piece === opened.piece - 1
    if (end === at + 1 && !isWiki) return this.#push(']', at + 1)
    if (opened.mark === '![') this.#pieces.length = opened.piece
    else this.#pieces[opened.piece] = ''
    return isWiki ? this.#endWikiLink(at) : end
  }

  /** `[[page]]` has two brackets on each side. */
  #endWikiLink(at: number): number {
    const outer = this.#brackets.pop()
    if (outer) this.#pieces[outer.piece] = ''
    return at + 2
  }

  #readStrikethrough(at: number): number {
    const end = endOfRun(this.#text, at, '~')
    return end - at === 2 ? end : this.#push(this.#text.slice(at, end), end)
  }

  #readEmphasis(at: number, mark: string): number {
    const end = endOfRun(this.#text, at, mark)
    const run = this.#text.slice(at, end)
    const { canOpen, canClose } = sidesOfRun(this.#text, at, end)
    if (canClose && this.#closeEmphasis(run)) return end
    if (canOpen) this.#addOpen(this.#emphasis, run)
    // The other end of strong emphasis may lie outside of the text. `**/` is part of a glob.
    const isStrong = run === '**' && this.#text[end] !== '/' && (canOpen || canClose)
    if (!isStrong) return this.#push(run, end)
    return canOpen ? this.#push('', end) : end
  }

  /** Whether the run closes emphasis. Emphasis that was opened inside and is still open stays text. */
  #closeEmphasis(run: string): boolean {
    const index = this.#emphasis.findLastIndex(({ mark }) => mark === run)
    const opened = this.#emphasis[index]
    if (opened === undefined) return false
    this.#emphasis.length = index
    this.#pieces[opened.piece] = ''
    return true
  }

  /** Adds an opening mark; the caller pushes its piece next. */
  #addOpen(marks: OpenMark[], mark: string): void {
    if (marks.length >= OPEN_MARKS) marks.shift()
    marks.push({ mark, piece: this.#pieces.length })
  }

  #push(piece: string, end: number): number {
    this.#pieces.push(piece)
    return end
  }
}

const ENTITY = /^&(?:([a-z]{1,8})|#(\d{1,7})|#x([\da-f]{1,6}));/i
const ENTITY_UNITS = 12
/** The entities that authors write. Others stay as they are. */
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['copy', '©'],
  ['hellip', '…'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['rarr', '→'],
  ['larr', '←'],
  ['times', '×'],
])

const TAG_START = /[a-z/!?]/i
const AUTOLINK = /^(?:[a-z][a-z\d+.-]+:[^\s]*|[^\s@]+@[^\s@]+)$/i
const INLINE_TAG = /^\/?(?:a|abbr|b|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|u|var|wbr)(?:[\s/]|$)/i

/** Whether a run of emphasis marks can open and close emphasis, from the characters at its sides. An underscore inside a word does neither. */
function sidesOfRun(text: string, start: number, end: number): { canOpen: boolean; canClose: boolean } {
  const before = text[start - 1] ?? ' '
  const after = text[end] ?? ' '
  if (text[start] === '_' && WORD.test(before) && WORD.test(after)) return { canOpen: false, canClose: false }
  return { canOpen: !/\s/.test(after) && (!PUNCTUATION.test(after) || !WORD.test(before)), canClose: !/\s/.test(before) }
}

/**
 * The index after the tag that begins at `start`; `start` when it has no end within `CONSTRUCT_UNITS`. An attribute value in quotes may hold any
 * character.
 */
function endOfTag(text: string, start: number): number {
  const limit = Math.min(text.length, start + CONSTRUCT_UNITS)
  let quote = ''
  for (let index = start + 1; index < limit; index++) {
    const character = text[index] as string
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = text[index - 1] === '=' ? character : ''
    else if (character === '<') return start
    else if (character === '>') return index + 1
  }
  return start
}

/** The index after the link target, `(…)` or `[…]`, that begins at `start`; `start` when none does, or it exceeds `CONSTRUCT_UNITS`. */
function endOfTarget(text: string, start: number): number {
  if (text[start] === '[') {
    const end = text.indexOf(']', start)
    return end < 0 || end - start > CONSTRUCT_UNITS ? start : end + 1
  }
  return text[start] === '(' ? endOfParentheses(text, start) : start
}

function endOfParentheses(text: string, start: number): number {
  const limit = Math.min(text.length, start + CONSTRUCT_UNITS)
  let depth = 0
  for (let index = start; index < limit; index++) {
    const character = text[index]
    if (character === '\\') index++
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return index + 1
  }
  return start
}

function endOfRun(text: string, start: number, character: string): number {
  let end = start
  while (text[end] === character) end++
  return end
}

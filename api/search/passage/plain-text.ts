import { visibleLine } from '#core/hidden-text.ts'

/**
 * The text of a Markdown block on one line, as a reader sees it: without marks, tags, images and the targets of links.
 *
 * Linear in time; what is never closed is text.
 *
 * @param markdown without marks of blocks and without comments
 */
export function plainText(markdown: string): string {
  return visibleLine(HAS_MARKS.test(markdown) ? withoutMarks(markdown) : markdown)
}

const HAS_MARKS = /[`*_~[<\\{&]/
const NEXT_MARK = /[`*_~[\]<\\{!&]/g
const PUNCTUATION = /[!-/:-@[-`{-~]/
const WORD = /[\p{L}\p{N}]/u
/** A tag is not longer. */
const TAG_UNITS = 600
/** Marks that wait for their closing mark. */
const OPEN_MARKS = 16

interface OpenMark {
  mark: string
  piece: number
}

function withoutMarks(text: string): string {
  const pieces: string[] = []
  const open: OpenMark[] = []
  const brackets: OpenMark[] = []
  const lastTagEnd = text.lastIndexOf('>')
  const unclosedTicks = new Set<number>()
  let index = 0
  NEXT_MARK.lastIndex = 0
  for (;;) {
    NEXT_MARK.lastIndex = index
    const at = NEXT_MARK.test(text) ? NEXT_MARK.lastIndex - 1 : text.length
    if (at > index) pieces.push(text.slice(index, at))
    if (at >= text.length) return pieces.join('')
    index = readMark(at)
  }

  /** Reads the mark at the index, and returns where it ends. */
  function readMark(at: number): number {
    const mark = text[at] as string
    const next = text[at + 1] ?? ''
    if (mark === '\\') return PUNCTUATION.test(next) ? push(next, at + 2) : push(mark, at + 1)
    if (mark === '`') return readCode(at)
    if (mark === '<') return readTag(at)
    if (mark === '{') return readBraces(at)
    if (mark === '&') return readEntity(at)
    if (mark === ']') return readLinkEnd(at)
    if (mark === '[' || (mark === '!' && next === '[')) return openBracket(at, mark === '!' ? '![' : '[')
    if (mark === '!') return push(mark, at + 1)
    return readEmphasis(at, mark)
  }

  function push(piece: string, end: number): number {
    pieces.push(piece)
    return end
  }

  function readCode(at: number): number {
    const end = endOfRun(text, at, '`')
    const ticks = text.slice(at, end)
    if (unclosedTicks.has(ticks.length)) return end
    for (let close = text.indexOf(ticks, end); close >= 0; ) {
      const closeEnd = endOfRun(text, close, '`')
      if (closeEnd - close === ticks.length) return push(text.slice(end, close), closeEnd)
      close = text.indexOf(ticks, closeEnd)
    }
    unclosedTicks.add(ticks.length)
    return end
  }

  function readTag(at: number): number {
    if (at > lastTagEnd || !/[a-z/!?]/i.test(text[at + 1] ?? '')) return push('<', at + 1)
    const limit = Math.min(text.length, at + TAG_UNITS)
    let quote = ''
    for (let end = at + 1; end < limit; end++) {
      const character = text[end] as string
      if (quote !== '') quote = character === quote ? '' : quote
      else if (character === '"' || character === "'") quote = text[end - 1] === '=' ? character : ''
      else if (character === '<') break
      else if (character === '>') {
        const content = text.slice(at + 1, end)
        return push(AUTOLINK.test(content) ? content : INLINE_TAG.test(content) ? '' : ' ', end + 1)
      }
    }
    return push('<', at + 1)
  }

  function readEntity(at: number): number {
    const [written = '&', name = '', decimal, hexadecimal] = ENTITY.exec(text.slice(at, at + ENTITY_UNITS)) ?? []
    const number = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16)
    const character = number > 0 && number <= 0x10ffff ? String.fromCodePoint(number) : ENTITIES.get(name)
    return character === undefined ? push('&', at + 1) : push(character, at + written.length)
  }

  /** `{#anchor}`, `{.class}`, `{{#include …}}`, `{% raw %}`. */
  function readBraces(at: number): number {
    const isDirective = /^\{(?:[#.]|\{#|%|: )/.test(text.slice(at, at + 3))
    const end = isDirective ? text.indexOf('}', at) : -1
    if (end < 0 || end - at > TAG_UNITS) return push('{', at + 1)
    return text[end + 1] === '}' ? end + 2 : end + 1
  }

  function openBracket(at: number, mark: string): number {
    if (text[at + 1] === '^') {
      const end = text.indexOf(']', at)
      if (end > 0 && end - at < 40) return end + 1
    }
    if (brackets.length >= OPEN_MARKS) brackets.shift()
    brackets.push({ mark, piece: pieces.length })
    return push(mark, at + mark.length)
  }

  function readLinkEnd(at: number): number {
    const opened = brackets.pop()
    if (opened === undefined) return push(']', at + 1)
    const end = endOfTarget(text, at + 1)
    const isWiki = text[at + 1] === ']' && brackets.at(-1)?.piece === opened.piece - 1
    if (end === at + 1 && !isWiki) return push(']', at + 1)
    if (opened.mark === '![') pieces.length = opened.piece
    else pieces[opened.piece] = ''
    if (!isWiki) return end
    const outer = brackets.pop()
    if (outer) pieces[outer.piece] = ''
    return at + 2
  }

  function readEmphasis(at: number, mark: string): number {
    const end = endOfRun(text, at, mark)
    const run = text.slice(at, end)
    if (mark === '~') return run.length === 2 ? end : push(run, end)
    const before = text[at - 1] ?? ' '
    const after = text[end] ?? ' '
    const isInside = mark === '_' && WORD.test(before) && WORD.test(after)
    const canOpen = !/\s/.test(after) && (!PUNCTUATION.test(after) || !WORD.test(before)) && !isInside
    const canClose = !/\s/.test(before) && !isInside
    if (canClose) {
      const opener = open.findLastIndex(({ mark: opening }) => opening === run)
      const opened = open[opener]
      if (opened) {
        open.length = opener
        pieces[opened.piece] = ''
        return end
      }
    }
    if (canOpen) {
      if (open.length >= OPEN_MARKS) open.shift()
      open.push({ mark: run, piece: pieces.length })
    }
    // Strong emphasis that began or ends elsewhere.
    if (run === '**' && after !== '/' && (canOpen || canClose)) {
      if (canOpen) pieces.push('')
      return end
    }
    return push(run, end)
  }
}

const ENTITY = /^&(?:([a-z]{1,8})|#(\d{1,7})|#x([\da-f]{1,6}));/i
const ENTITY_UNITS = 12
/** Those that authors write; others stay as they are. */
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

const AUTOLINK = /^(?:[a-z][a-z\d+.-]+:[^\s]*|[^\s@]+@[^\s@]+)$/i
const INLINE_TAG = /^\/?(?:a|abbr|b|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|u|var|wbr)(?:[\s/]|$)/i

/** Where the target of a link ends that begins here: `(…)` or `[…]`; the start when none does. */
function endOfTarget(text: string, start: number): number {
  if (text[start] === '[') {
    const end = text.indexOf(']', start)
    return end < 0 || end - start > TAG_UNITS ? start : end + 1
  }
  if (text[start] !== '(') return start
  let depth = 0
  const limit = Math.min(text.length, start + TAG_UNITS)
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

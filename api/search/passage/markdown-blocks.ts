/**
 * - `prose`: a paragraph.
 * - `item`: of a list.
 * - `heading`: not the title.
 * - `row`: of a table.
 * - `code`: a line of it.
 * - `plain`: a paragraph of a text that has no marks.
 */
export type BlockKind = 'prose' | 'item' | 'heading' | 'row' | 'code' | 'plain'

/** A part of a text that a passage can begin with. UTF-16 units, `end` exclusive, marks of the block left out. */
export interface Block {
  kind: BlockKind
  start: number
  end: number
  /** The same for neighbours that can be read in one go. */
  run: number
  /** It goes on inside what the block before began. */
  continues: boolean
}

/** Longer blocks are parted, best behind a sentence. UTF-16 units. */
const BLOCK_UNITS = 1_000

/**
 * The visible text of a Markdown file: without front matter and comments.
 * Comments are left out wherever they stand; one that is never closed hides the rest.
 */
export function withoutHiddenParts(text: string, { isMdx = false } = {}): string {
  const body = withoutSpans(text.slice(frontMatterEnd(text)), '<!--', '-->')
  return isMdx ? withoutSpans(body, '{/*', '*/}') : body
}

/**
 * The blocks of a text, in order. Left out: the title (its first heading), marks, link definitions, directives, scripts and styles.
 *
 * @param text without hidden parts
 */
export function markdownBlocks(text: string, { isRst = false } = {}): Block[] {
  const blocks: Block[] = []
  let run = 0
  let fence = ''
  let isFenceQuoted = false
  let skipUntil: RegExp | null = null
  let skipIndented = false
  let isOpen = false
  let inList = false
  let hasTitle = false

  for (let lineStart = 0; lineStart < text.length; ) {
    const feed = text.indexOf('\n', lineStart)
    const lineEnd = feed < 0 ? text.length : feed
    readLine(lineStart, lineEnd)
    lineStart = lineEnd + 1
  }
  return bounded(text, blocks)

  function readLine(lineStart: number, lineEnd: number): void {
    let start = skipSpaces(text, lineStart, lineEnd)
    if (skipUntil !== null) {
      if (skipUntil.test(text.slice(start, lineEnd))) skipUntil = null
      return
    }
    if (start >= lineEnd) {
      isOpen = false
      return
    }
    const indent = start - lineStart
    if (skipIndented && indent > 0) return
    skipIndented = false

    const isQuoted = text[start] === '>'
    if (fence !== '' && isFenceQuoted && !isQuoted) endFence()
    if (fence === '' || isFenceQuoted) {
      while (text[start] === '>') start = skipSpaces(text, start + 1, lineEnd)
      if (start >= lineEnd) {
        isOpen = false
        return
      }
    }
    if (fence !== '') {
      readCodeLine(start, lineEnd)
      return
    }
    isFenceQuoted = isQuoted
    const first = text.charCodeAt(start)
    const isMark = first < 0x80 && (first < 0x41 || first > 0x5a) && (first < 0x61 || first > 0x7a)
    const isMarked = (isMark || isRst) && readMarkedLine(start, lineEnd)
    if (isMarked) return
    if (first === IMPORT_I || first === EXPORT_E) {
      if (!isOpen && MODULE_LINE.test(text.slice(start, lineEnd))) return
    }
    readTextLine(start, lineEnd, indent)
  }

  function readCodeLine(start: number, lineEnd: number): void {
    if (text.startsWith(fence, start) && FENCE_END.test(text.slice(start, lineEnd))) endFence()
    else add('code', start, lineEnd)
  }

  function endFence(): void {
    fence = ''
    run++
    isOpen = false
  }

  /** Whether the line was more than text. */
  function readMarkedLine(start: number, lineEnd: number): boolean {
    const line = text.slice(start, Math.min(lineEnd, start + LINE_UNITS))
    const mark = line[0] as string
    const opened = (mark === '`' || mark === '~') && !isRst ? FENCE.exec(line) : null
    if (opened) {
      fence = opened[1] as string
      run++
      return true
    }
    const last = blocks.at(-1)
    const isUnderline = isOpen && last?.kind === 'prose' && (isRst ? RST_RULE : SETEXT_RULE).test(line)
    if (isUnderline) {
      blocks.pop()
      addHeading(last.start, last.end)
      return true
    }
    if (isRst) return readRstLine(line)
    const heading = mark === '#' ? HEADING.exec(line) : null
    if (heading) {
      addHeading(start + heading[0].length, lineEnd)
      return true
    }
    if (RULE_MARKS.includes(mark) && RULE.test(line)) {
      if (isOpen && last?.kind === 'prose' && line.includes('|')) last.kind = 'row'
      return true
    }
    if (SKIPPED.test(line) || (mark === '[' && !isOpen && DEFINITION.test(line))) {
      isOpen = false
      return true
    }
    const raw = mark === '<' && !isOpen ? RAW_TAG.exec(line) : null
    if (raw) {
      const close = new RegExp(`</${raw[1]}>`, 'i')
      if (!close.test(line)) skipUntil = close
      return true
    }
    const item = ITEM.exec(line)
    if (item) {
      add('item', start + item[0].length, lineEnd)
      isOpen = true
      inList = true
      return true
    }
    if (text[start] === '|') {
      if (last?.kind !== 'row') run++
      add('row', start, lineEnd)
      isOpen = false
      return true
    }
    return false
  }

  function readRstLine(line: string): boolean {
    if (RST_RULE.test(line)) return true
    if (RST_OPTION.test(line)) return true
    if (!line.startsWith('.. ')) return false
    skipIndented = !RST_DIRECTIVE.test(line)
    isOpen = false
    return true
  }

  function readTextLine(start: number, lineEnd: number, indent: number): void {
    const last = blocks.at(-1)
    if (isOpen && last && !last.continues) {
      if (last.kind === 'row' && text.slice(start, lineEnd).includes('|')) add('row', start, lineEnd)
      else last.end = lineEnd
      return
    }
    const isIndentedCode = !inList && indent >= 4 && !isRst
    if (isIndentedCode) {
      if (last?.kind !== 'code') run++
      add('code', start, lineEnd)
      return
    }
    if (indent === 0) inList = false
    add('prose', start, lineEnd)
    isOpen = true
  }

  function addHeading(start: number, lineEnd: number): void {
    run++
    isOpen = false
    inList = false
    if (hasTitle) add('heading', start, lineEnd)
    hasTitle = true
  }

  function add(kind: BlockKind, start: number, end: number): void {
    const last = blocks.at(-1)
    if (last && last.run === run && isApart(last.kind) !== isApart(kind)) run++
    blocks.push({ kind, start, end, run, continues: false })
  }
}

const IMPORT_I = 0x69
const EXPORT_E = 0x65
/** What of a line is looked at to know what it is. */
const LINE_UNITS = 400
const MODULE_LINE = /^(?:import\s.+from\s|import\s+['"]|export\s+(?:const|default|function|\{))/
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/
const FENCE_END = /^(?:`+|~+)\s*$/
const HEADING = /^#{1,6}(?:[ \t]+|$)/
const SETEXT_RULE = /^(?:=+|-+)\s*$/
/** Below the head of a table, and between parts of a text. */
const RULE = /^(?:[|:\- \t]{3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\r?$/
const RULE_MARKS = '|:-*_'
const SKIPPED = /^(?::::|!!!\s|\?\?\?|\[![A-Z]+\]|\+\+\+|\{%|\{\{[#<])/
const DEFINITION = /^\[[^^\]][^\]]*\]:\s/
const RAW_TAG = /^<(script|style|template|svg)\b/i
const ITEM = /^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/
const RST_RULE = /^([=\-~^"'`#*+.:_])\1{2,}\s*$/
const RST_OPTION = /^:[\w-]+:(?:\s|$)(?!`)/
const RST_DIRECTIVE = /^\.\. [\w:-]+::/

function isApart(kind: BlockKind): number {
  return kind === 'code' ? 1 : kind === 'row' ? 2 : 0
}

/** The blocks of a text that is no Markdown: its paragraphs, of which every sign is text. */
export function plainBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let start = 0
  let isOpen = false
  for (const line of text.split('\n')) {
    const end = start + line.length
    const last = blocks.at(-1)
    const isBlank = line.trim() === ''
    if (!isBlank && isOpen && last) last.end = end
    else if (!isBlank) blocks.push({ kind: 'plain', start, end, run: 0, continues: false })
    isOpen = !isBlank
    start = end + 1
  }
  return bounded(text, blocks)
}

function bounded(text: string, blocks: readonly Block[]): Block[] {
  return blocks.flatMap(block => (block.end - block.start > BLOCK_UNITS ? parted(text, block) : [block]))
}

function parted(text: string, block: Block): Block[] {
  const parts: Block[] = []
  let { start, continues } = block
  while (block.end - start > BLOCK_UNITS) {
    const end = partEnd(text, start)
    parts.push({ ...block, start, end, continues })
    continues = !/[.。]/.test(text[end - 1] ?? '')
    start = end
  }
  parts.push({ ...block, start, continues })
  return parts
}

function partEnd(text: string, start: number): number {
  const window = text.slice(start + BLOCK_UNITS / 2, start + BLOCK_UNITS)
  const sentence = Math.max(window.lastIndexOf('. '), window.lastIndexOf('。'), window.lastIndexOf('.\n'))
  const border = sentence >= 0 ? sentence + 1 : Math.max(window.lastIndexOf(' '), window.lastIndexOf('\n'))
  if (border >= 0) return start + BLOCK_UNITS / 2 + border
  const splitsPair = /[\ud800-\udbff]/.test(window.at(-1) ?? '')
  return start + BLOCK_UNITS - (splitsPair ? 1 : 0)
}

function skipSpaces(text: string, start: number, end: number): number {
  let index = start
  while (index < end) {
    const unit = text.charCodeAt(index)
    if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0d) break
    index++
  }
  return index
}

function frontMatterEnd(text: string): number {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const opening = /^(---|\+\+\+)[ \t]*\r?\n/.exec(text.slice(start, start + 16))
  if (!opening) return start
  const closing = opening[1] === '---' ? /\n(?:---|\.\.\.)[ \t]*\r?(?:\n|$)/g : /\n\+\+\+[ \t]*\r?(?:\n|$)/g
  closing.lastIndex = start + opening[0].length - 1
  return closing.test(text) ? closing.lastIndex : start
}

function withoutSpans(text: string, opening: string, closing: string): string {
  let start = text.indexOf(opening)
  if (start < 0) return text
  const kept: string[] = []
  let from = 0
  while (start >= 0) {
    kept.push(text.slice(from, start), /\S/.test(text[start - 1] ?? ' ') ? SEAM : ' ')
    const end = text.indexOf(closing, start + opening.length)
    if (end < 0) return kept.join('')
    from = end + closing.length
    start = text.indexOf(opening, from)
  }
  kept.push(text.slice(from))
  return kept.join('')
}

/** A zero-width space where something was taken out of a line: what stands at its sides makes no new mark, and no gap is seen. */
const SEAM = '\u200b'

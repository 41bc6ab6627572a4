/**
 * The blocks of a Markdown or reStructuredText file, in order.
 *
 * Left out: the title (the first heading), link definitions, directives, comments of reStructuredText, scripts and styles.
 * Time is linear in the text.
 *
 * @param text without hidden parts
 */
export function markdownBlocks(text: string, { isRst = false } = {}): Block[] {
  const scanner = new LineScanner(text, isRst)
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    scanner.readLine(start, end)
    start = end + 1
  }
  return splitLongBlocks(text, scanner.list.blocks)
}

/** An open code block. */
interface Fence {
  marks: string
  /** It stands in a quote, and ends with the quote at the latest. */
  isQuoted: boolean
}

/**
 * Reads the lines of a text in order. Its state is what a line means for the lines below it.
 *
 * Methods named `read…` with a boolean result return whether the line is of their kind; if so, they have handled it.
 * `start` is the first character of the line after indent and quote marks, `end` its end, `line` its first `LINE_UNITS` from `start` on.
 */
class LineScanner {
  readonly list = new BlockList()
  readonly #text: string
  readonly #isRst: boolean
  #fence: Fence | null = null
  /** The closing tag of an open script or style. */
  #rawEnd: RegExp | null = null
  /** Indented lines belong to a comment of reStructuredText. */
  #inComment = false
  #inList = false
  #isQuoted = false

  constructor(text: string, isRst: boolean) {
    this.#text = text
    this.#isRst = isRst
  }

  readLine(lineStart: number, end: number): void {
    const indentEnd = skipSpaces(this.#text, lineStart, end)
    const indent = indentEnd - lineStart
    if (this.#readRaw(indentEnd, end) || this.#readComment(indent, indentEnd === end)) return
    const start = this.#skipQuoteMarks(indentEnd, end)
    if (start >= end) this.list.isOpen = false
    else if (this.#fence !== null) this.#readCodeLine(this.#fence, start, end)
    else if (!this.#readMarkedLine(start, end) && !this.#isModuleLine(start, end)) this.#readTextLine(start, end, indent)
  }

  #readRaw(indentEnd: number, end: number): boolean {
    if (this.#rawEnd === null) return false
    if (this.#rawEnd.test(this.#text.slice(indentEnd, end))) this.#rawEnd = null
    return true
  }

  /** A comment of reStructuredText ends with the first line that is not indented; blank lines are part of it. */
  #readComment(indent: number, isBlank: boolean): boolean {
    if (!this.#inComment || isBlank) return false
    this.#inComment = indent > 0
    return this.#inComment
  }

  /** Where the content of the line begins. In a code block outside of quotes, `>` is code. */
  #skipQuoteMarks(indentEnd: number, end: number): number {
    this.#isQuoted = this.#text[indentEnd] === '>'
    if (this.#fence?.isQuoted && !this.#isQuoted && indentEnd < end) this.#endFence()
    if (this.#fence?.isQuoted === false) return indentEnd
    let start = indentEnd
    while (this.#text[start] === '>') start = skipSpaces(this.#text, start + 1, end)
    return start
  }

  #readCodeLine({ marks }: Fence, start: number, end: number): void {
    const isEnd = this.#text.startsWith(marks, start) && FENCE_END.test(this.#text.slice(start, end))
    if (isEnd) this.#endFence()
    else this.list.add('code', start, end)
  }

  #endFence(): void {
    this.#fence = null
    this.list.startRun()
    this.list.isOpen = false
  }

  #readMarkedLine(start: number, end: number): boolean {
    if (!this.#isRst && isLetter(this.#text.charCodeAt(start))) return false
    const line = this.#text.slice(start, Math.min(end, start + LINE_UNITS))
    return this.#isRst ? this.#readRstMarks(line) : this.#readMarkdownMarks(line, start, end)
  }

  /** Asks for the kinds of lines in the order of their precedence. */
  #readMarkdownMarks(line: string, start: number, end: number): boolean {
    return (
      this.#readFence(line) ||
      this.#readUnderline(line, SETEXT_RULE) ||
      this.#readHeading(line, start, end) ||
      this.#readRule(line) ||
      this.#readSkipped(line) ||
      this.#readRawTag(line) ||
      this.#readItem(line, start, end) ||
      this.#readRow(line, start, end)
    )
  }

  #readFence(line: string): boolean {
    if (line[0] !== '`' && line[0] !== '~') return false
    const marks = FENCE.exec(line)?.[1]
    if (marks === undefined) return false
    this.#fence = { marks, isQuoted: this.#isQuoted }
    this.list.startRun()
    return true
  }

  /** A rule below a paragraph makes it a heading. */
  #readUnderline(line: string, rule: RegExp): boolean {
    const { isOpen, last } = this.list
    if (!isOpen || last?.kind !== 'prose' || !rule.test(line)) return false
    this.list.turnIntoHeading(last)
    this.#inList = false
    return true
  }

  #readHeading(line: string, start: number, end: number): boolean {
    const marks = line[0] === '#' ? HEADING.exec(line) : null
    if (marks === null) return false
    this.list.addHeading(start + marks[0].length, end)
    this.#inList = false
    return true
  }

  /** A thematic break, or the line below the head of a table, which makes the line above a row. */
  #readRule(line: string): boolean {
    if (!RULE_MARKS.includes(line[0] as string) || !RULE.test(line)) return false
    const { isOpen, last } = this.list
    if (isOpen && last?.kind === 'prose' && line.includes('|')) last.kind = 'row'
    return true
  }

  #readSkipped(line: string): boolean {
    const isDefinition = line[0] === '[' && !this.list.isOpen && DEFINITION.test(line)
    if (!isDefinition && !DIRECTIVE.test(line)) return false
    this.list.isOpen = false
    return true
  }

  #readRawTag(line: string): boolean {
    const tag = line[0] === '<' && !this.list.isOpen ? RAW_TAG.exec(line) : null
    if (tag === null) return false
    const closing = new RegExp(`</${tag[1]}>`, 'i')
    if (!closing.test(line)) this.#rawEnd = closing
    return true
  }

  #readItem(line: string, start: number, end: number): boolean {
    const marks = ITEM.exec(line)
    if (marks === null) return false
    this.list.add('item', start + marks[0].length, end)
    this.list.isOpen = true
    this.#inList = true
    return true
  }

  #readRow(line: string, start: number, end: number): boolean {
    if (line[0] !== '|') return false
    if (this.list.last?.kind !== 'row') this.list.startRun()
    this.list.add('row', start, end)
    this.list.isOpen = false
    return true
  }

  #readRstMarks(line: string): boolean {
    if (this.#readUnderline(line, RST_RULE) || RST_RULE.test(line) || RST_OPTION.test(line)) return true
    if (!line.startsWith('.. ')) return false
    this.#inComment = !RST_DIRECTIVE.test(line)
    this.list.isOpen = false
    return true
  }

  /** An import or export of MDX. */
  #isModuleLine(start: number, end: number): boolean {
    const first = this.#text.charCodeAt(start)
    if ((first !== IMPORT_I && first !== EXPORT_E) || this.list.isOpen) return false
    return MODULE_LINE.test(this.#text.slice(start, end))
  }

  #readTextLine(start: number, end: number, indent: number): void {
    const { isOpen, last } = this.list
    if (isOpen && last) this.#continueBlock(last, start, end)
    else if (indent >= 4 && !this.#inList && !this.#isRst) this.#readIndentedCode(start, end)
    else this.#beginParagraph(start, end, indent)
  }

  #continueBlock(last: Block, start: number, end: number): void {
    const isRow = last.kind === 'row' && this.#text.slice(start, end).includes('|')
    if (isRow) this.list.add('row', start, end)
    else last.end = end
  }

  #readIndentedCode(start: number, end: number): void {
    if (this.list.last?.kind !== 'code') this.list.startRun()
    this.list.add('code', start, end)
  }

  #beginParagraph(start: number, end: number, indent: number): void {
    if (indent === 0) this.#inList = false
    this.list.add('prose', start, end)
    this.list.isOpen = true
  }
}

const IMPORT_I = 0x69
const EXPORT_E = 0x65
/** How much of a line is read to know its kind. UTF-16 units. */
const LINE_UNITS = 400
const MODULE_LINE = /^(?:import\s.+from\s|import\s+['"]|export\s+(?:const|default|function|\{))/
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/
const FENCE_END = /^(?:`+|~+)\s*$/
const HEADING = /^#{1,6}(?:[ \t]+|$)/
const SETEXT_RULE = /^(?:=+|-+)\s*$/
/** The line below the head of a table, or a thematic break. */
const RULE = /^(?:[|:\- \t]{3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\r?$/
const RULE_MARKS = '|:-*_'
/** Admonitions, front matter inside a text, and tags of template languages. */
const DIRECTIVE = /^(?::::|!!!\s|\?\?\?|\[![A-Z]+\]|\+\+\+|\{%|\{\{[#<])/
const DEFINITION = /^\[[^^\]][^\]]*\]:\s/
const RAW_TAG = /^<(script|style|template|svg)\b/i
const ITEM = /^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/
const RST_RULE = /^([=\-~^"'`#*+.:_])\1{2,}\s*$/
const RST_OPTION = /^:[\w-]+:(?:\s|$)(?!`)/
const RST_DIRECTIVE = /^\.\. [\w:-]+::/

function isLetter(unit: number): boolean {
  return unit >= 0x80 || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a)
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

/** Collects the blocks of a marked text in order and numbers their runs. */
class BlockList {
  readonly blocks: Block[] = []
  /** Whether a further line of text belongs to the last block. */
  isOpen = false
  #run = 0
  #hasTitle = false

  get last(): Block | undefined {
    return this.blocks.at(-1)
  }

  /** Adds a block. Text, code and tables never share a run. */
  add(kind: BlockKind, start: number, end: number): void {
    const { last } = this
    if (last && last.run === this.#run && layoutOf(last.kind) !== layoutOf(kind)) this.#run++
    this.blocks.push({ kind, start, end, run: this.#run, continues: false })
  }

  /** Adds a heading. The first one is the title of the text and is left out. */
  addHeading(start: number, end: number): void {
    this.startRun()
    this.isOpen = false
    if (this.#hasTitle) this.add('heading', start, end)
    this.#hasTitle = true
  }

  /** Makes a heading of the last block: the line below it is its underline. */
  turnIntoHeading({ start, end }: Block): void {
    this.blocks.pop()
    this.addHeading(start, end)
  }

  /** The next block begins a new run. */
  startRun(): void {
    this.#run++
  }
}

/** 0 for text, 1 for code, 2 for a table: a run ends where this changes. */
function layoutOf(kind: BlockKind): number {
  return kind === 'code' ? 1 : kind === 'row' ? 2 : 0
}

/**
 * - `prose`: a paragraph.
 * - `item`: an item of a list.
 * - `heading`: a heading below the title.
 * - `row`: a row of a table.
 * - `code`: a line of code.
 * - `plain`: a paragraph of a text without markup.
 */
export type BlockKind = 'prose' | 'item' | 'heading' | 'row' | 'code' | 'plain'

/** A part of a text that a passage can begin with. UTF-16 units, `end` exclusive, without the marks that begin the block. */
export interface Block {
  kind: BlockKind
  start: number
  end: number
  /** Neighbours with the same run can be read as one text. */
  run: number
  /** It is a further part of the block before, which was too long. */
  continues: boolean
}

/** Longer blocks are split, at the end of a sentence if possible. UTF-16 units. */
const BLOCK_UNITS = 1_000

/** The same blocks, with those longer than `BLOCK_UNITS` split. */
export function splitLongBlocks(text: string, blocks: readonly Block[]): Block[] {
  return blocks.flatMap(block => (block.end - block.start > BLOCK_UNITS ? splitBlock(text, block) : [block]))
}

function splitBlock(text: string, block: Block): Block[] {
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

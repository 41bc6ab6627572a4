import { type Block, markdownBlocks, splitLongBlocks } from './markdown-blocks.ts'
import { mayFold } from './term-places.ts'

/** A text prepared for passages. It depends only on the file, not on a query. */
export interface ReadableText {
  /** The visible text with its marks. */
  source: string
  blocks: readonly Block[]
  /** It contains characters that the analyzer may fold. */
  isFolded: boolean
}

/** Passages are taken from the beginning of a text: this many bytes, and this many UTF-16 units. */
export const PASSAGE_TEXT_SIZE = 64 * 1024

/** The markup of a file, by its extension; Markdown by default. */
export function markupOf(path: string): Markup {
  return (/\.(mdx|rst|txt)$/i.exec(path)?.[1]?.toLowerCase() as Markup | undefined) ?? 'md'
}

/** The markup of a text: Markdown, MDX, reStructuredText or none. */
export type Markup = 'md' | 'mdx' | 'rst' | 'txt'

/** Prepares a text. Time is linear in the text. */
export function readableText(markup: Markup, text: string): ReadableText {
  const isRst = markup === 'rst'
  const visible = withoutHiddenParts(text.slice(0, PASSAGE_TEXT_SIZE), { isMdx: markup === 'mdx' })
  const source = composed(
    isRst ? visible.replace(RST_ROLE, '').replace(RST_TARGET, (_, label: string) => label.trimEnd()) : visible,
  )
  const blocks = markup === 'txt' ? plainBlocks(source) : markdownBlocks(source, { isRst })
  return { source, blocks, isFolded: mayFold(source) }
}

/** The estimated memory of a prepared text, in bytes. */
export function sizeOfReadable({ source, blocks }: ReadableText): number {
  return source.length * (WIDE.test(source) ? 2 : 1) + blocks.length * BLOCK_MEMORY
}

/** A string with one of these characters takes two bytes a unit. */
const WIDE = /[^\0-\xff]/
/** Memory of a block: five fields, the object and its place in the list. */
const BLOCK_MEMORY = 72

/** `:ref:` before its text */
const RST_ROLE = /:[\w+-]{1,40}:(?=`)/g
/** `text <target>`_ */
const RST_TARGET = /`([^`<\n]{1,200})<[^`>\n]{0,400}>`_{0,2}/g

/**
 * The text with composed letters, as in the terms of the analyzer. Runs of combining marks are cut, since the time of composing is quadratic in their
 * length.
 */
function composed(text: string): string {
  if (!DECOMPOSED.test(text)) return text
  return text
    .replace(MARK_RUN, '$1')
    .replace(HALF_WIDTH_RUN, run => run.normalize('NFKC'))
    .normalize('NFC')
}

const DECOMPOSED = /[\u0300-\u036f\u1100-\u11ff\u3099\u309a\uff66-\uff9f]/
const MARK_RUN = /([\p{M}\uff9e\uff9f]{4})[\p{M}\uff9e\uff9f]+/gu
const HALF_WIDTH_RUN = /[\uff66-\uff9f]{1,64}/g

/**
 * The text of a Markdown file without its front matter and comments.
 *
 * Comments are removed in code too. A comment that is never closed hides the rest of the text.
 */
function withoutHiddenParts(text: string, { isMdx = false } = {}): string {
  const body = withoutComments(text.slice(frontMatterEnd(text)), '<!--', '-->')
  return isMdx ? withoutComments(body, '{/*', '*/}') : body
}

/** Where the text after the front matter begins. */
function frontMatterEnd(text: string): number {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const opening = /^(---|\+\+\+)[ \t]*\r?\n/.exec(text.slice(start, start + 16))
  if (!opening) return start
  const closing = opening[1] === '---' ? /\n(?:---|\.\.\.)[ \t]*\r?(?:\n|$)/g : /\n\+\+\+[ \t]*\r?(?:\n|$)/g
  closing.lastIndex = start + opening[0].length - 1
  return closing.test(text) ? closing.lastIndex : start
}

function withoutComments(text: string, opening: string, closing: string): string {
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

/** A zero-width space replaces a comment inside a line: the characters at its sides form no new mark, and no gap is visible. */
const SEAM = '\u200b'

/** The paragraphs of a text without markup, in order: every character is text. */
function plainBlocks(text: string): Block[] {
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
  return splitLongBlocks(text, blocks)
}

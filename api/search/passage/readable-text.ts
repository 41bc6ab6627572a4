import type { Block } from './blocks.ts'
import { withoutHiddenParts } from './hidden-parts.ts'
import { markdownBlocks } from './markdown-blocks.ts'
import { plainBlocks } from './plain-blocks.ts'
import { mayFold } from './term-places.ts'

/** A text as passages are taken from it. It follows from the file alone, whatever is asked for. */
export interface ReadableText {
  /** What can be seen of it, with its marks. */
  source: string
  blocks: readonly Block[]
  /** Whether the analyzer may fold something in it. */
  isFolded: boolean
}

/** What of a text is looked at for a passage: so many of its bytes, and of its UTF-16 units. */
export const PASSAGE_TEXT_SIZE = 64 * 1024

/** How the text of a file is marked, as its name tells. */
export function markupOf(path: string): Markup {
  return (/\.(mdx|rst|txt)$/i.exec(path)?.[1]?.toLowerCase() as Markup | undefined) ?? 'md'
}

export type Markup = 'md' | 'mdx' | 'rst' | 'txt'

/** Time is linear in the text. */
export function readableText(markup: Markup, text: string): ReadableText {
  const isRst = markup === 'rst'
  const visible = withoutHiddenParts(text.slice(0, PASSAGE_TEXT_SIZE), { isMdx: markup === 'mdx' })
  const source = composed(
    isRst ? visible.replace(RST_ROLE, '').replace(RST_TARGET, (_, label: string) => label.trimEnd()) : visible,
  )
  const blocks = markup === 'txt' ? plainBlocks(source) : markdownBlocks(source, { isRst })
  return { source, blocks, isFolded: mayFold(source) }
}

/** Bytes of memory, as estimated. */
export function sizeOfReadable({ source, blocks }: ReadableText): number {
  return source.length * (WIDE.test(source) ? 2 : 1) + blocks.length * BLOCK_MEMORY
}

/** A string with any of these takes two bytes a unit. */
const WIDE = /[^\0-\xff]/
/** What a block takes: five fields, what every object has, and its place in the list. */
const BLOCK_MEMORY = 72

/** `:ref:` before its text */
const RST_ROLE = /:[\w+-]{1,40}:(?=`)/g
/** `text <target>`_ */
const RST_TARGET = /`([^`<\n]{1,200})<[^`>\n]{0,400}>`_{0,2}/g

/** Letters in one piece, as they are looked up; runs of marks are bounded, since composing takes quadratic time in their length. */
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

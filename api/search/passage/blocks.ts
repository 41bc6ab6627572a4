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

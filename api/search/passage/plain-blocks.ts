import { type Block, splitLongBlocks } from './blocks.ts'

/** The paragraphs of a text without markup, in order: every character is text. */
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
  return splitLongBlocks(text, blocks)
}

import { visibleLine } from '#core/hidden-text.ts'
import { SUMMARY_CHARACTERS } from '#core/limits.ts'
import { countCharacters } from '#core/text.ts'
import type { Block, BlockKind } from './blocks.ts'
import { plainText } from './plain-text.ts'
import type { ReadableText } from './readable-text.ts'
import { SOURCE_UNITS } from './tally.ts'

/** The plain text of neighbouring blocks, from which a passage is cut. */
export interface Region {
  text: string
  /** Where sentences and blocks begin, and the end of the text. UTF-16 units. */
  borders: number[]
  /** The kind of its first block. */
  kind: BlockKind
  /** It begins inside a sentence. */
  beginsInside: boolean
  /** More of the same sentence follows. */
  endsInside: boolean
}

/** Shorter passages are preceded by their context. UTF-16 units. */
export const SHORT_UNITS = 110
/** Separates items, headings and cells. */
const JOINT = ' · '

/** The region that begins with block `first`. */
export function readRegion(readable: ReadableText, first: number): Region {
  const { blocks } = readable
  const last = regionEnd(blocks, first)
  const borders: number[] = []
  let text = ''
  for (let number = first; number < last; number++) {
    const block = blocks[number] as Block
    const plain = blockText(readable, block)
    if (plain === '') continue
    if (text !== '') text += jointBetween(blocks[number - 1] as Block, text, block)
    if (text === '' || !block.continues) borders.push(text.length)
    for (const match of plain.matchAll(SENTENCE_END)) borders.push(text.length + match.index + match[0].length)
    text += plain
  }
  borders.push(text.length)
  const { kind, continues } = blocks[first] as Block
  return { text, borders, kind, beginsInside: continues, endsInside: blocks[last]?.continues === true }
}

/** The index of the first block after the region that begins with block `first`. */
export function regionEnd(blocks: readonly Block[], first: number): number {
  const { start, end } = blocks[first] as Block
  let { run } = blocks[first] as Block
  let next = first + 1
  for (; next < blocks.length; next++) {
    const block = blocks[next] as Block
    if (block.start > end + 2 * SOURCE_UNITS || block.start > start + 4 * SOURCE_UNITS) break
    if (block.run === run) continue
    // A short text before code or a table introduces it.
    const before = blocks[next - 1] as Block
    const isIntroduction = isCodeOrTable(block) && !isCodeOrTable(before) && before.end - start < SHORT_UNITS
    if (!isIntroduction) break
    run = block.run
  }
  return next
}

function isCodeOrTable({ kind }: Block): boolean {
  return kind === 'code' || kind === 'row'
}

/** Puts the blocks before a short passage in front of it while they fit: those of its section, up to the heading. */
export function withContext(readable: ReadableText, first: number, passage: string): string {
  const { blocks } = readable
  let result = passage
  for (let number = first; number > 0; number--) {
    const block = blocks[number] as Block
    const before = blocks[number - 1] as Block
    if (block.kind === 'heading' || (before.kind === 'code' && block.kind !== 'code')) break
    // A whole paragraph before would push the terms away from the beginning.
    if ((block.kind === 'prose' || block.kind === 'plain') && before.kind !== 'heading') break
    const plain = blockText(readable, before)
    const longer = plain === '' ? result : plain + jointBetween(before, plain, block) + result
    if (before.continues || countCharacters(longer) > SUMMARY_CHARACTERS) break
    result = longer
  }
  return result
}

/** The end of a sentence with the space after it. */
const SENTENCE_END = /(?:(?<![\s.(]\p{L})[.!?…]["'”’)]*\s+(?=[^\s\p{Ll}])|[。！？]["'”’」』）)]*\s*(?=.))/gu

function jointBetween(before: Block, plain: string, block: Block): string {
  if (block.continues || (block.kind === 'code' && before.kind === 'code')) return ' '
  return /[.!?…:;,。！？：；、]["'”’」』]?$/u.test(plain) ? ' ' : JOINT
}

function blockText({ source }: ReadableText, { start, end, kind }: Block): string {
  const written = source.slice(start, end)
  if (kind === 'code' || kind === 'plain') return visibleLine(written)
  if (kind === 'row') {
    const cells = written.split(/(?<!\\)\|/).map(plainText)
    return cells.filter(cell => cell !== '').join(JOINT)
  }
  const line = written.includes('\n') ? written.replace(LINE_START, ' ') : written
  return plainText(kind === 'heading' ? line.replace(/[ \t]#+\s*$/, '') : line)
}

const LINE_START = /\r?\n[ \t>]*/g

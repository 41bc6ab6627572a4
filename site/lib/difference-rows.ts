import { pairLines, type WordPart } from '#core/changes/words.ts'

/* A piece of a unified difference as rows with the numbers of their lines on both sides. Pure. */

export interface DifferenceRow {
  /** `continued`: the rest of a line that began in the piece before. `note`: that a file has no line end. */
  kind: 'added' | 'removed' | 'context' | 'continued' | 'note'
  /** Numbers of the line; `null` on a side that does not have it, or where they are not known. */
  before: number | null
  after: number | null
  parts: readonly WordPart[]
  /** The first line of a change. */
  isStop: boolean
}

/** Rows of neighboring lines. */
export interface Hunk {
  /** The number of its first line, on the new side, or on the old one where it has no other; `null` where it is not known. */
  line: number | null
  rows: DifferenceRow[]
}

/** The numbers of the next line on both sides. */
export interface LineNumbers {
  before: number
  after: number
}

export interface PieceOptions {
  /** The piece begins within a line, whose sign stands in the piece before: what stands at its beginning is text, and no sign. */
  isWithinLine?: boolean
  /** Where the piece before ended; `null` where that is not known. Default: not known, and not needed where the piece begins with a hunk. */
  next?: LineNumbers | null
  /** Lines of the files before the text that is compared, such as those of a front matter. */
  offsets?: LineNumbers
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const NONE: LineNumbers = { before: 0, after: 0 }

type Kind = DifferenceRow['kind'] | 'hunk'

/**
 * The rows of a piece. A last line that only got a line end, since more lines follow it now, is shown as unchanged.
 *
 * @returns with the numbers of the lines that the next piece begins with
 */
export function readPiece(content: string, options: PieceOptions = {}): Piece {
  const { hunks, next } = readRows(content, options)
  return { hunks: hunks.map(({ line, rows }) => ({ line, rows: markBlocks(rows) })), next }
}

interface Piece {
  hunks: Hunk[]
  next: LineNumbers | null
}

/** The rows without marks. */
function readRows(content: string, { isWithinLine = false, next = null, offsets = NONE }: PieceOptions): Piece {
  const texts = content.endsWith('\n') ? content.slice(0, -1).split('\n') : content.split('\n')
  const lines = joinUnchanged(
    texts.map((text, index) => ({ kind: isWithinLine && index === 0 ? ('continued' as const) : kindOf(text), text })),
  )
  const hunks: Hunk[] = []
  let numbers = next && { ...next }
  for (const { kind, text } of lines) {
    if (kind === 'hunk') {
      const [, before = '', , after = '', afterLines] = HUNK.exec(text) ?? []
      numbers = { before: Number(before), after: Number(after) }
      const isRemoved = afterLines === '0'
      hunks.push({ line: isRemoved ? numbers.before + offsets.before : numbers.after + offsets.after, rows: [] })
      // An empty side is counted from the line before it.
      if (isRemoved) numbers.after++
      if (text.includes(',0 +')) numbers.before++
      continue
    }
    const last = hunks.at(-1) ?? { line: null, rows: [] }
    if (hunks.length === 0) hunks.push(last)
    const [isOld, isNew] = [kind === 'removed' || kind === 'context', kind === 'added' || kind === 'context']
    last.rows.push({
      kind,
      before: isOld && numbers ? numbers.before + offsets.before : null,
      after: isNew && numbers ? numbers.after + offsets.after : null,
      parts: [{ text: kind === 'continued' ? text : text.slice(1), isChanged: false }],
      isStop: false,
    })
    if (numbers && isOld) numbers.before++
    if (numbers && isNew) numbers.after++
  }
  // A line that is cut goes on in the next piece, which counts it no more.
  return { hunks, next: numbers }
}

/** The rows of pieces that follow each other, by piece. @param from the first one that is shown; of those before it the lines are counted alone */
export function readPieces(pieces: readonly string[], from = 0): Hunk[][] {
  let next: LineNumbers | null = null
  const shown: Hunk[][] = []
  for (const [index, piece] of pieces.entries()) {
    const options: PieceOptions = { isWithinLine: index > 0 && !pieces[index - 1]?.endsWith('\n'), next }
    const read = index < from ? readRows(piece, options) : readPiece(piece, options)
    if (index >= from) shown.push(read.hunks)
    next = read.next
  }
  return shown
}

interface Line {
  kind: Kind
  text: string
}

function joinUnchanged(lines: readonly Line[]): Line[] {
  return lines.flatMap((line, at): Line[] => {
    const isSame = (from: number) =>
      lines[from]?.kind === 'removed' &&
      lines[from + 1]?.kind === 'note' &&
      lines[from + 2]?.kind === 'added' &&
      lines[from + 3]?.kind === 'added' &&
      lines[from]?.text.slice(1) === lines[from + 2]?.text.slice(1)
    if (isSame(at)) return [{ kind: 'context', text: ` ${line.text.slice(1)}` }]
    return isSame(at - 1) || isSame(at - 2) ? [] : [line]
  })
}

function kindOf(text: string): Kind {
  if (text.startsWith('+')) return 'added'
  if (text.startsWith('-')) return 'removed'
  if (text.startsWith('\\')) return 'note'
  return text.startsWith('@@') ? 'hunk' : 'context'
}

/** Marks the words that changed within the lines of each change, and its first line. */
function markBlocks(rows: readonly DifferenceRow[]): DifferenceRow[] {
  const marked: DifferenceRow[] = []
  for (let at = 0; at < rows.length; ) {
    const end = rows.findIndex((row, index) => index >= at && !IN_BLOCKS.has(row.kind))
    const block = rows.slice(at, end < 0 ? rows.length : end)
    if (block.length === 0) marked.push(rows[at] as DifferenceRow)
    else marked.push(...markBlock(block))
    at += Math.max(1, block.length)
  }
  return marked
}

const IN_BLOCKS: ReadonlySet<Kind> = new Set(['added', 'removed', 'note'])

function markBlock(block: readonly DifferenceRow[]): DifferenceRow[] {
  // Where both sides lack the last line end, that is no change.
  const isOnBothSides = block.filter(({ kind }) => kind === 'note').length > 1
  const rows = markWords(isOnBothSides ? block.filter(({ kind }) => kind !== 'note') : block)
  const first = rows.findIndex(({ kind }) => kind !== 'note')
  return rows.map((row, index) => (index === first ? { ...row, isStop: true } : row))
}

function markWords(block: readonly DifferenceRow[]): DifferenceRow[] {
  const removed = block.filter(({ kind }) => kind === 'removed')
  const added = block.filter(({ kind }) => kind === 'added')
  if (removed.length === 0 || added.length === 0) return [...block]
  const words = new Map<DifferenceRow, readonly WordPart[]>()
  const pairs = pairLines(removed.map(textOf), added.map(textOf))
  for (const [index, pair] of pairs.entries()) {
    if (pair === null) continue
    words.set(removed[index] as DifferenceRow, pair.words.before)
    words.set(added[pair.added] as DifferenceRow, pair.words.after)
  }
  return block.map(row => ({ ...row, parts: words.get(row) ?? row.parts }))
}

function textOf({ parts }: DifferenceRow): string {
  return parts.map(({ text }) => text).join('')
}

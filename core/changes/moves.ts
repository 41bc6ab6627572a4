import { createTurns, type Turn } from '../concurrency/turns.ts'
import { COMPARED_SLICE_MS, MOVE_BYTES, MOVE_PAIRS } from '../limits.ts'
import { compareBytes, utf8Length } from '../text.ts'
import { eachLine } from './lines.ts'

/** An item that only one side has, and that may have moved: it is served in full, and its text is not empty. */
export interface Movable {
  path: string
  /** Only items of one name are compared. */
  name: string
  /** Of its text. */
  sha256: string
  bytes: number
}

export interface Move {
  from: string
  to: string
}

/** Reads the text of an item that was removed or added. */
export interface MovableTexts {
  before(path: string): Promise<string>
  after(path: string): Promise<string>
}

/**
 * Pairs removed with added items of the same name that have most of their lines in common: twice the bytes of the lines that both have, over the
 * bytes of both, is at least 0.6. The most alike pairs come first, then by the old path, then by the new one; each item moves once.
 *
 * Texts are compared up to `MOVE_PAIRS` pairs and `MOVE_BYTES`. Of names with more, only identical texts are paired.
 */
export async function findMoves(removed: readonly Movable[], added: readonly Movable[], texts: MovableTexts): Promise<Move[]> {
  const turn = createTurns(undefined, COMPARED_SLICE_MS)
  const addedByName = Map.groupBy(added, ({ name }) => name)
  const removedByName = Map.groupBy(removed, ({ name }) => name)
  const names = [...removedByName.keys()].filter(name => addedByName.has(name)).sort(compareBytes)
  const left = { pairs: MOVE_PAIRS, bytes: MOVE_BYTES }
  const moves: Move[] = []
  for (const name of names) {
    await turn()
    const group = { removed: removedByName.get(name) ?? [], added: addedByName.get(name) ?? [] }
    moves.push(...takeGreedily((await comparePairs(group, texts, left, turn)) ?? identicalPairs(group)))
  }
  return moves
}

interface Group {
  removed: readonly Movable[]
  added: readonly Movable[]
}

interface Pair extends Move {
  /** Bytes of the lines in common, and of both texts. */
  commonBytes: number
  bytes: number
}

/** The pairs that are alike, or `null` where comparing them exceeds what is `left`. */
async function comparePairs(
  { removed, added }: Group,
  texts: MovableTexts,
  left: { pairs: number; bytes: number },
  turn: Turn,
): Promise<Pair[] | null> {
  const [old] = removed
  const [new_] = added
  const isOnlyPair = removed.length === 1 && added.length === 1
  if (isOnlyPair && old?.sha256 === new_?.sha256) return identicalPairs({ removed, added })
  if (removed.length * added.length > left.pairs) return null
  const candidates = removed.flatMap(from => added.filter(to => mayBeAlike(from, to)).map(to => ({ from, to })))
  const bytes = [...new Set(candidates.flatMap(({ from, to }) => [from, to]))].reduce((sum, item) => sum + item.bytes, 0)
  if (bytes > left.bytes) return null
  left.pairs -= removed.length * added.length
  left.bytes -= bytes

  const bags = new Map<Movable, LineBag>()
  const bagOf = async (item: Movable, read: (path: string) => Promise<string>) => {
    if (!bags.has(item)) bags.set(item, await bagOfLines(await read(item.path), turn))
  }
  await Promise.all([
    ...[...new Set(candidates.map(({ from }) => from))].map(item => bagOf(item, texts.before)),
    ...[...new Set(candidates.map(({ to }) => to))].map(item => bagOf(item, texts.after)),
  ])
  const pairs: Pair[] = []
  for (const { from, to } of candidates) {
    await turn()
    const commonBytes = await bytesInCommon(bags.get(from) ?? new Map(), bags.get(to) ?? new Map(), turn)
    const pair = { from: from.path, to: to.path, commonBytes, bytes: from.bytes + to.bytes }
    if (isAlike(pair)) pairs.push(pair)
  }
  return pairs
}

/** At most the whole smaller text is in common. */
function mayBeAlike(from: Movable, to: Movable): boolean {
  return isAlike({ commonBytes: Math.min(from.bytes, to.bytes), bytes: from.bytes + to.bytes })
}

/** In integers: 0.6 is no binary fraction. */
function isAlike({ commonBytes, bytes }: Pick<Pair, 'commonBytes' | 'bytes'>): boolean {
  return 2 * 5 * commonBytes >= 3 * bytes
}

/** Texts of one digest, the first old path with the first new one. */
function identicalPairs({ removed, added }: Group): Pair[] {
  const bySha256 = Map.groupBy(inPathOrder(added), ({ sha256 }) => sha256)
  return inPathOrder(removed).flatMap(from => {
    const to = bySha256.get(from.sha256)?.shift()
    return to === undefined ? [] : [{ from: from.path, to: to.path, commonBytes: from.bytes, bytes: from.bytes + to.bytes }]
  })
}

function inPathOrder(items: readonly Movable[]): Movable[] {
  return items.toSorted((left, right) => compareBytes(left.path, right.path))
}

function takeGreedily(pairs: readonly Pair[]): Move[] {
  const ordered = pairs.toSorted(
    (left, right) =>
      right.commonBytes * left.bytes - left.commonBytes * right.bytes ||
      compareBytes(left.from, right.from) ||
      compareBytes(left.to, right.to),
  )
  const taken = { from: new Set<string>(), to: new Set<string>() }
  return ordered.flatMap(({ from, to }) => {
    if (taken.from.has(from) || taken.to.has(to)) return []
    taken.from.add(from)
    taken.to.add(to)
    return [{ from, to }]
  })
}

/** How often each line occurs. */
type LineBag = Map<string, number>

async function bagOfLines(text: string, turn: Turn): Promise<LineBag> {
  const bag: LineBag = new Map()
  for (let at = 0; at < text.length; ) {
    at = eachLine(text, at, line => bag.set(line, (bag.get(line) ?? 0) + 1))
    await turn()
  }
  return bag
}

async function bytesInCommon(left: LineBag, right: LineBag, turn: Turn): Promise<number> {
  const [fewer, more] = left.size <= right.size ? [left, right] : [right, left]
  let bytes = 0
  let lines = 0
  for (const [line, count] of fewer) {
    const other = more.get(line)
    if (other !== undefined) bytes += Math.min(count, other) * utf8Length(line)
    if (++lines % 4_096 === 0) await turn()
  }
  return bytes
}

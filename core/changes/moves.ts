import { createYielder, type Yielder } from '../concurrency/yielding.ts'
import { COMPARED_SLICE_MS, MOVE_BYTES, MOVE_PAIRS } from '../limits.ts'
import { compareBytes } from '../text.ts'
import { type AlikePair, findAlike, type Group, type Movable, type MovableTexts, type Tenths } from './alike.ts'

export interface Move {
  from: string
  to: string
}

/** How alike two texts are that moved, in tenths: a changed name needs more likeness than the same one. */
const SAME_NAME: Tenths = 6
const ANY_NAME: Tenths = 8

/**
 * Pairs removed with added items that have most of their lines in common: twice the bytes of the lines that both have, over the bytes of both, is
 * at least 0.6 with the same name, and at least 0.8 with another one. Pairs with the same name come first, then identical texts, then the most
 * alike ones, then by the old path, then by the new one; each item moves once.
 *
 * In one comparison, `MOVE_BYTES` of the other texts are read, and at most `MOVE_PAIRS` of them are compared: those that share one of their rarer
 * lines. A move of a folder is mostly identical texts, whose digests are enough: what may be read is left for those that were edited.
 */
export async function findMoves(removed: readonly Movable[], added: readonly Movable[], texts: MovableTexts): Promise<Move[]> {
  const search = {
    texts,
    left: { pairs: MOVE_PAIRS, bytes: MOVE_BYTES },
    yieldIfDue: createYielder(undefined, COMPARED_SLICE_MS),
  }
  const moves: Move[] = []
  for (const group of groupsOfName({ removed, added })) moves.push(...(await movesIn(group, SAME_NAME, search)))
  return [...moves, ...(await movesIn(without({ removed, added }, moves), ANY_NAME, search))]
}

interface Search {
  texts: MovableTexts
  /** What may still be compared. */
  left: { pairs: number; bytes: number }
  yieldIfDue: Yielder
}

/** The items by names that are on both sides. */
function groupsOfName({ removed, added }: Group): Group[] {
  const addedByName = Map.groupBy(added, ({ name }) => name)
  const removedByName = Map.groupBy(removed, ({ name }) => name)
  const names = [...removedByName.keys()].filter(name => addedByName.has(name)).sort(compareBytes)
  return names.map(name => ({ removed: removedByName.get(name) ?? [], added: addedByName.get(name) ?? [] }))
}

async function movesIn(group: Group, tenths: Tenths, search: Search): Promise<Move[]> {
  const waiting = search.yieldIfDue()
  if (waiting) await waiting
  const identical = identicalPairs(group)
  return [...identical, ...takeGreedily((await findAlike(without(group, identical), tenths, search)) ?? [])]
}

function without({ removed, added }: Group, moves: readonly Move[]): Group {
  const [from, to] = [new Set(moves.map(move => move.from)), new Set(moves.map(move => move.to))]
  return { removed: removed.filter(({ path }) => !from.has(path)), added: added.filter(({ path }) => !to.has(path)) }
}

/** Texts of one digest, the first old path with the first new one. They are not read. */
function identicalPairs({ removed, added }: Group): Move[] {
  const bySha256 = Map.groupBy(inPathOrder(added), ({ sha256 }) => sha256)
  const nextOf = new Map([...bySha256].map(([sha256, items]) => [sha256, items.values()]))
  return inPathOrder(removed).flatMap(from => {
    const to = nextOf.get(from.sha256)?.next().value
    return to === undefined ? [] : [{ from: from.path, to: to.path }]
  })
}

function inPathOrder(items: readonly Movable[]): Movable[] {
  return items.toSorted((left, right) => compareBytes(left.path, right.path))
}

function takeGreedily(pairs: readonly AlikePair[]): Move[] {
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

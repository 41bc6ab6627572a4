import type { Yielder } from '../concurrency/yielding.ts'
import { utf8Length } from '../text.ts'

/*
 * Which of many texts have most of their lines in common, without a comparison of each with each. Exact: two texts that are alike share a large
 * part of their bytes, so at least one line among the rarer ones of both is the same.
 */

/** An item that only one side has, and that may have moved: it is served in full, and its text is not empty. */
export interface Movable {
  path: string
  name: string
  /** Of its text. */
  sha256: string
  bytes: number
}

export interface Group {
  removed: readonly Movable[]
  added: readonly Movable[]
}

/** Reads the text of an item that was removed or added. */
export interface MovableTexts {
  before(path: string): Promise<string>
  after(path: string): Promise<string>
}

/** A likeness in tenths: 0.6 and 0.8 are no binary fractions. */
export type Tenths = 6 | 8

export interface AlikePair {
  from: string
  to: string
  /** Bytes of the lines in common, and of both texts. */
  commonBytes: number
  bytes: number
}

/**
 * The pairs of a removed and an added text whose likeness is at least `tenths`.
 *
 * @param left how much may be read and compared; what was is taken off
 * @returns `null` where that is not enough
 */
export async function findAlike(
  group: Group,
  tenths: Tenths,
  { texts, left, yieldIfDue }: { texts: MovableTexts; left: { pairs: number; bytes: number }; yieldIfDue: Yielder },
): Promise<AlikePair[] | null> {
  const removed = withCounterpart(group.removed, group.added, tenths)
  const added = withCounterpart(group.added, removed, tenths)
  const bytes = [...removed, ...added].reduce((sum, item) => sum + item.bytes, 0)
  if (bytes > left.bytes) return null
  left.bytes -= bytes

  const lines = new KnownLines()
  const [oldTexts, newTexts] = await Promise.all([
    Promise.all(removed.map(({ path }) => texts.before(path))),
    Promise.all(added.map(({ path }) => texts.after(path))),
  ])
  const old = await lines.readAll(removed, oldTexts, yieldIfDue)
  const new_ = await lines.readAll(added, newTexts, yieldIfDue)
  const candidates = await findCandidates({ old, new_ }, { lines, tenths, limit: left.pairs, yieldIfDue })
  left.pairs -= candidates?.length ?? left.pairs
  if (candidates === null) return null

  const pairs: AlikePair[] = []
  for (const [from, to] of candidates) {
    const waiting = yieldIfDue()
    if (waiting) await waiting
    if (!isLikelyAlike(from.item, to.item, tenths)) continue
    const commonBytes = await lines.bytesInCommon(from.bag, to.bag, yieldIfDue)
    const pair = { from: from.item.path, to: to.item.path, commonBytes, bytes: from.item.bytes + to.item.bytes }
    if (isAlike(pair, tenths)) pairs.push(pair)
  }
  return pairs
}

function isAlike({ commonBytes, bytes }: Pick<AlikePair, 'commonBytes' | 'bytes'>, tenths: Tenths): boolean {
  return 20 * commonBytes >= tenths * bytes
}

/** At most the whole smaller text is in common. */
function isLikelyAlike(one: Movable, other: Movable, tenths: Tenths): boolean {
  return isAlike({ commonBytes: Math.min(one.bytes, other.bytes), bytes: one.bytes + other.bytes }, tenths)
}

/** The items whose size is near that of one of the others. */
function withCounterpart(items: readonly Movable[], others: readonly Movable[], tenths: Tenths): Movable[] {
  const bySize = others.toSorted((left, right) => left.bytes - right.bytes)
  return items.filter(item => {
    // Of the others that are large enough, the smallest one.
    let [low, high] = [0, bySize.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = bySize[middle] as Movable
      if (other.bytes >= item.bytes || isLikelyAlike(item, other, tenths)) high = middle
      else low = middle + 1
    }
    const nearest = bySize[low]
    return nearest !== undefined && isLikelyAlike(item, nearest, tenths)
  })
}

/** How often each line occurs, by its number. */
type LineBag = ReadonlyMap<number, number>

interface ReadText {
  item: Movable
  bag: LineBag
}

type Candidate = [from: ReadText, to: ReadText]

/** The pairs that share one of their rarer lines; `null` if there are more than `limit`. */
async function findCandidates(
  { old, new_ }: { old: readonly ReadText[]; new_: readonly ReadText[] },
  { lines, tenths, limit, yieldIfDue }: { lines: KnownLines; tenths: Tenths; limit: number; yieldIfDue: Yielder },
): Promise<Candidate[] | null> {
  const byLine = new Map<number, ReadText[]>()
  for (const text of old) {
    await yieldIfDue()
    for (const line of lines.rarest(text, tenths)) {
      const known = byLine.get(line)
      if (known) known.push(text)
      else byLine.set(line, [text])
    }
  }
  const candidates: Candidate[] = []
  for (const to of new_) {
    const found = new Set<ReadText>()
    for (const line of lines.rarest(to, tenths)) {
      const waiting = yieldIfDue()
      if (waiting) await waiting
      for (const from of byLine.get(line) ?? []) found.add(from)
      if (candidates.length + found.size > limit) return null
    }
    for (const from of found) candidates.push([from, to])
  }
  return candidates
}

/** Lines that are looked at before others may get their turn. */
const LINES_AT_ONCE = 4_096

/** The different lines of some texts, numbered. */
class KnownLines {
  readonly #numbers = new Map<string, number>()
  /** By the number of a line: its bytes, and how many texts have it. */
  readonly #bytes: number[] = []
  readonly #texts: number[] = []

  /** One after the other: many short texts would all begin before the first turn. */
  async readAll(items: readonly Movable[], texts: readonly string[], yieldIfDue: Yielder): Promise<ReadText[]> {
    const read: ReadText[] = []
    for (const [at, item] of items.entries()) read.push({ item, bag: await this.#bagOf(texts[at] ?? '', yieldIfDue) })
    return read
  }

  async #bagOf(text: string, yieldIfDue: Yielder): Promise<LineBag> {
    const bag = new Map<number, number>()
    const add = (line: string) => {
      const number = this.#numberOf(line)
      const count = bag.get(number) ?? 0
      if (count === 0) this.#texts[number] = (this.#texts[number] ?? 0) + 1
      bag.set(number, count + 1)
    }
    for (let at = 0; at < text.length; ) {
      at = eachLine(text, at, add)
      await yieldIfDue()
    }
    return bag
  }

  #numberOf(line: string): number {
    const known = this.#numbers.get(line)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(line, number)
    this.#bytes.push(utf8Length(line))
    this.#texts.push(0)
    return number
  }

  /**
   * The lines of a text that the fewest texts have. Their bytes are more than a text that is alike may lack, so one of them is also there. They are
   * chosen by the number of texts alone: so the other text has that line among its rarest, too.
   */
  rarest({ item, bag }: ReadText, tenths: Tenths): number[] {
    const bytes = new Map<number, number>()
    for (const [line, count] of bag) {
      const texts = this.#texts[line] as number
      bytes.set(texts, (bytes.get(texts) ?? 0) + count * (this.#bytes[line] as number))
    }
    let sum = 0
    const bound = [...bytes.keys()]
      .sort((left, right) => left - right)
      .find(texts => {
        sum += bytes.get(texts) as number
        return (20 - tenths) * sum > (20 - 2 * tenths) * item.bytes
      })
    return [...bag.keys()].filter(line => (this.#texts[line] as number) <= (bound ?? Number.POSITIVE_INFINITY))
  }

  async bytesInCommon(left: LineBag, right: LineBag, yieldIfDue: Yielder): Promise<number> {
    const [fewer, more] = left.size <= right.size ? [left, right] : [right, left]
    let bytes = 0
    let lines = 0
    for (const [line, count] of fewer) {
      const other = more.get(line)
      if (other !== undefined) bytes += Math.min(count, other) * (this.#bytes[line] as number)
      if (++lines % LINES_AT_ONCE === 0) await yieldIfDue()
    }
    return bytes
  }
}

/**
 * Calls `see` with the next lines of a text: each with its `\n`, the last one may have none. A carriage return is a part of its line.
 *
 * @param from where a line begins
 * @returns where the next line begins; the length of the text at its end
 */
function eachLine(text: string, from: number, see: (line: string, start: number) => void): number {
  let at = from
  for (let lines = 0; lines < LINES_AT_ONCE && at < text.length; lines++) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline + 1
    see(text.slice(at, end), at)
    at = end
  }
  return at
}

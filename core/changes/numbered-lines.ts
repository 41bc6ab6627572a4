import type { Turn } from '../concurrency/turns.ts'
import { grown } from './changed-lines.ts'

/** A text by its lines, which end at `\n` only: a carriage return is a part of its line. */
export interface NumberedLines {
  /** UTF-16 units of the text. */
  units: Uint16Array
  /** Where each line begins, and the end of the text. */
  starts: Int32Array
  /** One for each line: the same number for the same line, also of the text that was numbered with it. */
  numbers: Int32Array
}

/** UTF-16 units that are read before others may get their turn: milliseconds before they are compiled, then much less. A longer line is read at once. */
const UNITS_AT_ONCE = 16_384
/** Places of the table that are looked at for one line. */
const PROBES = 32
/** Lines of one hash and one length that are compared with one line, unit by unit. */
const COMPARED = 4
const NEWLINE = 10

/**
 * Numbers the lines of two texts.
 *
 * Lines that were written to collide in the table take no more time than others: a line that is not found after some tries has a number of
 * its own. It then counts as a line that the other text lacks, which makes the difference longer, and no less true.
 *
 * @returns `count`: how many numbers there are, from 0 on
 */
export async function numberLines(
  before: string,
  after: string,
  turn: Turn,
): Promise<{ before: NumberedLines; after: NumberedLines; count: number }> {
  const [old, new_] = [await splitLines(before, turn), await splitLines(after, turn)]
  const known = new KnownLines(old, new_)
  for (const lines of [old, new_]) {
    for (let at = 0; at < lines.numbers.length; ) {
      at = known.number(lines, at)
      await turn()
    }
  }
  return { before: old, after: new_, count: known.count }
}

/** The lines of a text, which have no numbers yet. */
async function splitLines(text: string, turn: Turn): Promise<NumberedLines> {
  const units = unitsOf(text)
  const counter = { lines: 0 }
  await eachPart(units.length, turn, (from, until) => {
    for (let at = from; at < until; at++) if (units[at] === NEWLINE) counter.lines++
  })
  const count = counter.lines + (units.length > 0 && units[units.length - 1] !== NEWLINE ? 1 : 0)
  const starts = new Int32Array(count + 1)
  const next = { line: 1 }
  await eachPart(units.length, turn, (from, until) => {
    let { line } = next
    for (let at = from; at < until; at++) if (units[at] === NEWLINE) starts[line++] = at + 1
    next.line = line
  })
  starts[count] = units.length
  return { units, starts, numbers: new Int32Array(count) }
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  Buffer.from(units.buffer).write(text, 'utf16le')
  return units
}

async function eachPart(length: number, turn: Turn, see: (from: number, until: number) => void): Promise<void> {
  for (let from = 0; from < length; from += UNITS_AT_ONCE) {
    see(from, Math.min(length, from + UNITS_AT_ONCE))
    await turn()
  }
}

/** Different lines that a table has room for at first. */
const FIRST_LINES = 1_024
/** How much more room it gets when it is full. */
const GROWTH = 4

/** The different lines of two texts: a hash table with open addresses, which refers to the texts. It grows with them: most texts repeat lines. */
class KnownLines {
  count = 0
  readonly #first: Uint16Array
  readonly #second: Uint16Array
  /** Number of a line plus 1; 0 where a place is free. */
  #places = placesFor(FIRST_LINES)
  /** By the number of a line: its hash, and where it begins and ends. */
  #hashes = new Int32Array(FIRST_LINES)
  #starts = new Int32Array(FIRST_LINES)
  #ends = new Int32Array(FIRST_LINES)
  /** Of both texts: there are no more different ones. */
  readonly #lines: number
  /** Lines from this number on stand in the second text. */
  #firstOfSecond = Number.MAX_SAFE_INTEGER

  constructor(first: NumberedLines, second: NumberedLines) {
    this.#first = first.units
    this.#second = second.units
    this.#lines = first.numbers.length + second.numbers.length
  }

  /** Numbers lines of a text, from one on; those of the first text come first. @returns the first line that has no number yet */
  number({ units, starts, numbers }: NumberedLines, from: number): number {
    if (from === 0 && units === this.#second) this.#firstOfSecond = this.count
    const until = (starts[from] as number) + UNITS_AT_ONCE
    let line = from
    for (let start = starts[line] as number; line < numbers.length && start < until; line++) {
      const end = starts[line + 1] as number
      numbers[line] = this.#numberOf(units, start, end)
      start = end
    }
    return line
  }

  #numberOf(units: Uint16Array, start: number, end: number): number {
    const hash = hashOf(units, start, end)
    const places = this.#places
    const hashes = this.#hashes
    const mask = places.length - 1
    let compared = 0
    let isFree = false
    for (let probe = 0; probe < PROBES && compared < COMPARED; probe++) {
      const place = (hash + probe) & mask
      const known = (places[place] as number) - 1
      isFree = known < 0
      if (isFree) break
      if (hashes[known] !== hash) continue
      if (this.#isAt(known, units, start, end)) return known
      compared++
    }
    if (this.count === hashes.length) this.#grow()
    const number = this.count++
    this.#hashes[number] = hash
    this.#starts[number] = start
    this.#ends[number] = end
    if (isFree) this.#place(number)
    return number
  }

  /** A line for which no place is found is not found either. */
  #place(number: number): void {
    const places = this.#places
    const mask = places.length - 1
    const hash = this.#hashes[number] as number
    for (let probe = 0; probe < PROBES; probe++) {
      const place = (hash + probe) & mask
      if (places[place] !== 0) continue
      places[place] = number + 1
      return
    }
  }

  #grow(): void {
    const lines = Math.min(GROWTH * this.#hashes.length, this.#lines)
    this.#hashes = grown(this.#hashes, lines)
    this.#starts = grown(this.#starts, lines)
    this.#ends = grown(this.#ends, lines)
    this.#places = placesFor(lines)
    for (let number = 0; number < this.count; number++) this.#place(number)
  }

  #isAt(known: number, units: Uint16Array, start: number, end: number): boolean {
    const other = known < this.#firstOfSecond ? this.#first : this.#second
    const shift = (this.#starts[known] as number) - start
    if ((this.#ends[known] as number) - end !== shift) return false
    for (let at = start; at < end; at++) if (other[at + shift] !== units[at]) return false
    return true
  }
}

/** At least twice as many as lines. */
function placesFor(lines: number): Int32Array<ArrayBuffer> {
  return new Int32Array(2 ** Math.ceil(Math.log2(2 * lines + 2)))
}

/** FNV-1a over UTF-16 units, with its bits mixed at the end. */
function hashOf(units: Uint16Array, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (units[at] as number), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}

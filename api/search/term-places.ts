import { analyze } from '#core/search/analyze.ts'

/** A term of the analyzer, and how much it tells. */
export interface WeightedTerm {
  term: string
  weight: number
}

/** Terms prepared for looking them up in texts. */
export interface TermFinder {
  terms: readonly WeightedTerm[]
  /** By the first folded unit of the term. */
  byFirst: ReadonlyMap<number, readonly Sought[]>
  /** 1 for the two units that terms begin with, by `beginningOf`. */
  beginnings: Uint8Array
}

/** Where terms stand in a text, in order of `starts`: UTF-16 units, `ends` exclusive, `numbers` of the terms. */
export interface TermPlaces {
  starts: number[]
  ends: number[]
  numbers: number[]
}

interface Sought {
  number: number
  /** The units that every word of the term begins with. */
  units: readonly number[]
  isPaired: boolean
}

/** Texts are looked through this far. UTF-16 units. */
export const FINDER_UNITS = 64 * 1024
/** More words than a query has. */
const SOUGHT_WORDS = 64
const BEGINNINGS = 4096

export function prepareTerms(terms: readonly WeightedTerm[]): TermFinder {
  const byFirst = new Map<number, Sought[]>()
  const beginnings = new Uint8Array(BEGINNINGS)
  let words = 0
  for (const [number, { term }] of terms.entries()) {
    const isPaired = kindOf(unitEntry(term.charCodeAt(0))) === PAIRED || isSurrogate(term.charCodeAt(0))
    if (term === '' || (!isPaired && ++words > SOUGHT_WORDS)) continue
    // `policy` stands for `policies` as well.
    const stem = !isPaired && term.length > 3 && term.endsWith('y') ? term.slice(0, -1) : term
    const units = Array.from({ length: stem.length }, (_, index) => stem.charCodeAt(index))
    const first = units[0] ?? 0
    const others = byFirst.get(first)
    if (others) others.push({ number, units, isPaired })
    else byFirst.set(first, [{ number, units, isPaired }])
    if (units.length === 1) beginnings.fill(1)
    else beginnings[beginningOf(first, units[1] ?? 0)] = 1
  }
  return { terms, byFirst, beginnings }
}

/**
 * The places where the terms seem to stand: beginnings of words, of parts of identifiers, and pairs of characters.
 * Fast rather than exact: a word that only looks like the plural of a term is a place too.
 */
export function findPlaces(finder: TermFinder, text: string): TermPlaces {
  const places: TermPlaces = { starts: [], ends: [], numbers: [] }
  const { beginnings } = finder
  const length = Math.min(text.length, FINDER_UNITS)
  unitBytes.write(text, 'utf16le')
  units[length] = 0x20
  let entry = OTHER << 16
  for (let index = 0; index <= length; index++) {
    const unit = units[index] as number
    const next = (unitEntries[unit] as number) || unitEntry(unit)
    if (beginnings[beginningOf(entry, next)] === 1 || entry >= SPELLED_OUT) addPlaces(places, finder, text, index - 1, entry)
    entry = next
  }
  return places
}

/** A number below `BEGINNINGS` for two units that follow each other. */
function beginningOf(first: number, second: number): number {
  return ((first << 5) ^ second) & (BEGINNINGS - 1)
}

/** Copied into before looking through: reading characters of strings one by one is several times slower. */
const units = new Uint16Array(FINDER_UNITS + 1)
const unitBytes = Buffer.from(units.buffer)

/** Whether the analyzer finds the term at a place of the text. */
export function isTermAt(text: string, start: number, end: number, term: string): boolean {
  if (kindOf(unitEntry(text.charCodeAt(start))) === PAIRED && term.length <= 2) return true
  const from = text.lastIndexOf(' ', start) + 1
  const space = text.indexOf(' ', end)
  let isFound = false
  analyze(text.slice(from, space < 0 ? text.length : space), found => {
    isFound ||= found === term
  })
  return isFound
}

function addPlaces(places: TermPlaces, finder: TermFinder, text: string, index: number, entry: number): void {
  const sought = finder.byFirst.get(entry & 0xffff)
  if (sought === undefined || !isStart(text, index, kindOf(entry))) return
  for (const { number, units, isPaired } of sought) {
    const end = endOfUnits(text, index, units)
    if (end < 0 || !(isPaired || endsWord(text, end))) continue
    places.starts.push(index)
    places.ends.push(end)
    places.numbers.push(number)
  }
}

function isStart(text: string, index: number, kind: number): boolean {
  if (kind === PAIRED || index === 0) return true
  let previous = kindOf(unitEntry(text.charCodeAt(index - 1)))
  if (previous === MARK && index > 1) previous = kindOf(unitEntry(text.charCodeAt(index - 2)))
  if (previous === OTHER || previous === PAIRED) return true
  if (kind !== UPPER) return false
  return previous === LOWER || kindOf(unitEntry(text.charCodeAt(index + 1))) === LOWER
}

/** The end of the text that folds to the units, or -1. */
function endOfUnits(text: string, start: number, units: readonly number[]): number {
  let index = start
  let matched = 0
  while (matched < units.length) {
    if (index >= text.length) return -1
    const unit = text.charCodeAt(index++)
    const entry = unitEntry(unit)
    if (kindOf(entry) === MARK) continue
    if ((entry & 0xffff) !== units[matched++]) return -1
    const rest = spelledOut.get(unit)
    if (rest === undefined) continue
    for (const further of rest) {
      if (matched < units.length && further !== units[matched++]) return -1
    }
  }
  return index
}

/** A word ends here, or its plural does. */
function endsWord(text: string, end: number): boolean {
  for (let index = end; index < end + PLURAL_UNITS; index++) {
    if (index >= text.length) return true
    const entry = unitEntry(text.charCodeAt(index))
    const kind = kindOf(entry)
    if (kind === OTHER || kind === PAIRED) return true
    if (kind === UPPER && index > 0) {
      const isBorder = [text.charCodeAt(index - 1), text.charCodeAt(index + 1)].some(near => kindOf(unitEntry(near)) === LOWER)
      if (isBorder) return true
    }
    const folded = entry & 0xffff
    if (kind !== MARK && folded !== 0x73 && folded !== 0x65 && folded !== 0x69 && folded !== 0x79) return false
  }
  return false
}

/** Behind a stem stand at most `ies` and one mark. */
const PLURAL_UNITS = 5

// Kinds of units, as the analyzer treats them
const OTHER = 1
const LOWER = 2
const UPPER = 3
const DIGIT = 4
const PAIRED = 5
/** Folded away. */
const MARK = 6

/** Set in the entry of a unit that is folded to several. */
const SPELLED_OUT = 1 << 20

/** Filled as units are met: the kind, and in the low half what the unit is folded to. */
const unitEntries = new Uint32Array(0x10000)
/** What follows the first folded unit: `ß` is `ss`. */
const spelledOut = new Map<number, readonly number[]>()

function kindOf(entry: number): number {
  return (entry >>> 16) & 0xf
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function unitEntry(unit: number): number {
  if (Number.isNaN(unit)) return OTHER << 16
  const known = unitEntries[unit] as number
  if (known !== 0) return known
  const entry = isSurrogate(unit) ? (PAIRED << 16) | unit : learnUnit(unit)
  unitEntries[unit] = entry
  return entry
}

function learnUnit(unit: number): number {
  const character = String.fromCharCode(unit)
  let term = ''
  let kind = ''
  analyze(character, (found, foundKind) => {
    term ||= found
    kind ||= foundKind
  })
  if (term === '') return ((/\p{M}/u.test(character) ? MARK : OTHER) << 16) | unit
  if (term.length > 1) {
    spelledOut.set(
      unit,
      Array.from({ length: term.length - 1 }, (_, index) => term.charCodeAt(index + 1)),
    )
  }
  const folded = term.charCodeAt(0) | (term.length > 1 ? SPELLED_OUT : 0)
  if (kind === 'pair') return (PAIRED << 16) | folded
  if (/\p{N}/u.test(character)) return (DIGIT << 16) | folded
  return ((/[\p{Lu}\p{Lt}]/u.test(character) ? UPPER : LOWER) << 16) | folded
}

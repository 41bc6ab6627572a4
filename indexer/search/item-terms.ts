import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { Analyzer, isStopWord, type TermKind } from '#core/search/analyze.ts'
import { TITLE_LENGTH_MAX } from '#core/search/head.ts'
import { IMPACT_MAX, PLACE, type Place, packPosting } from '#core/search/postings.ts'
import { cutAtBytes } from '#core/text.ts'
import type { SearchInput } from './input.ts'

/** The weight of a field of an item, and how its length reduces it. */
interface Field {
  weight: number
  /** Share of the weight that falls with the length of the text. */
  lengthShare: number
  /** Length in terms at which a term has its full weight. A constant, not an average: the postings of a file depend on that file alone. */
  usualLength: number
  place: Place
}

const FIELDS = {
  title: { weight: 8, lengthShare: 0.3, usualLength: 3, place: PLACE.title },
  description: { weight: 4, lengthShare: 0.4, usualLength: 20, place: PLACE.named },
  keywords: { weight: 3, lengthShare: 0.4, usualLength: 6, place: PLACE.named },
  path: { weight: 2.5, lengthShare: 0.3, usualLength: 7, place: PLACE.named },
  headings: { weight: 2, lengthShare: 0.5, usualLength: 40, place: PLACE.named },
  body: { weight: 1, lengthShare: 0.6, usualLength: 600, place: PLACE.body },
} as const satisfies Record<string, Field>

/** Weighted occurrences at which the impact is half of `IMPACT_MAX`. */
const SATURATION = 2

/** Different terms of a field that are searched; later ones are not. */
export const FIELD_TERMS = 8_192

/**
 * Calls `visit` once for every different term of the item with its number and its posting (see `packPosting`), in order of appearance.
 *
 * Common English words are searched in titles only: elsewhere nearly every item has them.
 *
 * @param lexicon numbers the terms, and keeps those that are searched
 * @returns the number of different terms of the title, without whole identifiers and triples, at most `TITLE_LENGTH_MAX`
 */
export function visitItemTerms(
  { title, summary, path, kind, fields }: SearchInput,
  lexicon: Lexicon,
  visit: (term: number, posting: number) => void,
): number {
  const { name, description, keywords, headings, body } = fields
  const counts = new TermCounts(lexicon)
  try {
    const titleLength = counts.add(FIELDS.title, name === undefined || name === title ? title : `${name}\n${title}`)
    counts.add(FIELDS.description, description ?? summary)
    if (keywords !== undefined) counts.add(FIELDS.keywords, keywords)
    counts.add(FIELDS.path, pathWords(path, kind))
    if (headings !== undefined) counts.add(FIELDS.headings, headings)
    if (body !== undefined) counts.add(FIELDS.body, cutAtBytes(body, SEARCHED_FILE_BYTES))
    counts.visit(visit)
    return Math.min(titleLength, TITLE_LENGTH_MAX)
  } finally {
    counts.clear()
  }
}

// Reused for every item. Of the current item: a slot for each different term, with its number, weighted frequency and best place, and the slot of
// each number. Of the current field: occurrences by slot, and the slots it has touched.
const SLOTS = Object.keys(FIELDS).length * FIELD_TERMS
const NO_SLOT = 0
const numbers = new Uint32Array(SLOTS + 1)
const frequencies = new Float64Array(SLOTS + 1)
const places = new Uint8Array(SLOTS + 1)
const occurrences = new Uint32Array(SLOTS + 1)
const touched = new Uint32Array(FIELD_TERMS)
let slots = new Uint32Array(2 ** 14)

/** The terms of one item. Clear it before those of the next. */
class TermCounts {
  readonly #lexicon: Lexicon
  #size = 0

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon
  }

  /** Adds a field. @returns the number of its different terms, without whole identifiers and triples */
  add({ weight, lengthShare, usualLength, place }: Field, text: string): number {
    let length = 0
    let different = 0
    let differentPlain = 0
    const withStopWords = place === PLACE.title

    const visit = (term: Term, kind: TermKind) => {
      // An identifier counts as its parts, and a run of characters as its pairs.
      const isPlain = kind !== 'whole' && kind !== 'triple'
      if (isPlain) length++
      if (term.isStopWord && !withStopWords) return
      let slot = this.#slotOf(term)
      const before = slot === NO_SLOT ? 0 : (occurrences[slot] as number)
      if (before === 0) {
        if (different === FIELD_TERMS) return
        if (slot === NO_SLOT) slot = this.#newSlotOf(term)
        touched[different++] = slot
        if (isPlain) differentPlain++
      }
      occurrences[slot] = before + 1
    }
    // Not in bodies, where most terms would be triples.
    this.#lexicon.analyzer.analyze(text, visit, { triples: place !== PLACE.body })

    const norm = 1 - lengthShare + (lengthShare * roundLength(length)) / usualLength
    for (let index = 0; index < different; index++) {
      const slot = touched[index] as number
      frequencies[slot] = (frequencies[slot] as number) + (weight * (occurrences[slot] as number)) / norm
      if (place > (places[slot] as number)) places[slot] = place
      occurrences[slot] = 0
    }
    return differentPlain
  }

  visit(visit: (term: number, posting: number) => void): void {
    for (let slot = 1; slot <= this.#size; slot++) {
      visit(numbers[slot] as number, packPosting(impactOfFrequency(frequencies[slot] as number), places[slot] as Place))
    }
  }

  clear(): void {
    for (let slot = 1; slot <= this.#size; slot++) slots[numbers[slot] as number] = NO_SLOT
    frequencies.fill(0, 0, this.#size + 1)
    places.fill(0, 0, this.#size + 1)
    this.#size = 0
  }

  #slotOf(term: Term): number {
    const number = this.#lexicon.find(term)
    return number === NO_NUMBER ? NO_SLOT : (slots[number] ?? NO_SLOT)
  }

  /** @param term without a slot, see `#slotOf` */
  #newSlotOf(term: Term): number {
    const number = term.number === NO_NUMBER ? this.#lexicon.add(term) : term.number
    const slot = ++this.#size
    numbers[slot] = number
    if (number >= slots.length) {
      const grown = new Uint32Array(2 * number)
      grown.set(slots)
      slots = grown
    }
    slots[number] = slot
    return slot
  }
}

/** Rounds to three significant binary digits, so a small edit of a text keeps most of its postings. */
function roundLength(length: number): number {
  const step = 2 ** Math.max(0, 29 - Math.clz32(length))
  return Math.round(length / step) * step
}

function impactOfFrequency(frequency: number): number {
  return Math.max(1, Math.round((IMPACT_MAX * frequency) / (SATURATION + frequency)))
}

/** The words of a path, without the name `SKILL.md` of a skill. */
function pathWords(path: string, kind: SearchInput['kind']): string {
  const words = kind === 'skill' ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : path
  return words.replaceAll('/', ' ')
}

/** A term of a text. The occurrences of a word share one while the analyzer remembers the word, and get another with the same number afterwards. */
export class Term {
  readonly text: string
  readonly isStopWord: boolean
  /** In the lexicon that made it; `NO_NUMBER`: not known yet. */
  number = NO_NUMBER

  constructor(text: string) {
    this.text = text
    this.isStopWord = isStopWord(text)
  }
}

export const NO_NUMBER = -1

/** Numbers the different terms of many items, in order of appearance from 0. A term that was found once is not looked up by its text again. */
export class Lexicon {
  readonly analyzer = new Analyzer(text => new Term(text))
  readonly #numbers = new Map<string, number>()

  get size(): number {
    return this.#numbers.size
  }

  texts(): Iterable<string> {
    return this.#numbers.keys()
  }

  /** `NO_NUMBER` when the term was not added. */
  find(term: Term): number {
    if (term.number === NO_NUMBER) term.number = this.#numbers.get(term.text) ?? NO_NUMBER
    return term.number
  }

  /** @returns the number of a term that was not found */
  add(term: Term): number {
    term.number = this.#numbers.size
    this.#numbers.set(ownCopy(term.text), term.number)
    return term.number
  }
}

/** A slice of a long string keeps that string in memory; a copy does not. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

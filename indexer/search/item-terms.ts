import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { analyze, isStopWord, type TermKind } from '#core/search/analyze.ts'
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
 * Calls `visit` once for every different term of the item with its posting (see `packPosting`), in order of appearance.
 * A term may be a slice that keeps a long string in memory: copy terms to keep.
 *
 * Common English words are searched in titles only: elsewhere nearly every item has them.
 *
 * @returns the number of different terms of the title, without whole identifiers and triples, at most `TITLE_LENGTH_MAX`
 */
export function visitItemTerms(item: SearchInput, visit: (term: string, posting: number) => void): number {
  const { title, summary, fields } = item
  const { name, description, keywords, headings, body } = fields
  const titleLength = addField(FIELDS.title, name === undefined || name === title ? title : `${name}\n${title}`)
  addField(FIELDS.description, description ?? summary)
  if (keywords !== undefined) addField(FIELDS.keywords, keywords)
  addField(FIELDS.path, pathWords(item))
  if (headings !== undefined) addField(FIELDS.headings, headings)
  if (body !== undefined) addField(FIELDS.body, cutAtBytes(body, SEARCHED_FILE_BYTES))

  try {
    for (const [term, slot] of slots) {
      visit(term, packPosting(impactOfFrequency(frequencies[slot] ?? 0), (places[slot] ?? 0) as Place))
    }
  } finally {
    frequencies.fill(0, 0, slots.size)
    places.fill(0, 0, slots.size)
    slots.clear()
  }
  return Math.min(titleLength, TITLE_LENGTH_MAX)
}

// Reused for every item. Of the current item: a slot for each different term, with its weighted frequency and best place. Of the current
// field: occurrences by slot, and the slots it has touched.
const SLOTS = Object.keys(FIELDS).length * FIELD_TERMS
const NO_SLOT = -1
const slots = new Map<string, number>()
const frequencies = new Float64Array(SLOTS)
const places = new Uint8Array(SLOTS)
const occurrences = new Uint32Array(SLOTS)
const touched = new Uint32Array(FIELD_TERMS)

/** Adds a field to the slots. @returns the number of its different terms, without whole identifiers and triples */
function addField({ weight, lengthShare, usualLength, place }: Field, text: string): number {
  let length = 0
  let different = 0
  let differentPlain = 0
  const withStopWords = place === PLACE.title

  const visit = (term: string, kind: TermKind) => {
    // An identifier counts as its parts, and a run of characters as its pairs.
    const isPlain = kind !== 'whole' && kind !== 'triple'
    if (isPlain) length++
    let slot = slots.get(term) ?? NO_SLOT
    const before = slot === NO_SLOT ? 0 : (occurrences[slot] ?? 0)
    if (before === 0) {
      if (different === FIELD_TERMS || (!withStopWords && isStopWord(term))) return
      if (slot === NO_SLOT) {
        slot = slots.size
        slots.set(term, slot)
      }
      touched[different++] = slot
      if (isPlain) differentPlain++
    }
    occurrences[slot] = before + 1
  }
  // Not in bodies, where most terms would be triples.
  analyze(text, visit, { triples: place !== PLACE.body })

  const norm = 1 - lengthShare + (lengthShare * roundLength(length)) / usualLength
  for (let index = 0; index < different; index++) {
    const slot = touched[index] ?? 0
    frequencies[slot] = (frequencies[slot] ?? 0) + (weight * (occurrences[slot] ?? 0)) / norm
    if (place > (places[slot] ?? 0)) places[slot] = place
    occurrences[slot] = 0
  }
  return differentPlain
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
function pathWords({ path, kind }: SearchInput): string {
  const words = kind === 'skill' ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : path
  return words.replaceAll('/', ' ')
}

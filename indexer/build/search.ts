import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { analyze, isStopWord, type TermKind } from '#core/search/analyze.ts'
import { IMPACT_MAX, packPosting } from '#core/search/posting.ts'
import type { SearchItemRow, SearchSpellingRow, SearchTermRow } from '#core/snapshot/format.ts'
import { compareBytes, cutAtBytes } from '#core/text.ts'

/** One thing that find can name. */
export interface SearchInput {
  path: string
  kind: SearchItemRow['kind']
  /** `SKILL.md` path of the skill that a supporting file belongs to; its own path for a skill, `null` for a document. */
  owner: string | null
  title: string
  summary: string
  fields: SearchFields
}

/** Text to search besides title and path. A skill that is only described comes with name and description alone. */
export interface SearchFields {
  name?: string
  /** Default: the summary. */
  description?: string
  headings?: string
  /** Only its first `SEARCHED_FILE_BYTES` are searched. */
  body?: string
}

export interface SearchBuilder {
  /**
   * Takes one item; its text can be dropped afterwards. Items come in byte order of their paths.
   *
   * @throws RangeError when a path is out of order
   */
  add(item: SearchInput): void
  /**
   * The rows of the search tables, in byte order of their keys, and the owner of every item by number.
   * The rows of `terms` are made as they are taken: once, then the builder is spent.
   *
   * @throws RangeError when an owner was not added
   */
  finish(): SearchTables
}

export interface SearchTables {
  items: Iterable<readonly [path: string, row: SearchItemRow]>
  terms: Iterable<readonly [term: string, row: SearchTermRow]>
  spelling: Iterable<readonly [term: string, row: SearchSpellingRow]>
  /** The number of the skill that owns an item, its own number for a skill, -1 for a document. */
  owners: number[]
}

// Weight of a field, how much its length counts, and its usual length in terms. The lengths are constants of the format and not
// averages of a repository, so that the postings of a file follow from the file.
const FIELDS = {
  title: { weight: 8, lengthShare: 0.3, usualLength: 3 },
  description: { weight: 4, lengthShare: 0.4, usualLength: 20 },
  path: { weight: 2.5, lengthShare: 0.3, usualLength: 7 },
  headings: { weight: 2, lengthShare: 0.5, usualLength: 40 },
  body: { weight: 1, lengthShare: 0.6, usualLength: 600 },
} as const

const SATURATION = 2

/** Different terms of one field; what comes later in the file is not searched. */
const FIELD_TERMS = 8_192
/** Different terms of a repository; later ones are not searched. Fits the 20 bits of a term number. */
const VOCABULARY_TERMS = 2 ** 20
/** Postings of a repository; beyond, items are found by everything but their body. */
const BODY_POSTINGS = 2 ** 24

/** UTF-16 units of a word that a misspelled one may have meant. */
const SPELLED_UNITS = { min: 4, max: 32 }

const VALUE_BITS = 12
const CHUNK_POSTINGS = 2 ** 18

/**
 * Collects the postings of a snapshot: 4 bytes each, and the vocabulary once. The same items give the same rows.
 *
 * Common English words are searched in titles only: elsewhere they stand in every item and order nothing.
 */
export function createSearchBuilder(): SearchBuilder {
  const items: (readonly [string, SearchItemRow])[] = []
  const ownerPaths: (string | null)[] = []
  const vocabulary = createVocabulary()
  const postings = createPostingLog()

  // Of the item at hand, by term number: occurrences in the field, weighted frequency so far, number of terms in a title that has it.
  let occurrences = new Uint32Array(1024)
  let frequencies = new Float64Array(1024)
  let inTitle = new Uint8Array(1024)
  // Of all items, by term number: a word that stands elsewhere than in bodies.
  let isSpelled = new Uint8Array(1024)
  const itemTerms: number[] = []
  const fieldTerms: number[] = []

  function reserve(terms: number): void {
    if (terms <= occurrences.length) return
    const size = 2 * occurrences.length
    occurrences = grown(occurrences, new Uint32Array(size))
    frequencies = grown(frequencies, new Float64Array(size))
    inTitle = grown(inTitle, new Uint8Array(size))
    isSpelled = grown(isSpelled, new Uint8Array(size))
  }

  function addField(field: keyof typeof FIELDS, text: string): void {
    const { weight, lengthShare, usualLength } = FIELDS[field]
    let length = 0
    analyze(text, (term, kind) => {
      if (kind !== 'whole') length++
      if (field !== 'title' && isStopWord(term)) return
      const isFull = fieldTerms.length === FIELD_TERMS
      const number = isFull ? vocabulary.find(term) : vocabulary.intern(term)
      if (number < 0) return
      reserve(number + 1)
      if (occurrences[number] === 0) {
        if (isFull) return
        fieldTerms.push(number)
      }
      occurrences[number] = (occurrences[number] ?? 0) + 1
      if (field !== 'body' && isSpelledWord(term, kind)) isSpelled[number] = 1
    })
    const norm = 1 - lengthShare + (lengthShare * length) / usualLength
    for (const number of fieldTerms) {
      const before = frequencies[number] ?? 0
      if (before === 0) itemTerms.push(number)
      frequencies[number] = before + (weight * (occurrences[number] ?? 0)) / norm
      if (field === 'title') inTitle[number] = Math.min(length, 255)
      occurrences[number] = 0
    }
    fieldTerms.length = 0
  }

  return {
    add({ path, kind, owner, title, summary, fields }) {
      const previous = items.at(-1)?.[0]
      if (previous !== undefined && compareBytes(previous, path) >= 0) {
        throw new RangeError(`search items out of order: ${previous}, ${path}`)
      }
      items.push([path, { kind, title, summary }])
      ownerPaths.push(kind === 'document' ? null : owner)

      const { name, description, headings, body } = fields
      addField('title', name === undefined || name === title ? title : `${name}\n${title}`)
      addField('description', description ?? summary)
      addField('path', pathWords(path, kind))
      if (headings !== undefined) addField('headings', headings)
      if (body !== undefined && postings.size() < BODY_POSTINGS) addField('body', cutAtBytes(body, SEARCHED_FILE_BYTES))

      for (const number of itemTerms) {
        postings.add(number, packPosting(impactOfFrequency(frequencies[number] ?? 0), inTitle[number] ?? 0))
        frequencies[number] = 0
        inTitle[number] = 0
      }
      itemTerms.length = 0
      postings.endItem()
    },

    finish() {
      const numbers = new Map(items.map(([path], number) => [path, number]))
      const owners = ownerPaths.map(path => {
        if (path === null) return -1
        const number = numbers.get(path)
        if (number === undefined) throw new RangeError(`search item without its skill: ${path}`)
        return number
      })
      const { terms, numbers: termNumbers } = vocabulary.takeSorted()
      const counts = postings.countByTerm(terms.length)
      const spelling = terms.flatMap((term, rank): [string, number][] => {
        const number = termNumbers[rank] ?? 0
        return isSpelled[number] === 1 ? [[term, counts[number] ?? 0]] : []
      })
      return { items, terms: termRows(terms, termNumbers, counts, postings), spelling, owners }
    },
  }
}

function impactOfFrequency(frequency: number): number {
  return Math.max(1, Math.round((IMPACT_MAX * frequency) / (SATURATION + frequency)))
}

function isSpelledWord(term: string, kind: TermKind): boolean {
  const isWord = kind === 'word' || kind === 'part'
  return isWord && term.length >= SPELLED_UNITS.min && term.length <= SPELLED_UNITS.max && !isStopWord(term)
}

/** The words of a path. The name `SKILL.md` tells nothing of a skill. */
function pathWords(path: string, kind: SearchItemRow['kind']): string {
  const words = kind === 'skill' ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : path
  return words.replaceAll('/', ' ')
}

interface Vocabulary {
  /** The number of a known term, or -1. */
  find(term: string): number
  /** The number of the term, which is new or known; -1 when the vocabulary is full. Numbers count from 0. */
  intern(term: string): number
  /** The terms in byte order, each with its number. Forgets them. */
  takeSorted(): { terms: string[]; numbers: Uint32Array }
}

function createVocabulary(): Vocabulary {
  const numbers = new Map<string, number>()
  let hasHighUnits = false

  return {
    find: term => numbers.get(term) ?? -1,
    intern(term) {
      const known = numbers.get(term)
      if (known !== undefined) return known
      if (numbers.size === VOCABULARY_TERMS) return -1
      const number = numbers.size
      hasHighUnits ||= /[\ud800-\uffff]/.test(term)
      numbers.set(ownCopy(term), number)
      return number
    },
    takeSorted() {
      // The order of UTF-16 units is the order of bytes up to the surrogates, and much faster to sort by.
      const terms = [...numbers.keys()].sort(hasHighUnits ? compareBytes : undefined)
      const sorted = Uint32Array.from(terms, term => numbers.get(term) ?? 0)
      numbers.clear()
      return { terms, numbers: sorted }
    },
  }
}

/** A piece of a long text keeps the whole text alive; a copy does not. */
function ownCopy(term: string): string {
  return Buffer.from(term, 'utf16le').toString('utf16le')
}

/** Postings in the order they came: term number and value in one unsigned word each. */
interface PostingLog {
  add(term: number, value: number): void
  endItem(): void
  size(): number
  /** How many postings each of the first `terms` terms has. */
  countByTerm(terms: number): Uint32Array
  /** Calls back for every posting, in order; forgets what it has passed. */
  drain(visit: (item: number, term: number, value: number) => void): void
}

function createPostingLog(): PostingLog {
  const chunks: (Uint32Array | null)[] = []
  const itemEnds: number[] = []
  let size = 0
  let chunk = new Uint32Array(0)

  return {
    add(term, value) {
      const at = size % CHUNK_POSTINGS
      if (at === 0) {
        chunk = new Uint32Array(CHUNK_POSTINGS)
        chunks.push(chunk)
      }
      chunk[at] = term * 2 ** VALUE_BITS + value
      size++
    },
    endItem() {
      itemEnds.push(size)
    },
    size: () => size,
    countByTerm(terms) {
      const counts = new Uint32Array(terms)
      for (let index = 0; index < size; index++) {
        const word = chunks[Math.floor(index / CHUNK_POSTINGS)]?.[index % CHUNK_POSTINGS] ?? 0
        const term = word >>> VALUE_BITS
        counts[term] = (counts[term] ?? 0) + 1
      }
      return counts
    },
    drain(visit) {
      let index = 0
      for (const [item, end] of itemEnds.entries()) {
        for (; index < end; index++) {
          const at = index % CHUNK_POSTINGS
          const chunkNumber = (index - at) / CHUNK_POSTINGS
          const word = chunks[chunkNumber]?.[at] ?? 0
          visit(item, word >>> VALUE_BITS, word % 2 ** VALUE_BITS)
          if (at === CHUNK_POSTINGS - 1) chunks[chunkNumber] = null
        }
      }
    },
  }
}

/** Rows by counting sort: each posting to its place behind those of the terms before; items stay in order. */
function* termRows(
  terms: readonly string[],
  numbers: Uint32Array,
  counts: Uint32Array,
  log: PostingLog,
): Generator<readonly [string, number[]]> {
  const ranks = new Uint32Array(terms.length)
  const next = new Uint32Array(terms.length)
  let start = 0
  for (const [rank, number] of numbers.entries()) {
    ranks[number] = rank
    next[rank] = start
    start += counts[number] ?? 0
  }
  const sorted = new Uint32Array(start)
  log.drain((item, term, value) => {
    const rank = ranks[term] ?? 0
    const place = next[rank] ?? 0
    sorted[place] = item * 2 ** VALUE_BITS + value
    next[rank] = place + 1
  })

  let from = 0
  for (const [rank, term] of terms.entries()) {
    const end = next[rank] ?? from
    const row: number[] = []
    for (; from < end; from++) {
      const word = sorted[from] ?? 0
      row.push(word >>> VALUE_BITS, word % 2 ** VALUE_BITS)
    }
    if (row.length > 0) yield [term, row]
  }
}

function grown<Values extends Uint8Array | Uint32Array | Float64Array>(from: Values, to: Values): Values {
  to.set(from)
  return to
}

import { hash } from 'node:crypto'
import { createYielder } from '#core/concurrency/yielding.ts'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { type Bytes, ByteWriter } from '#core/search/bytes.ts'
import { FINGERPRINT_BYTES, ITEM_KIND, type ItemKind, type SearchHead } from '#core/search/head.ts'
import { isShownPlace, isTestPlace } from '#core/skill-places.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { SEARCH_VERSION } from '#core/snapshot/versions.ts'
import { compareBytes, cutAtBytes } from '#core/text.ts'
import { isMarkdown } from '../rules/content-kind.ts'
import { type Originals, type SearchInput, withText } from './input.ts'
import { visitItemTerms } from './item-terms.ts'
import { mergeTerms, type TermSource } from './merge.ts'
import type { SectionPlace } from './page-stream.ts'
import { PostingRun, RUN_POSTINGS } from './posting-run.ts'
import type { PreviousSection } from './previous.ts'
import { openScratchFile, readRun, type Scratch, type StoredRun, storeRun } from './scratch.ts'
import { SectionWriter } from './section-writer.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, clearPostings, compareTerms, createTermPostings, interleave, type TermPostings } from './term-postings.ts'

/** Builds the search section of one commit. The same items give the same bytes, with or without a previous section. */
export interface SearchBuilder {
  /**
   * Adds one item; its text may be freed afterwards. Items come in byte order of their paths.
   * Returns a promise only if the next item has to wait for it.
   *
   * @throws RangeError when a path is out of order
   */
  add(item: SearchInput): void | Promise<void>
  /**
   * Writes the section and resolves with its location; `null` when there are no items. Call it once.
   *
   * @param originals default: no skill is a copy
   * @throws RangeError when a supporting file came without its skill
   */
  finish(originals?: Originals): Promise<SearchSection | null>
  /** Removes the scratch file, after `finish` or instead of it. */
  close(): Promise<void>
}

export interface SearchBuilderOptions {
  /** Unchanged items are taken from there. */
  previous?: PreviousSection | null
  /** Its reason is thrown between the steps of long walks. */
  signal?: AbortSignal
  /** Postings held in memory. */
  runPostings?: number
  /** Opens the place for postings that exceed memory. */
  openScratch?: () => Promise<Scratch>
}

export function createSearchBuilder(place: SectionPlace, options: SearchBuilderOptions = {}): SearchBuilder {
  const { previous = null, signal, runPostings = RUN_POSTINGS, openScratch = openScratchFile } = options
  const section = new SectionWriter(place, previous)
  const items = new ItemList()
  const unchanged = previous && new UnchangedItems(previous)
  const run = new PostingRun(runPostings)
  const spilled = new SpilledRuns(openScratch)
  const yieldIfDue = createYielder(signal)

  return {
    add(item) {
      const fingerprint = fingerprintOf(item)
      const number = items.next(item)
      const place = (titleLength: number) => {
        items.add(item, fingerprint, titleLength)
        const { path, title, summary, text } = item
        section.addItem({ path, title, summary, text })
        return run.isFull ? spilled.add(run.take(), yieldIfDue) : undefined
      }
      const analyse = (whole: SearchInput) =>
        place(visitItemTerms(whole, run.lexicon, (term, posting) => run.add(number, term, posting)))
      const known = unchanged?.take(fingerprint, number)
      if (known != null) return place(known)
      const whole = withText(item)
      return whole instanceof Promise ? whole.then(analyse) : analyse(whole)
    },
    async finish(originals = new Map()) {
      const { fingerprints, ...numbered } = items.finish(originals)
      if (numbered.kinds.length === 0) return null
      const changed = mergeTerms([...spilled.read(), run.take()])
      const numbers = unchanged?.numbers ?? NO_NUMBERS
      await writeTerms(section, { earlier: previous?.terms() ?? [], numbers, changed }, yieldIfDue)
      return section.finish(numbered, fingerprints)
    },
    close: () => spilled.close(),
  }
}

const NO_NUMBERS = new Int32Array(0)

/** Finds the items of the previous section that did not change, and notes their new numbers. */
class UnchangedItems {
  /** The new number of each previous item; -1: it changed or is gone. */
  readonly numbers: Int32Array
  readonly #previous: PreviousSection
  #last = -1

  constructor(previous: PreviousSection) {
    this.numbers = new Int32Array(previous.items).fill(-1)
    this.#previous = previous
  }

  /** The title length of the item with this fingerprint, which now has this number; `undefined` when it changed. */
  take(fingerprint: Uint8Array, number: number): number | undefined {
    const item = this.#previous.find(fingerprint)
    // Previous numbers must grow: the merge of the terms relies on it, and paths keep their order from commit to commit.
    if (item <= this.#last) return undefined
    this.numbers[item] = number
    this.#last = item
    return this.#previous.titleLength(item)
  }
}

/** Runs that exceeded memory, in a scratch file that is opened for the first of them. */
class SpilledRuns {
  readonly #openScratch: () => Promise<Scratch>
  readonly #runs: StoredRun[] = []
  #scratch: Scratch | null = null

  constructor(openScratch: () => Promise<Scratch>) {
    this.#openScratch = openScratch
  }

  async add(terms: TermSource, yieldIfDue: () => Promise<void> | undefined): Promise<void> {
    this.#scratch ??= await this.#openScratch()
    this.#runs.push(await storeRun(this.#scratch, terms, yieldIfDue))
  }

  read(): TermSource[] {
    return this.#runs.map(run => readRun(this.#scratch as Scratch, run))
  }

  async close(): Promise<void> {
    await this.#scratch?.close()
    this.#scratch = null
  }
}

/**
 * A hash of everything that decides the postings and the title length of an item. Two items with the same fingerprint have the same postings
 * and title length, whichever commits they are in.
 */
export function fingerprintOf({ path, kind, title, summary, fields }: SearchInput): Uint8Array {
  const { name, description, keywords, headings, body, blob } = fields
  const texts = [path, title, summary, name, description, keywords]
  if (blob === undefined) texts.push(headings, hashOfBody(body))
  else texts.push(blob)
  // The lengths keep the texts apart.
  let lengths = ''
  let joined = ''
  for (const text of texts) {
    lengths += ` ${text?.length ?? '-'}`
    joined += text ?? ''
  }
  return hash('sha256', `${SEARCH_VERSION} ${kind}${lengths}\n${joined}`, 'buffer').subarray(0, FINGERPRINT_BYTES)
}

// Hashed by itself: joining the body with the other texts would copy it.
function hashOfBody(body: string | undefined): string | undefined {
  return body === undefined ? undefined : hash('sha256', cutAtBytes(body, SEARCHED_FILE_BYTES))
}

/** The items of a section in order: their numbers, and what its head holds of each. */
class ItemList {
  readonly #kinds = new ByteWriter()
  readonly #asides = new ByteWriter()
  readonly #titleLengths = new ByteWriter()
  readonly #fingerprints = new ByteWriter()
  readonly #owners = new OwnerList()
  /** The numbers of the skills, by path. */
  readonly #skills = new Map<string, number>()
  #lastPath: string | null = null

  /** The number of the next item. @throws RangeError when its path does not come after that of the item before */
  next({ path }: SearchInput): number {
    if (this.#lastPath !== null && compareBytes(this.#lastPath, path) >= 0) {
      throw new RangeError(`search items out of order: ${this.#lastPath}, ${path}`)
    }
    this.#lastPath = path
    return this.#kinds.length
  }

  add(item: SearchInput, fingerprint: Uint8Array, titleLength: number): void {
    if (item.kind === 'skill') this.#skills.set(item.path, this.#kinds.length)
    this.#owners.add(item)
    this.#kinds.byte(kindOf(item))
    this.#asides.byte(isAside(item) ? 1 : 0)
    this.#titleLengths.byte(titleLength)
    this.#fingerprints.bytes(fingerprint)
  }

  /** @throws RangeError when the skill of a supporting file is not an item */
  finish(
    originals: Originals,
  ): Pick<SearchHead, 'kinds' | 'titleLengths' | 'owners' | 'asides' | 'copies'> & { fingerprints: Uint8Array } {
    return {
      kinds: this.#kinds.finish(),
      asides: this.#asides.finish(),
      copies: this.#copiesOf(originals),
      titleLengths: this.#titleLengths.finish(),
      fingerprints: this.#fingerprints.finish(),
      owners: this.#owners.finish(),
    }
  }

  /** Of copies and originals that are items. */
  #copiesOf(originals: Originals): ReadonlyMap<number, number> {
    const copies = [...this.#skills].flatMap(([path, item]): [number, number][] => {
      const original = this.#skills.get(originals.get(path) ?? path)
      return original === undefined || original === item ? [] : [[item, original]]
    })
    return new Map(copies)
  }
}

/** For each item, the number of the skill that owns it; -1 for a document. */
class OwnerList {
  // A supporting file may come before its skill, so skills also have numbers by first mention.
  readonly #mentions = new Map<string, number>()
  readonly #itemsByMention: number[] = []
  #mentionsByItem = new Int32Array(1024)
  #items = 0

  add({ path, kind, owner }: SearchInput): void {
    if (this.#items === this.#mentionsByItem.length) this.#grow()
    const ownerPath = kind === 'skill' ? path : kind === 'document' ? null : owner
    const mention = ownerPath === null ? -1 : this.#mention(ownerPath)
    if (kind === 'skill') this.#itemsByMention[mention] = this.#items
    this.#mentionsByItem[this.#items++] = mention
  }

  /** @throws RangeError when a skill was mentioned and never added */
  finish(): Int32Array {
    for (const [path, mention] of this.#mentions) {
      if (this.#itemsByMention[mention] === -1) throw new RangeError(`search item without its skill: ${path}`)
    }
    return this.#mentionsByItem.slice(0, this.#items).map(mention => this.#itemsByMention[mention] ?? -1)
  }

  #mention(path: string): number {
    const known = this.#mentions.get(path)
    if (known !== undefined) return known
    this.#mentions.set(path, this.#itemsByMention.length)
    return this.#itemsByMention.push(-1) - 1
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#items)
    grown.set(this.#mentionsByItem)
    this.#mentionsByItem = grown
  }
}

function kindOf({ kind, path }: SearchInput): ItemKind {
  if (kind === 'supporting') return isMarkdown(path) ? ITEM_KIND.page : ITEM_KIND.file
  return ITEM_KIND[kind]
}

function isAside({ kind, path }: SearchInput): boolean {
  return kind === 'skill' ? isShownPlace(path) : kind === 'document' && isTestPlace(path)
}

/** The terms of a commit: those of an earlier section, overlaid by the terms of changed items. */
interface OverlaidTerms {
  /** The terms of the earlier section, in byte order of their names. */
  earlier: Iterable<StoredTerms>
  /** The new number of each earlier item, growing; -1: the item changed or is gone. */
  numbers: Int32Array
  /** The terms of all other items, in the same order. */
  changed: TermSource
}

type TermTarget = Pick<SectionWriter, 'addTerm' | 'takeTerm'>

/** Writes the terms of a commit. Most come from the earlier section alone, and are copied as they are. */
export async function writeTerms(
  section: TermTarget,
  terms: OverlaidTerms,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<void> {
  const overlay = new Overlay(section, terms, yieldIfDue)
  await terms.changed.next()
  for (const stored of terms.earlier) {
    while (stored.next()) {
      let order = overlay.orderOfChanged(stored.term)
      for (; order < 0; order = overlay.orderOfChanged(stored.term)) {
        const waiting = overlay.writeChanged()
        if (waiting) await waiting
      }
      const waiting = overlay.writeStored(stored, order === 0)
      if (waiting) await waiting
    }
    const waiting = yieldIfDue()
    if (waiting) await waiting
  }
  while (terms.changed.current !== null) {
    const waiting = overlay.writeChanged()
    if (waiting) await waiting
  }
}

/** Reading the clock for every term would take a tenth of the time. */
const TERMS_AT_ONCE = 256

/** Its steps return a promise only where one must be awaited: awaiting every term would take longer than merging it. */
class Overlay {
  readonly #section: TermTarget
  readonly #numbers: Int32Array
  readonly #changed: TermSource
  readonly #yieldIfDue: () => Promise<void> | undefined
  readonly #kept = createTermPostings()
  readonly #joined = createTermPostings()
  #changedTerms = 0

  constructor(section: TermTarget, { numbers, changed }: OverlaidTerms, yieldIfDue: () => Promise<void> | undefined) {
    this.#section = section
    this.#numbers = numbers
    this.#changed = changed
    this.#yieldIfDue = yieldIfDue
  }

  /** Compares the next changed term with this one; after the last changed term it is 1. */
  orderOfChanged(term: Bytes): number {
    const { current } = this.#changed
    return current === null ? 1 : compareTerms(current.term, term)
  }

  /** Writes the next changed term, or its join with a stored one, and goes on to the one after it. */
  writeChanged(postings: TermPostings | null = this.#changed.current): Promise<void> | undefined {
    const writing = postings === null ? undefined : this.#section.addTerm(postings)
    const waiting = writing ? writing.then(() => this.#changed.next()) : this.#changed.next()
    return waiting ?? (++this.#changedTerms % TERMS_AT_ONCE === 0 ? this.#yieldIfDue() : undefined)
  }

  /** Writes a stored term with the postings of unchanged items; `isChanged`: joined with the next changed term, which has the same name. */
  writeStored(stored: StoredTerms, isChanged: boolean): Promise<void> | undefined {
    if (!isChanged && this.#section.takeTerm(stored, this.#numbers)) return undefined
    const kept = this.#kept
    clearPostings(kept)
    kept.term = stored.term
    addRenumbered(kept, stored.bytes, stored.list, this.#numbers)
    if (!isChanged) return kept.items > 0 ? this.#section.addTerm(kept) : undefined
    const changed = this.#changed.current as TermPostings
    return this.writeChanged(kept.items > 0 ? interleave(kept, changed, this.#joined) : changed)
  }
}

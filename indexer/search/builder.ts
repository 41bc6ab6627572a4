import { createTurns } from '#core/concurrency/turns.ts'
import { ByteWriter } from '#core/search/bytes.ts'
import { ITEM_KIND, type ItemKind } from '#core/search/head.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { isMarkdown } from '../rules/content-kind.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { SearchInput } from './input.ts'
import { visitItemTerms } from './item-terms.ts'
import { mergeTerms } from './merge.ts'
import { writeTerms } from './overlay.ts'
import type { PreviousSection } from './previous.ts'
import { createPostingRun, RUN_POSTINGS } from './run.ts'
import { openScratchFile, type Scratch } from './scratch.ts'
import { createSectionWriter, type SectionPlace } from './section-writer.ts'
import { readRun, type StoredRun, storeRun } from './stored-run.ts'

/** Builds the search section of one commit. The same items give the same bytes, whatever is known of them from before. */
export interface SearchBuilder {
  /**
   * Takes one item; its text can be dropped afterwards. Items come in byte order of their paths.
   * Where there is a promise, wait for it before the next item.
   *
   * @throws RangeError when a path is out of order
   */
  add(item: SearchInput): void | Promise<void>
  /**
   * Writes the section, and says where it lies; `null` when there are no items. Then the builder is spent.
   *
   * @throws RangeError when a supporting file came without its skill
   */
  finish(): Promise<SearchSection | null>
  /** Gives up what is held outside of memory, after `finish` or in place of it. */
  close(): Promise<void>
}

export interface SearchBuilderOptions {
  /** Where items that did not change are taken from. */
  previous?: PreviousSection | null
  /** Its reason is thrown between the steps of long walks. */
  signal?: AbortSignal
  /** Postings that are held in memory. */
  runPostings?: number
  /** Where those go that are not. */
  openScratch?: () => Promise<Scratch>
}

export function createSearchBuilder(place: SectionPlace, options: SearchBuilderOptions = {}): SearchBuilder {
  const { previous = null, signal, runPostings = RUN_POSTINGS, openScratch = openScratchFile } = options
  const section = createSectionWriter(place, previous)
  const items = createItemList()
  const run = createPostingRun(runPostings)
  const turn = createTurns(signal)
  const storedRuns: StoredRun[] = []
  let scratch: Scratch | null = null

  // By the number that an item had before: the number that it has now.
  const numbers = new Int32Array(previous?.items ?? 0).fill(-1)
  let lastKnown = -1

  /** The number that an item had before when nothing of it that is searched has changed, else -1. */
  function knownNumber(fingerprint: Uint8Array): number {
    const known = previous?.find(fingerprint) ?? -1
    // Paths keep their order from commit to commit, so the numbers of known items grow: the merge relies on it.
    return known > lastKnown ? known : -1
  }

  function addPostings(item: SearchInput, number: number, fingerprint: Uint8Array): number {
    const known = knownNumber(fingerprint)
    if (previous === null || known < 0) return visitItemTerms(item, (term, posting) => run.add(number, term, posting))
    numbers[known] = number
    lastKnown = known
    return previous.titleLength(known)
  }

  async function storePostings(): Promise<void> {
    scratch ??= await openScratch()
    storedRuns.push(await storeRun(scratch, run.take(), turn))
  }

  return {
    add(item) {
      const fingerprint = fingerprintOf(item)
      const number = items.next(item)
      items.add(item, fingerprint, addPostings(item, number, fingerprint))
      const { path, title, summary, text } = item
      section.addItem({ path, title, summary, text })
      return run.isFull ? storePostings() : undefined
    },
    async finish() {
      const { fingerprints, ...numbered } = items.finish()
      if (numbered.kinds.length === 0) return null
      const changed = mergeTerms([...storedRuns.map(stored => readRun(scratch as Scratch, stored)), run.take()])
      await writeTerms(section, { earlier: previous?.terms() ?? [], numbers, changed }, turn)
      return section.finish(numbered, fingerprints)
    },
    async close() {
      await scratch?.close()
      scratch = null
    },
  }
}

/** What the head says of every item, some bytes each. */
function createItemList() {
  const kinds = new ByteWriter()
  const titleLengths = new ByteWriter()
  const fingerprints = new ByteWriter()
  let previousPath: string | null = null
  // Skills are numbered twice: as they are first named, which is before or after their own turn, and as items.
  const skills = new Map<string, number>()
  const itemsOfSkills: number[] = []
  let owners = new Int32Array(1024)

  function skillOf(path: string): number {
    const known = skills.get(path)
    if (known !== undefined) return known
    skills.set(path, itemsOfSkills.length)
    return itemsOfSkills.push(-1) - 1
  }

  return {
    /** @throws RangeError */
    next({ path }: SearchInput): number {
      if (previousPath !== null && compareBytes(previousPath, path) >= 0) {
        throw new RangeError(`search items out of order: ${previousPath}, ${path}`)
      }
      previousPath = path
      return kinds.length
    },
    add({ path, kind, owner }: SearchInput, fingerprint: Uint8Array, titleLength: number): void {
      const number = kinds.length
      kinds.byte(kindOf(kind, path))
      titleLengths.byte(titleLength)
      fingerprints.bytes(fingerprint)
      if (number === owners.length) {
        const grown = new Int32Array(2 * number)
        grown.set(owners)
        owners = grown
      }
      const ownerPath = kind === 'skill' ? path : kind === 'document' ? null : owner
      const skill = ownerPath === null ? -1 : skillOf(ownerPath)
      if (kind === 'skill') itemsOfSkills[skill] = number
      owners[number] = skill
    },
    /** @throws RangeError */
    finish() {
      for (const [path, skill] of skills) {
        if (itemsOfSkills[skill] === -1) throw new RangeError(`search item without its skill: ${path}`)
      }
      return {
        kinds: kinds.finish(),
        titleLengths: titleLengths.finish(),
        fingerprints: fingerprints.finish(),
        owners: owners.slice(0, kinds.length).map(skill => itemsOfSkills[skill] ?? -1),
      }
    },
  }
}

function kindOf(kind: SearchInput['kind'], path: string): ItemKind {
  if (kind === 'supporting') return isMarkdown(path) ? ITEM_KIND.page : ITEM_KIND.file
  return ITEM_KIND[kind]
}

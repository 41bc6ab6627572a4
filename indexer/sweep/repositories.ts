import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { type KeyPart, REPOSITORY_CLASSES, REPOSITORY_PREFIXES, splitKey } from '#core/snapshot/store-keys.ts'

export interface Stores {
  blobs: BlobStore
  states: StateStore
}

/** The keys of everything stored for one repository. */
export interface StoredRepository {
  /** See `splitKey`. */
  place: string
  found: FoundKey[]
}

export interface FoundKey {
  key: string
  part: KeyPart
}

/** Keys of one page of a listing. */
const PAGE_KEYS = 1_000

/**
 * The repositories of a store, one after another, each with its keys. Objects and entries are listed in parallel in the same order, so
 * memory holds one page of each listing and one repository. Unknown keys are skipped.
 *
 * The headers of a repository are listed before its packs; jobs write the entries of a header after the header.
 */
export async function* storedRepositories({ blobs, states }: Stores): AsyncGenerator<StoredRepository> {
  const { objects, ...entries } = REPOSITORY_PREFIXES
  for (const visibility of REPOSITORY_CLASSES) {
    yield* mergeByRepository([
      byRepository(keysOf(blobs, `${objects}${visibility}/`)),
      ...Object.values(entries).map(prefix => byRepository(keysOf(states, `${prefix}${visibility}/`))),
    ])
  }
}

/** Keys with the prefix, page by page. */
export async function* keysOf(
  store: { list(prefix: string, options: ListOptions): Promise<string[]> },
  prefix: string,
): AsyncGenerator<string> {
  let after = ''
  for (;;) {
    const page = await store.list(prefix, { after, limit: PAGE_KEYS })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_KEYS) return
    after = last
  }
}

async function* byRepository(keys: AsyncIterable<string>): AsyncGenerator<StoredRepository> {
  let current: StoredRepository = { place: '', found: [] }
  for await (const key of keys) {
    const split = splitKey(key)
    if (split === null) continue
    const { place, part } = split
    if (place !== current.place) {
      if (current.found.length > 0) yield current
      current = { place, found: [] }
    }
    current.found.push({ key, part })
  }
  if (current.found.length > 0) yield current
}

/** Merges sources that are ordered by repository. */
async function* mergeByRepository(sources: readonly AsyncGenerator<StoredRepository>[]): AsyncGenerator<StoredRepository> {
  const heads = await Promise.all(sources.map(source => source.next()))
  for (;;) {
    const waiting = heads.flatMap(head => (head.done ? [] : [head.value.place]))
    if (waiting.length === 0) return
    const place = waiting.reduce((first, one) => (`${one}/` < `${first}/` ? one : first))
    const found: FoundKey[] = []
    await Promise.all(
      heads.map(async (head, index) => {
        if (head.done || head.value.place !== place) return
        // A repository can have more keys than a call can take arguments.
        for (const one of head.value.found) found.push(one)
        heads[index] = await (sources[index] as AsyncGenerator<StoredRepository>).next()
      }),
    )
    yield { place, found }
  }
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createSearchBuilder, type SearchBuilder } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import type { SectionPlace } from '#indexer/search/page-stream.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import { openEarlierSnapshot } from '#indexer/snapshot/earlier-snapshot.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openSource } from '#test/eval/items.ts'
import { type Cost, costOf, repeat } from './cost.ts'
import { otherWords } from './repositories.ts'
import type { Subject } from './search-subject.ts'

export interface Built {
  /** The most memory of the process, above what it had before. Items are read one by one. */
  peakMegabytes: number
}

export async function build({ root, owner, name, store, itemsFile }: Subject): Promise<Built> {
  const source = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(`${store}-built`)
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const builder = createSearchBuilder(createSnapshotWriter(blobs, source.repository, source.commit))
  for await (const line of createInterface({ input: createReadStream(itemsFile) })) {
    await builder.add(JSON.parse(line) as SearchInput)
  }
  await builder.finish()
  const peakMegabytes = (process.resourceUsage().maxRSS * 1024 - before) / 1e6
  await builder.close()
  await blobs.close()
  await source.host.close()
  return { peakMegabytes }
}

export interface Changed {
  /** Building from scratch. */
  full: Cost
  /** Building with the section of the commit before, when every hundredth item lost some of its words and has another. */
  edited: Cost
  /** The same when one in two hundred is new, and as many are gone, so that most items have other numbers. */
  moved: Cost
  /** A build gives the same bytes whatever is known before. */
  isEqual: boolean
}

/** Below this, code is warmed up by builds that are not measured, as it is in a process that has indexed before. */
const WARM_UP_CHARACTERS = 20e6
const WARM_UP_TURNS = 2
const MEASURED_TURNS = 9

export async function change({ root, owner, name, store, itemsFile }: Subject): Promise<Changed> {
  const items: SearchInput[] = []
  let characters = 0
  for await (const line of createInterface({ input: createReadStream(itemsFile) })) {
    items.push(JSON.parse(line) as SearchInput)
    characters += line.length
  }
  const editedItems = items.map((item, index) => (isChosen(index) ? withOtherWords(item) : item))
  const movedItems = items.flatMap((item, index) => {
    if (!isChosen(index) || item.kind === 'skill') return [item]
    return index % 200 === 50 ? [] : [item, { ...item, path: `${item.path}\u0001` }]
  })

  const source = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(store)
  const full = (all: readonly SearchInput[]) => buildSection(all, place => createSearchBuilder(place))
  const changed = async (all: readonly SearchInput[]) => {
    const previous = await openPreviousSection(await openEarlierSnapshot(blobs, source.repository, source.commit))
    return buildSection(all, place => createSearchBuilder(place, { previous }))
  }
  // A collection throws compiled code away, so what is small is measured behind one, several times, as a process at work would do it.
  const turns = characters < WARM_UP_CHARACTERS ? MEASURED_TURNS : 1
  if (turns > 1) for (let turn = 0; turn < WARM_UP_TURNS; turn++) await changed(editedItems)
  globalThis.gc?.()
  const fullRuns = await repeat(turns, () => full(editedItems))
  const editedRuns = await repeat(turns, () => changed(editedItems))
  const movedRuns = await repeat(turns, () => changed(movedItems))
  const movedFromScratch = await full(movedItems)
  await blobs.close()
  await source.host.close()
  return {
    full: costOf(fullRuns),
    edited: costOf(editedRuns),
    moved: costOf(movedRuns),
    isEqual:
      new Set([...fullRuns, ...editedRuns].map(({ value }) => value)).size === 1 &&
      movedRuns.every(({ value }) => value === movedFromScratch),
  }
}

/** One in a hundred. */
export function isChosen(index: number): boolean {
  return index % 100 === 50
}

/** Its text lies in another place then. */
function withOtherWords({ fields, text, ...item }: SearchInput): SearchInput {
  const body = otherWords(fields.body ?? '')
  return { ...item, text: text && [1, 0, text[2]], fields: { ...fields, body, blob: `${fields.blob ?? ''} changed` } }
}

/** @returns digest of the bytes */
async function buildSection(items: readonly SearchInput[], create: (place: SectionPlace) => SearchBuilder): Promise<string> {
  const digest = createHash('sha256')
  let length = 0
  const builder = create({
    async addBytes(bytes) {
      digest.update(bytes)
      length += bytes.length
      return [[0, length - bytes.length, bytes.length]]
    },
  })
  for (const item of items) {
    const waiting = builder.add(item)
    if (waiting) await waiting
  }
  await builder.finish()
  await builder.close()
  return digest.digest('hex')
}

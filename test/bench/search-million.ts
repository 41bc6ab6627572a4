import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'

/**
 * Builds the search section of a generated repository in a process of its own: `node search-million.ts [items]` prints figures as JSON.
 * Default: a million items. Items are made one at a time and the packs go to a disk, so the memory is that of the build.
 */
const count = Number(process.argv[2] ?? 1_000_000)
const BODY_WORDS = 90
/** Words that are common, and every so often one that stands nowhere else. */
const VOCABULARY = 300_000
const OWN_WORDS = 2

const REPOSITORY: HostRepository = {
  host: 'local',
  owner: 'generated',
  name: 'million',
  id: 'million',
  visibility: 'public',
  defaultBranch: 'main',
  description: null,
  avatar: null,
}

const folder = await mkdtemp(join(tmpdir(), 'mountglass-million-'))
try {
  process.stdout.write(`${JSON.stringify(await measure())}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure(): Promise<Record<string, number>> {
  const blobs = await openDiskBlobStore(folder)
  const memoryBefore = process.resourceUsage().maxRSS
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  const writer = createSnapshotWriter(blobs, REPOSITORY, '0'.repeat(40) as CommitSha)
  const builder = createSearchBuilder(writer)
  let characters = 0
  for (const item of generate()) {
    characters += item.title.length + (item.fields.body?.length ?? 0)
    await builder.add(item)
  }
  const addedAt = performance.now()
  const section = await builder.finish()
  await builder.close()
  const cpu = process.cpuUsage(cpuBefore)
  await blobs.close()
  return {
    items: count,
    characters,
    seconds: (performance.now() - startedAt) / 1000,
    mergeSeconds: (performance.now() - addedAt) / 1000,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    sectionBytes: section?.segments.reduce((sum, [, , length]) => sum + length, 0) ?? 0,
    headBytes: section?.headBytes ?? 0,
    megabytesBefore: memoryBefore / 1000,
    peakMegabytes: process.resourceUsage().maxRSS / 1000,
  }
}

function* generate(): Generator<SearchInput> {
  const random = createRandom(count)
  for (let index = 0; index < count; index++) {
    const name = String(index).padStart(7, '0')
    yield {
      path: `docs/${name.slice(0, 3)}/${name.slice(3, 5)}/page-${name}.md`,
      kind: 'document',
      owner: null,
      title: `Page ${name}`,
      summary: words(random, 12),
      text: [0, index, 1],
      fields: { body: `${words(random, BODY_WORDS)} ${ownWords(index)}` },
    }
  }
}

function words(random: () => number, length: number): string {
  return Array.from({ length }, () => wordOf(Math.floor(VOCABULARY ** random()))).join(' ')
}

function ownWords(index: number): string {
  return Array.from({ length: OWN_WORDS }, (_, number) => `${wordOf(VOCABULARY + OWN_WORDS * index + number)}q`).join(' ')
}

// The rank of a word gives its letters, so that common words are short and every word is the same everywhere.
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / 21)) word += 'etaoinshrdlcumwfgypbv'[left % 21]
  return word.padEnd(3, 'e')
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

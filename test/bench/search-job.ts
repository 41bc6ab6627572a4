import { readFile } from 'node:fs/promises'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { openSource } from '#test/eval/items.ts'
import { type Cost, costOf, type Run, timed } from './cost.ts'
import { commitFiles, gitFolderOf, otherWords } from './repositories.ts'
import { isChosen } from './search-build.ts'
import type { Subject } from './search-subject.ts'

export interface Jobs {
  /** Indexing a commit in which every hundredth file changed: from scratch, and behind the commit before. */
  full: Cost
  changed: Cost
  /** What either stores. */
  fullBytes: number
  changedBytes: number
}

const JOB_TURNS = 5

/** The whole job: git, Markdown, packs and search. */
export async function job({ root, owner, name, store, itemsFile }: Subject): Promise<Jobs> {
  const { host, repository, commit } = await openSource(root, owner, name)
  const paths = (await readFile(itemsFile, 'utf8'))
    .trimEnd()
    .split('\n')
    .filter((_, index) => isChosen(index))
  const next = commitFiles(
    gitFolderOf(root, owner, name),
    paths.map(line => (JSON.parse(line) as SearchInput).path),
    otherWords,
  )
  const signal = new AbortController().signal
  const bytes = { full: 0, changed: 0 }
  let behind = 0
  const full = async () => {
    const blobs = await openDiskBlobStore(`${store}-job-${behind++}`)
    const written = await writeSnapshot({ blobs, hosts: [host] }, { repository, commit: next }, signal)
    bytes.full = written?.bytes ?? 0
    await blobs.close()
  }
  const prepare = async () => {
    const deps = {
      blobs: await openDiskBlobStore(`${store}-job-${behind++}`),
      states: createMemoryStateStore(),
      hosts: [host],
    }
    await writeSnapshot(deps, { repository, commit }, signal)
    return deps
  }
  const runs = { full: [] as Run<void>[], changed: [] as Run<void>[] }
  let deps = await prepare()
  const turns = paths.length > 100 ? 1 : JOB_TURNS
  for (let turn = 0; turn < turns; turn++) {
    runs.changed.push(
      await timed(async () => {
        bytes.changed = (await writeSnapshot(deps, { repository, commit: next }, signal))?.bytes ?? 0
      }),
    )
    await deps.blobs.close()
    runs.full.push(await timed(full))
    if (turn + 1 < turns) deps = await prepare()
  }
  await host.close()
  return { full: costOf(runs.full), changed: costOf(runs.changed), fullBytes: bytes.full, changedBytes: bytes.changed }
}

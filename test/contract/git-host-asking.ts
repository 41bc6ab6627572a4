import type { CommitSha } from '#core/commit-sha.ts'
import type {
  BlobSelection,
  GitHost,
  HostAnswer,
  HostRepository,
  ReadLimits,
  RepositoryReader,
  TreeEntry,
} from '#core/ports/git-host.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/read-tree.ts'
import { answered } from '#test/support/answered.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'

export const LIMITS: ReadLimits = { treeEntries: 200_000, treeDepthSegments: 64, seconds: 120 }
export const MISSING: HostAnswer<never> = { status: 'missing' }

export function ok<Value>(value: Value): HostAnswer<Value> {
  return { status: 'ok', value }
}

/** The repository as the host describes it. @throws Error when the host does not show it */
export async function describeAt(host: GitHost, { owner, name }: TestRepository): Promise<HostRepository> {
  return answered(await host.repository(owner, name))
}

type Resolved = Promise<Awaited<ReturnType<GitHost['resolve']>>>

export async function resolveAt(host: GitHost, repository: TestRepository, ref: string | null): Resolved {
  return host.resolve(await describeAt(host, repository), ref)
}

/** Opens the commit, uses it and closes it. */
export async function readAt<Value>(
  host: GitHost,
  repository: TestRepository,
  commit: CommitSha,
  use: (reader: RepositoryReader) => Promise<Value>,
  limits: Partial<ReadLimits> = {},
): Promise<Value> {
  const reader = await host.open(await describeAt(host, repository), commit, { ...LIMITS, ...limits })
  try {
    return await use(reader)
  } finally {
    await reader.close()
  }
}

export async function listAt(
  host: GitHost,
  repository: TestRepository,
  commit: CommitSha,
  limits: Partial<ReadLimits> = {},
): Promise<{ entries: TreeEntry[]; cut: boolean }> {
  return readAt(host, repository, commit, async reader => ({ entries: await collect(reader.entries()), cut: reader.cut }), limits)
}

/** The texts of blobs, `null` where the reader gives no bytes. */
export async function textsAt(
  host: GitHost,
  repository: TestRepository,
  commit: CommitSha,
  oids: readonly string[],
  maxBytes = 1024 * 1024,
): Promise<(string | null)[]> {
  const read = await readAt(host, repository, commit, reader => collect(reader.read(oids, maxBytes)))
  return read.map(({ bytes }) => (bytes === null ? null : Buffer.from(bytes).toString()))
}

/** Reads as indexing does: the whole tree, and the bytes of what the selection names, in order. */
export async function readSelected(
  host: GitHost,
  repository: TestRepository,
  commit: CommitSha,
  selection: BlobSelection = INDEXED_BLOBS,
) {
  const reader = await host.open(await describeAt(host, repository), commit, LIMITS, selection)
  try {
    const entries = await collect(reader.entries())
    const uses = selection.usesOf(entries)
    const wanted = entries.filter((_, index) => uses[index] === 'bytes').map(({ oid }) => oid)
    return { entries, blobs: await collect(reader.read(wanted, selection.maxBytes)), cut: reader.cut }
  } finally {
    await reader.close()
  }
}

export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = []
  for await (const value of values) collected.push(value)
  return collected
}

/** Waits for the end of every process that this one started. Those that a host of this very process had for whoever has left may end a moment later. */
export async function noProcesses(): Promise<void> {
  await until(() => !process.getActiveResourcesInfo().includes('ProcessWrap'))
}

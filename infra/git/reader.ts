import type { CommitSha } from '#core/commit-sha.ts'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { FetchTooLarge } from './fetch.ts'
import { type ObjectBatch, type ObjectBytes, openObjectBatch } from './object-batch.ts'
import type { GitResources } from './process.ts'
import type { BlobSupply } from './remote-blobs.ts'
import { listTree, type TreeLine } from './tree-lines.ts'
import { readCommit, readObject } from './tree-objects.ts'

export interface ReaderOptions {
  /** A trusted git dir: a view, or a scratch repository of this process. */
  gitDir: string
  commit: CommitSha
  limits: ReadLimits
  /** Aborts all reading. */
  signal?: AbortSignal
  /** Fetches the commit with its trees, and returns the supply of its blobs. Default: the git dir has everything. */
  connect?: (signal: AbortSignal) => Promise<BlobSupply>
  /** See `RepositoryReader`. */
  confirm?: () => Promise<void>
  /** Called once: by `close`, or when opening fails. */
  release: () => Promise<void>
}

/** Opens a commit for reading. The time limit counts from this call. @throws ReadError */
export async function openReader(options: ReaderOptions): Promise<RepositoryReader> {
  const timeout = AbortSignal.timeout(options.limits.seconds * 1000)
  const closed = new AbortController()
  const signal = AbortSignal.any([timeout, closed.signal, ...(options.signal ? [options.signal] : [])])
  const failure = (cause: unknown) => {
    const { seconds } = options.limits
    if (timeout.aborted)
      return new ReadError('index.timeout', `reading the repository took more than ${seconds} seconds`, { cause })
    if (cause instanceof FetchTooLarge) return new ReadError('index.too_large', cause.message, { cause })
    return new ReadError('index.fetch_failed', 'the repository cannot be read at this commit', { cause })
  }

  const close = async () => {
    if (closed.signal.aborted) return
    closed.abort()
    await options.release()
  }
  const batch = openObjectBatch({ gitDir: options.gitDir, signal, resources: READING })
  try {
    const supply = (await options.connect?.(signal)) ?? null
    const { tree, committedAt } = await readCommit(batch, options.commit)
    await requireTree(batch, tree)
    const { gitDir, limits, confirm } = options
    return new GitReader({ gitDir, tree, committedAt, limits, supply, signal, failure, close, confirm }, batch)
  } catch (cause) {
    const error = failure(cause)
    await batch.close()
    await close()
    throw error
  }
}

/** Limits of a git process that reads objects: the largest are whole files that git builds from a change of another whole file. */
const READING: GitResources = { cpuSeconds: 600, fileBytes: 0, memoryBytes: 1024 * 1024 * 1024 }
const ROOT_TREE_BYTES = 64 * 1024 * 1024

/** @throws Error when the tree is missing or damaged */
async function requireTree(batch: ObjectBatch, tree: string): Promise<void> {
  if ((await readObject(batch, 'tree', tree, ROOT_TREE_BYTES)) === 'unreadable')
    throw new Error(`the tree ${tree} cannot be read`)
}

interface GitReaderOptions {
  gitDir: string
  tree: string
  committedAt: string | null
  limits: ReadLimits
  supply: BlobSupply | null
  signal: AbortSignal
  failure: (cause: unknown) => ReadError
  close: () => Promise<void>
  confirm: (() => Promise<void>) | undefined
}

/** Ids in one question; their answers fit into the buffers of a pipe and a stream. */
const GROUP = 512

class GitReader implements RepositoryReader {
  readonly #options: GitReaderOptions
  #cut = false
  /** A running batch that no generator uses. */
  #idle: ObjectBatch | null
  #prepared: Promise<void> | null = null

  constructor(options: GitReaderOptions, batch: ObjectBatch) {
    this.#options = options
    this.#idle = batch
  }

  get committedAt(): string | null {
    return this.#options.committedAt
  }

  get cut(): boolean {
    return this.#cut
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    const { failure, supply } = this.#options
    const batch = this.#borrowBatch()
    const sizes = new Map<string, number | null>()
    let isComplete = false
    try {
      for await (const lines of this.#preparedListing(batch)) {
        await lookUpSizes(batch, supply ? lines.filter(({ oid }) => supply.isFetched(oid)) : lines, sizes)
        for (const { path, mode, oid } of lines) {
          yield { path, mode, oid, sizeBytes: sizes.get(oid) ?? supply?.sizeOf(oid) ?? null }
        }
        if (sizes.size > CACHED_SIZES) sizes.clear()
      }
      isComplete = true
    } catch (cause) {
      throw failure(cause)
    } finally {
      await this.#giveBack(batch, isComplete)
    }
  }

  /** The listing, once the supply has seen all of it. */
  async *#preparedListing(batch: ObjectBatch): AsyncGenerator<TreeLine[]> {
    if (this.#options.supply && !this.#prepared) {
      const lines: TreeLine[] = []
      this.#prepared = this.#prepare(this.#options.supply, batch, lines)
      await this.#prepared
      yield lines
    } else {
      await this.#prepared
      yield* this.#listing(batch)
    }
  }

  async #prepare(supply: BlobSupply, batch: ObjectBatch, lines: TreeLine[]): Promise<void> {
    for await (const some of this.#listing(batch)) for (const line of some) lines.push(line)
    // A tree that exceeds the limits is not delivered, so none of its blobs are fetched.
    if (!this.#cut) await supply.prepare(this.#options.tree, lines)
  }

  #listing(batch: ObjectBatch): AsyncGenerator<TreeLine[]> {
    return listTree({ ...this.#options, batch }, () => {
      this.#cut = true
    })
  }

  async *read(oids: Iterable<string>, maxBytes: number): AsyncGenerator<{ oid: string; bytes: Uint8Array | null }> {
    const { failure, supply } = this.#options
    const batch = this.#borrowBatch()
    let isComplete = false
    try {
      const asked = [...oids]
      if (supply) {
        this.#prepared ??= this.#prepare(supply, batch, [])
        await this.#prepared
        await supply.fetch(asked, maxBytes)
      }
      for (const group of groupsOf(asked)) {
        yield* readGroup(batch, group, maxBytes)
      }
      isComplete = true
    } catch (cause) {
      throw failure(cause)
    } finally {
      await this.#giveBack(batch, isComplete)
    }
  }

  #borrowBatch(): ObjectBatch {
    const { gitDir, signal, failure } = this.#options
    if (signal.aborted) throw failure(signal.reason)
    const batch = this.#idle ?? openObjectBatch({ gitDir, signal, resources: READING })
    this.#idle = null
    return batch
  }

  /** Keeps the batch for the next generator, unless it was left in the middle of its answers. */
  async #giveBack(batch: ObjectBatch, isComplete: boolean): Promise<void> {
    if (isComplete && this.#idle === null && !this.#options.signal.aborted) this.#idle = batch
    else await batch.close()
  }

  async confirm(): Promise<void> {
    await this.#options.confirm?.()
  }

  async close(): Promise<void> {
    await this.#idle?.close()
    this.#idle = null
    await this.#options.close()
  }
}

async function* readGroup(
  batch: ObjectBatch,
  group: readonly string[],
  maxBytes: number,
): AsyncGenerator<{ oid: string; bytes: Uint8Array | null }> {
  // Git would unpack a blob of any size, only to have its bytes dropped.
  const sizes = await blobSizes(batch, group)
  const isWanted = (oid: string) => (sizes.get(oid) ?? Number.POSITIVE_INFINITY) <= maxBytes
  const blobs = batch.contents(
    'blob',
    group.filter(isWanted).map(oid => ({ oid, maxBytes })),
  )
  for (const oid of group) {
    const bytes: ObjectBytes = isWanted(oid) ? ((await blobs.next()).value ?? 'unreadable') : 'too_large'
    yield { oid, bytes: typeof bytes === 'string' ? null : bytes }
  }
  await blobs.next()
}

/** A large tree may hold the same file many times. */
const CACHED_SIZES = 20_000

async function lookUpSizes(batch: ObjectBatch, lines: readonly TreeLine[], sizes: Map<string, number | null>): Promise<void> {
  const unknown = lines.filter(({ type, oid }) => type === 'blob' && !sizes.has(oid)).map(line => line.oid)
  for (const group of groupsOf(new Set(unknown))) {
    const found = await blobSizes(batch, group)
    for (const oid of group) sizes.set(oid, found.get(oid) ?? null)
  }
}

async function blobSizes(batch: ObjectBatch, oids: readonly string[]): Promise<Map<string, number>> {
  const asked = [...new Set(oids)].filter(oid => /^[0-9a-f]{40}$/.test(oid))
  const sizes = new Map<string, number>()
  let index = 0
  for await (const info of batch.info(asked)) {
    const oid = asked[index++]
    if (oid !== undefined && info?.type === 'blob') sizes.set(oid, info.sizeBytes)
  }
  return sizes
}

function* groupsOf(oids: Iterable<string>): Generator<string[]> {
  let group: string[] = []
  for (const oid of oids) {
    group.push(oid)
    if (group.length === GROUP) {
      yield group
      group = []
    }
  }
  if (group.length > 0) yield group
}

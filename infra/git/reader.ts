import { isUtf8 } from 'node:buffer'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { type ObjectBatch, openObjectBatch } from './object-batch.ts'
import { runGit, startGit } from './process.ts'

export interface ReaderOptions {
  /** A git dir that may be trusted: a view, or one that this process made. */
  gitDir: string
  commit: CommitSha
  limits: ReadLimits
  /** Ends all reading. */
  signal?: AbortSignal
  /** Called once, by `close` or when opening fails. */
  release: () => Promise<void>
}

/** Opens a commit for reading. The limits' time starts now. @throws ReadError */
export async function openReader(options: ReaderOptions): Promise<RepositoryReader> {
  const timeout = AbortSignal.timeout(options.limits.seconds * 1000)
  const closed = new AbortController()
  const signal = AbortSignal.any([timeout, closed.signal, ...(options.signal ? [options.signal] : [])])
  const failure = (cause: unknown) =>
    timeout.aborted
      ? new ReadError('index.timeout', 'reading the repository took too long', { cause })
      : new ReadError('index.fetch_failed', 'the repository cannot be read at this commit', { cause })

  const close = async () => {
    if (closed.signal.aborted) return
    closed.abort()
    await options.release()
  }
  try {
    const tree = await rootTreeOf(options.commit, options.gitDir, signal)
    return new GitReader({ gitDir: options.gitDir, tree, limits: options.limits, signal, failure, close })
  } catch (cause) {
    await close()
    throw failure(cause)
  }
}

/** @throws Error when the id names no readable commit */
async function rootTreeOf(commit: CommitSha, gitDir: string, signal: AbortSignal): Promise<string> {
  const input = `${commit}\n${commit}^{tree}\n`
  const [first = '', second = ''] = (await runGit(['cat-file', '--batch-check'], { gitDir, signal, input }))
    .toString()
    .split('\n')
  const tree = /^([0-9a-f]{40}) tree /.exec(second)?.[1]
  if (!first.startsWith(`${commit} commit `) || !tree) throw new Error(`not a readable commit: ${first}, ${second}`)
  return tree
}

interface GitReaderOptions {
  gitDir: string
  tree: string
  limits: ReadLimits
  signal: AbortSignal
  failure: (cause: unknown) => ReadError
  close: () => Promise<void>
}

/** Ids asked for at once; their answers stay far below what a pipe and a stream hold. */
const GROUP = 512

class GitReader implements RepositoryReader {
  readonly #options: GitReaderOptions
  #cut = false
  /** A running batch that no reading uses now. */
  #idle: ObjectBatch | null = null

  constructor(options: GitReaderOptions) {
    this.#options = options
  }

  get cut(): boolean {
    return this.#cut
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    const { failure } = this.#options
    const batch = this.#borrowBatch()
    const sizes = new Map<string, number | null>()
    let whole = false
    try {
      for await (const lines of this.#lines()) {
        await lookUpSizes(batch, lines, sizes)
        for (const { path, mode, oid } of lines) yield { path, mode, oid, sizeBytes: sizes.get(oid) ?? null }
        if (sizes.size > HELD_SIZES) sizes.clear()
      }
      whole = true
    } catch (cause) {
      throw failure(cause)
    } finally {
      await this.#giveBack(batch, whole)
    }
  }

  /** The files of the tree as git lists them, some at a time. Sets `cut`. */
  async *#lines(): AsyncGenerator<Line[]> {
    const { gitDir, tree, limits, signal } = this.#options
    const git = startGit(['ls-tree', '-r', '-t', '-z', '--full-tree', '--end-of-options', tree], { gitDir, signal })
    git.input.end()
    const listableBytes = Math.max(LISTED_BYTES, limits.treeEntries * LISTED_BYTES_PER_ENTRY)
    const count = { files: 0, folders: 0, bytes: 0 }
    let rest: Buffer = Buffer.alloc(0)
    try {
      for await (const chunk of git.output as AsyncIterable<Buffer>) {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        const lines: Line[] = []
        let start = 0
        let isOver = false
        for (let end = bytes.indexOf(0); end >= 0 && !isOver; end = bytes.indexOf(0, start)) {
          const line = parseLine(bytes.subarray(start, end))
          start = end + 1
          isOver = (line.type === 'tree' ? ++count.folders : ++count.files) > limits.treeEntries
          if (line.depth > limits.treeDepthSegments) this.#cut = true
          else if (line.type !== 'tree' && !isOver) lines.push(line)
        }
        rest = bytes.subarray(start)
        count.bytes += chunk.length
        yield lines
        if (isOver || rest.length > LINE_BYTES || count.bytes > listableBytes) {
          this.#cut = true
          return
        }
      }
      const end = await git.ended
      signal.throwIfAborted()
      if (end.status !== 0) throw new Error(`git ls-tree ended with ${end.status ?? 'a signal'}: ${end.message}`)
    } finally {
      await git.stop()
    }
  }

  async *read(oids: Iterable<string>, maxBytes: number): AsyncGenerator<{ oid: string; bytes: Uint8Array | null }> {
    const { failure } = this.#options
    const batch = this.#borrowBatch()
    let whole = false
    try {
      for (const group of groupsOf(oids)) {
        const sizes = await blobSizes(batch, group)
        const wanted = group.flatMap(oid => {
          const sizeBytes = sizes.get(oid)
          return sizeBytes === undefined || sizeBytes > maxBytes ? [] : [{ oid, sizeBytes }]
        })
        const blobs = batch.blobs(wanted)
        for (const oid of group) {
          const size = sizes.get(oid)
          const bytes = size === undefined || size > maxBytes ? null : ((await blobs.next()).value ?? null)
          yield { oid, bytes }
        }
        await blobs.next()
      }
      whole = true
    } catch (cause) {
      throw failure(cause)
    } finally {
      await this.#giveBack(batch, whole)
    }
  }

  #borrowBatch(): ObjectBatch {
    const { gitDir, signal, failure } = this.#options
    if (signal.aborted) throw failure(signal.reason)
    const batch = this.#idle ?? openObjectBatch({ gitDir, signal })
    this.#idle = null
    return batch
  }

  /** A batch that was left in the middle of its answers is no use to the next reading. */
  async #giveBack(batch: ObjectBatch, whole: boolean): Promise<void> {
    if (whole && this.#idle === null && !this.#options.signal.aborted) this.#idle = batch
    else await batch.close()
  }

  async close(): Promise<void> {
    await this.#idle?.close()
    this.#idle = null
    await this.#options.close()
  }
}

/** No path of an ordinary repository comes near; a chain of folders that nobody could read does. */
const LINE_BYTES = 16 * 1024
/** Bounds the listing as a whole, which long names in deep folders make large before it has many entries. */
const LISTED_BYTES_PER_ENTRY = 256
const LISTED_BYTES = 1024 * 1024

/** Sizes that are remembered, since a large tree may hold the same file again and again. */
const HELD_SIZES = 20_000

interface Line {
  type: string
  depth: number
  path: string | null
  mode: TreeEntry['mode']
  oid: string
}

/** `<mode> <type> <oid>\t<path>` */
function parseLine(line: Buffer): Line {
  const tab = line.indexOf(0x09)
  const [mode = '', type = '', oid = ''] = line.toString('latin1', 0, tab).split(' ')
  const name = line.subarray(tab + 1)
  return {
    type,
    depth: countSegments(name),
    path: isUtf8(name) ? name.toString() : null,
    mode: mode as TreeEntry['mode'],
    oid,
  }
}

async function lookUpSizes(batch: ObjectBatch, lines: readonly Line[], sizes: Map<string, number | null>): Promise<void> {
  const unknown = lines.filter(({ type, oid }) => type === 'blob' && !sizes.has(oid)).map(line => line.oid)
  for (const group of groupsOf(new Set(unknown))) {
    const found = await blobSizes(batch, group)
    for (const oid of group) sizes.set(oid, found.get(oid) ?? null)
  }
}

function countSegments(path: Uint8Array): number {
  let segments = 1
  for (let slash = path.indexOf(0x2f); slash >= 0; slash = path.indexOf(0x2f, slash + 1)) segments++
  return segments
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

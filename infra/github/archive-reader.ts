import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import { createGate } from '#core/concurrency/gate.ts'
import {
  type BlobSelection,
  type BlobUse,
  type HostRepository,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
  type TreeEntry,
} from '#core/ports/git-host.ts'
import type { GitHubApi } from './api.ts'
import { readBlob, readTree, type TreeBody } from './described.ts'
import { readTar, type TarEntry } from './tar.ts'

export interface ArchiveReaderOptions {
  api: Pick<GitHubApi, 'get' | 'locate'>
  repository: HostRepository
  commit: CommitSha
  limits: ReadLimits
  selection: BlobSelection | undefined
  /** Whether an archive may be downloaded from the address. */
  isArchiveUrl(url: URL): boolean
  /** Aborts all reading. */
  signal: AbortSignal
  /** Called once, by `close`. */
  onClosed: () => void
}

const TREE_MS = 20_000
const TREE_BYTES = 32 * 1024 * 1024
/** Maximum number of tree requests when the host truncates the whole tree. */
const TREES = 200
const ARCHIVE_BYTES = 2 * 1024 * 1024 * 1024
/** Maximum number of files that the archive omits or changes, which are then fetched one by one. */
const SINGLE_BLOBS = 500
/** Uses of files that are unpacked from the archive. */
const KEPT_USES: ReadonlySet<BlobUse | undefined> = new Set(['bytes', 'perhaps'])
const AT_ONCE = 8

/**
 * Reads a commit without git: the tree from the API, the files from an archive. Attributes of the repository make an archive omit files
 * and change line ends and keywords, so a file counts only if its hash is the id in the tree; all others are fetched one by one.
 */
export async function openArchiveReader(options: ArchiveReaderOptions): Promise<RepositoryReader> {
  return new ArchiveReader(options, await mkdtemp(join(tmpdir(), 'mountglass-git-')))
}

class ArchiveReader implements RepositoryReader {
  readonly #options: ArchiveReaderOptions
  readonly #folder: string
  readonly #timeout: AbortSignal
  readonly #closing = new AbortController()
  readonly #signal: AbortSignal
  readonly #stored = new Set<string>()
  #listing: Promise<TreeEntry[]> | null = null
  #fetching: Promise<void> = Promise.resolve()
  #hasUnpacked = false
  #cut = false

  constructor(options: ArchiveReaderOptions, folder: string) {
    this.#options = options
    this.#folder = folder
    this.#timeout = AbortSignal.timeout(options.limits.seconds * 1000)
    this.#signal = AbortSignal.any([options.signal, this.#timeout, this.#closing.signal])
  }

  get cut(): boolean {
    return this.#cut
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    yield* await this.#orFailure(this.#list())
  }

  async *read(oids: Iterable<string>, maxBytes: number): AsyncGenerator<{ oid: string; bytes: Uint8Array | null }> {
    const asked = [...oids]
    const sizes = await this.#orFailure(this.#fetch(asked, maxBytes))
    for (const oid of asked) {
      const isReadable = this.#stored.has(oid) && (sizes.get(oid) ?? 0) <= maxBytes
      yield { oid, bytes: isReadable ? new Uint8Array(await this.#orFailure(readFile(join(this.#folder, oid)))) : null }
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#fetching.catch(() => {})
    await rm(this.#folder, { recursive: true, force: true })
    this.#options.onClosed()
  }

  #list(): Promise<TreeEntry[]> {
    this.#listing ??= this.#listFolder(this.#options.commit, '', { trees: 0, entries: 0 })
    return this.#listing
  }

  /** Lists the tree in one request, or folder by folder when the host truncates it. */
  async #listFolder(tree: string, folder: string, count: { trees: number; entries: number }): Promise<TreeEntry[]> {
    const { limits } = this.#options
    const recursive = await this.#askTree(tree, true, count)
    const rows = recursive.truncated ? (await this.#askTree(tree, false, count)).tree : recursive.tree
    const entries: TreeEntry[] = []
    for (const { path: name, type, mode, sha, size } of rows) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (type === 'tree') {
        if (!recursive.truncated || this.#cut) continue
        // Not a spread: a folder may have more entries than a call takes arguments.
        for (const entry of await this.#listFolder(sha, path, count)) entries.push(entry)
        continue
      }
      if (++count.entries > limits.treeEntries || path.split('/').length > limits.treeDepthSegments) {
        this.#cut = true
        continue
      }
      // U+FFFD: the API replaced bytes that are not UTF-8.
      entries.push({
        path: path.includes('\ufffd') ? null : path,
        mode,
        oid: sha,
        sizeBytes: type === 'blob' ? (size ?? null) : null,
      })
    }
    return entries
  }

  async #askTree(tree: string, recursive: boolean, count: { trees: number }): Promise<TreeBody> {
    if (++count.trees > TREES) throw new ReadError('index.too_large', `the tree needs more than ${TREES} requests`)
    const { api, repository } = this.#options
    const answer = await api.get(
      '/repos/{owner}/{repo}/git/trees/{tree_sha}',
      { owner: repository.owner, repo: repository.name, tree_sha: tree, ...(recursive ? { recursive: 1 } : {}) },
      { of: repository, signal: this.#signal, milliseconds: TREE_MS, maxBytes: TREE_BYTES },
    )
    const body = answer.status === 'ok' ? readTree(answer.data) : null
    if (body === null) throw new Error(`the host did not return tree ${tree}: ${answer.status}`)
    return body
  }

  /** @returns the sizes of all blobs of the tree */
  async #fetch(asked: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, number>> {
    const entries = await this.#list()
    const sizes = new Map(entries.flatMap(({ oid, sizeBytes }) => (sizeBytes === null ? [] : [[oid, sizeBytes] as const])))
    const next = this.#fetching.catch(() => {}).then(() => this.#fetchNow(entries, sizes, asked, maxBytes))
    this.#fetching = next
    await next
    return sizes
  }

  async #fetchNow(
    entries: readonly TreeEntry[],
    sizes: ReadonlyMap<string, number>,
    asked: readonly string[],
    maxBytes: number,
  ): Promise<void> {
    const { selection } = this.#options
    const isSmall = (oid: string, most: number) => (sizes.get(oid) ?? Number.POSITIVE_INFINITY) <= most
    const missing = new Set(asked.filter(oid => !this.#stored.has(oid) && isSmall(oid, maxBytes)))
    if (missing.size === 0) return
    if (!this.#hasUnpacked) {
      this.#hasUnpacked = true
      const uses = selection?.usesOf(entries)
      // The archive has all files: those that are read only perhaps would cost a request each later.
      const selected = entries.filter(({ oid }, index) => KEPT_USES.has(uses?.[index]) && isSmall(oid, selection?.maxBytes ?? 0))
      await this.#unpack(entries, sizes, new Set([...missing, ...selected.map(({ oid }) => oid)]))
    }
    const single = [...missing].filter(oid => !this.#stored.has(oid))
    if (single.length > SINGLE_BLOBS)
      throw new Error(`the archive lacks ${single.length} files: at most ${SINGLE_BLOBS} are fetched one by one`)
    const throughGate = createGate(AT_ONCE)
    await Promise.all(single.map(oid => throughGate(() => this.#fetchOne(oid))))
  }

  async #unpack(entries: readonly TreeEntry[], sizes: ReadonlyMap<string, number>, wanted: ReadonlySet<string>): Promise<void> {
    const { api, repository, commit, isArchiveUrl } = this.#options
    const place = await api.locate(
      '/repos/{owner}/{repo}/tarball/{ref}',
      { owner: repository.owner, repo: repository.name, ref: commit },
      { of: repository, signal: this.#signal },
    )
    if (place.status !== 'ok' || !isArchiveUrl(new URL(place.url)))
      throw new Error(`the host did not return an archive: ${place.status}`)
    // Without the credential: the archive may be on another host.
    const answer = await fetch(place.url, { redirect: 'error', headers: { 'user-agent': 'mountglass' }, signal: this.#signal })
    if (!answer.ok || answer.body === null) throw new Error(`the download of the archive failed with status ${answer.status}`)

    const oids = new Map(entries.map(({ path, oid }) => [path, oid]))
    const packed = Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream)
    const unpacked = createGunzip()
    packed.once('error', error => unpacked.destroy(error)).pipe(unpacked)
    try {
      for await (const entry of readTar(bounded(unpacked, ARCHIVE_BYTES))) {
        const path = entry.path?.slice(entry.path.indexOf('/') + 1)
        const oid = path === undefined ? undefined : oids.get(path)
        if (oid === undefined || !wanted.has(oid) || this.#stored.has(oid)) continue
        // Keyword expansion can make a small file arbitrarily large.
        if (entry.kind === 'file' && entry.sizeBytes !== sizes.get(oid)) continue
        await this.#store(oid, await bytesOf(entry))
      }
    } finally {
      packed.destroy()
      unpacked.destroy()
    }
  }

  async #fetchOne(oid: string): Promise<void> {
    const { api, repository } = this.#options
    const answer = await api.get(
      '/repos/{owner}/{repo}/git/blobs/{file_sha}',
      { owner: repository.owner, repo: repository.name, file_sha: oid },
      { of: repository, signal: this.#signal },
    )
    const bytes = answer.status === 'ok' ? readBlob(answer.data) : null
    if (bytes !== null) await this.#store(oid, bytes)
    // A missing blob is an outcome; a host that does not answer is an error.
    else if (answer.status !== 'missing' && answer.status !== 'ok')
      throw new Error(`the host did not return blob ${oid}: ${answer.status}`)
  }

  /** Stores the bytes if their hash is the id. */
  async #store(oid: string, bytes: Uint8Array): Promise<void> {
    if (createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex') !== oid) return
    await writeFile(join(this.#folder, oid), bytes)
    this.#stored.add(oid)
  }

  async #orFailure<Value>(reading: Promise<Value>): Promise<Value> {
    try {
      const value = await reading
      this.#signal.throwIfAborted()
      return value
    } catch (cause) {
      if (this.#timeout.aborted)
        throw new ReadError('index.timeout', `reading the repository took more than ${this.#options.limits.seconds} seconds`, {
          cause,
        })
      if (cause instanceof ReadError) throw cause
      throw new ReadError('index.fetch_failed', 'the repository cannot be read at this commit', { cause })
    }
  }
}

async function bytesOf(entry: TarEntry): Promise<Uint8Array> {
  if (entry.kind === 'link') return Buffer.from(entry.target)
  const pieces: Uint8Array[] = []
  for await (const piece of entry.bytes()) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes
  for await (const chunk of chunks) {
    left -= chunk.length
    if (left < 0) throw new ReadError('index.too_large', `the archive unpacks to more than ${maxBytes} bytes`)
    yield chunk
  }
}

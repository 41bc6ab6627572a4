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
  type HostRepository,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
  type TreeEntry,
} from '#core/ports/git-host.ts'
import type { GitHubApi } from './api.ts'
import { readBlob, readTree, type TreeBody } from './described.ts'
import { readTar } from './tar.ts'

export interface ArchiveReaderOptions {
  api: Pick<GitHubApi, 'get' | 'locate'>
  repository: HostRepository
  commit: CommitSha
  limits: ReadLimits
  selection: BlobSelection | undefined
  /** Whether an archive may be taken from there. */
  isArchiveUrl(url: URL): boolean
  /** Ends all reading. */
  signal: AbortSignal
  /** Called once, by `close`. */
  onClosed: () => void
}

const TREE_MS = 20_000
const TREE_BYTES = 32 * 1024 * 1024
/** Trees asked for where the host gives a part of the whole only. */
const TREES = 200
const ARCHIVE_BYTES = 2 * 1024 * 1024 * 1024
/** Files that an archive leaves out or changes, and that are therefore asked for one by one. */
const SINGLE_BLOBS = 500
const SIDE_BY_SIDE = 8

/**
 * Reads a commit without the git program: its tree from the API, the files from an archive. An archive leaves out what attributes
 * of the repository tell it to, and changes line ends and keywords, so every file of it has to have the id that the tree says;
 * what has not, or is not there, is asked for by itself.
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
  readonly #held = new Set<string>()
  #listing: Promise<TreeEntry[]> | null = null
  #bringing: Promise<void> = Promise.resolve()
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
    const sizes = await this.#orFailure(this.#bring(asked, maxBytes))
    for (const oid of asked) {
      const isReadable = this.#held.has(oid) && (sizes.get(oid) ?? 0) <= maxBytes
      yield { oid, bytes: isReadable ? new Uint8Array(await this.#orFailure(readFile(join(this.#folder, oid)))) : null }
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#bringing.catch(() => {})
    await rm(this.#folder, { recursive: true, force: true })
    this.#options.onClosed()
  }

  #list(): Promise<TreeEntry[]> {
    this.#listing ??= this.#listFolder(this.#options.commit, '', { trees: 0, entries: 0 })
    return this.#listing
  }

  /** Whole where the host gives the whole; else folder by folder. */
  async #listFolder(tree: string, folder: string, count: { trees: number; entries: number }): Promise<TreeEntry[]> {
    const { limits } = this.#options
    const whole = await this.#askTree(tree, true, count)
    const rows = whole.truncated ? (await this.#askTree(tree, false, count)).tree : whole.tree
    const entries: TreeEntry[] = []
    for (const { path: name, type, mode, sha, size } of rows) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (type === 'tree') {
        if (!whole.truncated || this.#cut) continue
        // A folder may have more entries than a call takes arguments.
        for (const entry of await this.#listFolder(sha, path, count)) entries.push(entry)
        continue
      }
      if (++count.entries > limits.treeEntries || path.split('/').length > limits.treeDepthSegments) {
        this.#cut = true
        continue
      }
      // The API has replaced what is no UTF-8.
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
    if (++count.trees > TREES) throw new ReadError('index.too_large', 'the tree is too large to be asked for in parts')
    const { api, repository } = this.#options
    const answer = await api.get(
      '/repos/{owner}/{repo}/git/trees/{tree_sha}',
      { owner: repository.owner, repo: repository.name, tree_sha: tree, ...(recursive ? { recursive: 1 } : {}) },
      { signal: this.#signal, milliseconds: TREE_MS, maxBytes: TREE_BYTES },
    )
    const body = answer.status === 'ok' ? readTree(answer.data) : null
    if (body === null) throw new Error(`the host gives no tree: ${answer.status}`)
    return body
  }

  /** @returns the sizes of all blobs of the tree */
  async #bring(asked: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, number>> {
    const entries = await this.#list()
    const sizes = new Map(entries.flatMap(({ oid, sizeBytes }) => (sizeBytes === null ? [] : [[oid, sizeBytes] as const])))
    const next = this.#bringing.catch(() => {}).then(() => this.#bringNow(entries, sizes, asked, maxBytes))
    this.#bringing = next
    await next
    return sizes
  }

  async #bringNow(
    entries: readonly TreeEntry[],
    sizes: ReadonlyMap<string, number>,
    asked: readonly string[],
    maxBytes: number,
  ): Promise<void> {
    const { selection } = this.#options
    const isSmall = (oid: string, most: number) => (sizes.get(oid) ?? Number.POSITIVE_INFINITY) <= most
    const missing = new Set(asked.filter(oid => !this.#held.has(oid) && isSmall(oid, maxBytes)))
    if (missing.size === 0) return
    if (!this.#hasUnpacked) {
      this.#hasUnpacked = true
      const uses = selection?.usesOf(entries)
      const selected = entries.filter(({ oid }, index) => uses?.[index] === 'bytes' && isSmall(oid, selection?.maxBytes ?? 0))
      await this.#unpack(entries, sizes, new Set([...missing, ...selected.map(({ oid }) => oid)]))
    }
    const single = [...missing].filter(oid => !this.#held.has(oid))
    if (single.length > SINGLE_BLOBS) throw new Error(`the archive lacks ${single.length} files`)
    const throughGate = createGate(SIDE_BY_SIDE)
    await Promise.all(single.map(oid => throughGate(() => this.#bringOne(oid))))
  }

  async #unpack(entries: readonly TreeEntry[], sizes: ReadonlyMap<string, number>, wanted: ReadonlySet<string>): Promise<void> {
    const { api, repository, commit, isArchiveUrl } = this.#options
    const place = await api.locate(
      '/repos/{owner}/{repo}/tarball/{ref}',
      { owner: repository.owner, repo: repository.name, ref: commit },
      { signal: this.#signal },
    )
    if (place.status !== 'ok' || !isArchiveUrl(new URL(place.url))) throw new Error(`the host gives no archive: ${place.status}`)
    // Without the credential: it is another host.
    const answer = await fetch(place.url, { redirect: 'error', headers: { 'user-agent': 'mountglass' }, signal: this.#signal })
    if (!answer.ok || answer.body === null) throw new Error(`the archive answers ${answer.status}`)

    const oids = new Map(entries.map(({ path, oid }) => [path, oid]))
    const packed = Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream)
    const unpacked = createGunzip()
    packed.once('error', error => unpacked.destroy(error)).pipe(unpacked)
    try {
      for await (const entry of readTar(bounded(unpacked, ARCHIVE_BYTES))) {
        const path = entry.path?.slice(entry.path.indexOf('/') + 1)
        const oid = path === undefined ? undefined : oids.get(path)
        if (oid === undefined || !wanted.has(oid) || this.#held.has(oid)) continue
        // Keywords can make a small file as large as anybody likes.
        if (entry.kind === 'file' && entry.sizeBytes !== sizes.get(oid)) continue
        const pieces: Uint8Array[] = []
        if (entry.kind === 'link') pieces.push(Buffer.from(entry.target))
        else for await (const piece of entry.bytes()) pieces.push(piece)
        await this.#keep(oid, Buffer.concat(pieces))
      }
    } finally {
      packed.destroy()
      unpacked.destroy()
    }
  }

  async #bringOne(oid: string): Promise<void> {
    const { api, repository } = this.#options
    const answer = await api.get(
      '/repos/{owner}/{repo}/git/blobs/{file_sha}',
      { owner: repository.owner, repo: repository.name, file_sha: oid },
      { signal: this.#signal },
    )
    const bytes = answer.status === 'ok' ? readBlob(answer.data) : null
    if (bytes !== null) await this.#keep(oid, bytes)
    // A blob that the host does not have is a missing one; a host that does not answer is a failure.
    else if (answer.status !== 'missing' && answer.status !== 'ok') throw new Error(`the host gives no file: ${answer.status}`)
  }

  /** Only under its own id. */
  async #keep(oid: string, bytes: Uint8Array): Promise<void> {
    if (createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex') !== oid) return
    await writeFile(join(this.#folder, oid), bytes)
    this.#held.add(oid)
  }

  async #orFailure<Value>(reading: Promise<Value>): Promise<Value> {
    try {
      const value = await reading
      this.#signal.throwIfAborted()
      return value
    } catch (cause) {
      if (this.#timeout.aborted) throw new ReadError('index.timeout', 'reading the repository took too long', { cause })
      if (cause instanceof ReadError) throw cause
      throw new ReadError('index.fetch_failed', 'the repository cannot be read at this commit', { cause })
    }
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes
  for await (const chunk of chunks) {
    left -= chunk.length
    if (left < 0) throw new ReadError('index.too_large', 'the archive is too large')
    yield chunk
  }
}

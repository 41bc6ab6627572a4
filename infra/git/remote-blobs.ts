import type { BlobSelection, BlobUse } from '#core/ports/git-host.ts'
import { type FetchOptions, fetchBlobs, fetchSmallBlobs } from './fetch.ts'
import { runGit } from './process.ts'
import type { TreeLine } from './tree-lines.ts'
import type { Remote } from './upload-pack.ts'

/** Fetches the blobs that a reader needs. */
export interface BlobSupply {
  /** Receives the whole tree, once, before the first blob is asked for. Fetches the selected blobs and looks up sizes. */
  prepare(tree: string, lines: readonly TreeLine[]): Promise<void>
  /** Fetches blobs of the tree, except those known to be larger than `maxBytes`. */
  fetch(oids: readonly string[], maxBytes: number): Promise<void>
  /** Whether the host was asked for the blob, so that the scratch repository may have it. */
  isFetched(oid: string): boolean
  /** Size in bytes, if the host told it without sending the blob. */
  sizeOf(oid: string): number | null
  /** Resolves once no fetch is running. */
  settled(): Promise<void>
}

/** Sizes of the blobs below a tree, as the host lists them. */
export interface ListedSizes {
  /** In bytes, by blob id. */
  sizes: ReadonlyMap<string, number>
  /** Whether the list has all blobs below the tree. */
  isComplete: boolean
}

/** Asks a repository of the host. The question may run several times, with a credential and without. */
export type AskRemote = <Value>(question: (remote: Remote) => Promise<Value>, signal: AbortSignal) => Promise<Value>

export interface SupplyOptions extends Omit<FetchOptions, 'remote'> {
  ask: AskRemote
  commit: string
  selection: BlobSelection | undefined
  /** The scratch repository has the blobs of at most `selection.maxBytes` already. */
  hasSmallBlobs: boolean
  /** Asks the host for the sizes of all blobs below a tree; `null` when the host does not answer. */
  listSizes(tree: string, signal: AbortSignal): Promise<ListedSizes | null>
}

/** Up to this many blobs are fetched without asking for their sizes first. */
const BLIND_BLOBS = 64
/** For more blobs, naming each one takes longer than fetching all small blobs of the commit. */
const NAMED_BLOBS = 20_000
/** More than the size of any blob. */
const ANY_BYTES = 2 ** 40
/** Folders whose sizes are asked for one by one where the host lists only a part of the tree. */
const FOLDERS = 10

export function createBlobSupply(options: SupplyOptions): BlobSupply {
  return new RemoteBlobs(options)
}

class RemoteBlobs implements BlobSupply {
  readonly #options: SupplyOptions
  readonly #sizes = new Map<string, number>()
  /** All blobs of the tree. */
  readonly #blobs = new Set<string>()
  readonly #fetched = new Set<string>()
  #root = ''
  #hasAskedSizes = false
  #fetching: Promise<void> = Promise.resolve()

  constructor(options: SupplyOptions) {
    this.#options = options
  }

  async prepare(tree: string, lines: readonly TreeLine[]): Promise<void> {
    this.#root = tree
    for (const { type, oid } of lines) if (type === 'blob') this.#blobs.add(oid)
    const { wanted, perhaps, unknown } = await this.#select(lines)
    const maxBytes = this.#options.selection?.maxBytes ?? ANY_BYTES
    const { hasSmallBlobs } = this.#options
    const areFewTexts = !hasSmallBlobs && wanted.size <= BLIND_BLOBS && unknown.every(({ oid }) => wanted.has(oid))
    if (hasSmallBlobs) await this.#noteFetched()
    // When every blob is wanted, the host can filter them by size itself.
    else if (!areFewTexts && wanted.size === this.#blobs.size) await this.#inTurn(() => this.#fetchSmall(maxBytes))
    const absent = unknown.filter(({ oid }) => !this.#fetched.has(oid))
    if (!areFewTexts && absent.length > 0) await this.#listSizesOf(absent)
    // The size of a blob that the host does not list shows once the blob is fetched.
    const unlisted = absent.flatMap(({ oid }) => (this.#sizes.has(oid) ? [] : [oid]))
    await this.fetch([...wanted, ...unlisted, ...this.#small(perhaps, maxBytes)], maxBytes)
  }

  fetch(oids: readonly string[], maxBytes: number): Promise<void> {
    return this.#inTurn(() => this.#fetchNow(oids, maxBytes))
  }

  isFetched(oid: string): boolean {
    return this.#fetched.has(oid)
  }

  sizeOf(oid: string): number | null {
    return this.#sizes.get(oid) ?? null
  }

  settled(): Promise<void> {
    return this.#fetching.catch(() => {})
  }

  /** The blobs whose bytes are wanted, and the files whose bytes or size are; without those that the caller holds already. */
  async #select(lines: readonly TreeLine[]): Promise<{ wanted: Set<string>; perhaps: Set<string>; unknown: TreeLine[] }> {
    const { selection } = this.#options
    const uses = selection?.usesOf(lines)
    const asked = lines.filter(({ oid }, index) => this.#blobs.has(oid) && uses?.[index] !== 'nothing')
    const oids = new Set(asked.map(({ oid }) => oid))
    const held = (oids.size > 0 && (await selection?.heldAmong?.([...oids]))) || NONE
    const ofUse = (use: BlobUse) =>
      new Set(lines.flatMap(({ oid }, index) => (uses?.[index] === use && !held.has(oid) ? [oid] : [])))
    return { wanted: ofUse('bytes'), perhaps: ofUse('perhaps'), unknown: asked.filter(({ oid }) => !held.has(oid)) }
  }

  /** Of the blobs whose sizes the host listed, the first that are small and fit into `perhapsBytes` together. */
  #small(perhaps: ReadonlySet<string>, maxBytes: number): string[] {
    let leftBytes = this.#options.selection?.perhapsBytes ?? 0
    return [...perhaps].filter(oid => {
      const sizeBytes = this.#sizes.get(oid) ?? Number.POSITIVE_INFINITY
      if (sizeBytes > Math.min(leftBytes, maxBytes)) return false
      leftBytes -= sizeBytes
      return true
    })
  }

  /** Whether the host listed all sizes below the tree; `null` when it does not answer. */
  async #listSizes(tree: string): Promise<boolean | null> {
    this.#hasAskedSizes = true
    const listed = await this.#options.listSizes(tree, this.#options.signal)
    for (const [oid, size] of listed?.sizes ?? []) if (this.#blobs.has(oid)) this.#sizes.set(oid, size)
    return listed?.isComplete ?? null
  }

  /** Asks for the sizes of the whole tree; where the list is incomplete, also for those of some folders with missing sizes. */
  async #listSizesOf(files: readonly TreeLine[]): Promise<void> {
    if ((await this.#listSizes(this.#root)) !== false) return
    const { gitDir, signal } = this.#options
    const paths = files.flatMap(({ path, oid }) => (path !== null && !this.#sizes.has(oid) ? [path] : []))
    for (const tree of await treesOf(this.#root, foldersOf(paths, FOLDERS), gitDir, signal)) await this.#listSizes(tree)
  }

  /** Fetches all small blobs of the commit in one request; the host omits larger ones. */
  async #fetchSmall(maxBytes: number): Promise<void> {
    await this.#ask(options => fetchSmallBlobs(options, this.#options.commit, maxBytes))
    await this.#noteFetched()
  }

  async #noteFetched(): Promise<void> {
    const { gitDir, signal } = this.#options
    const absent = await absentOf(this.#blobs, gitDir, signal)
    for (const oid of this.#blobs) if (!absent.has(oid)) this.#fetched.add(oid)
  }

  async #fetchNow(oids: readonly string[], maxBytes: number): Promise<void> {
    const { commit, selection } = this.#options
    const isWanted = (oid: string) => this.#blobs.has(oid) && !this.#fetched.has(oid) && (this.#sizes.get(oid) ?? 0) <= maxBytes
    let wanted = [...new Set(oids)].filter(isWanted)
    // Without a selection, a blob may be of any size.
    if (!selection && !this.#hasAskedSizes && wanted.length > 0) {
      await this.#listSizes(this.#root)
      wanted = wanted.filter(isWanted)
    }
    await this.#ask(options =>
      wanted.length > NAMED_BLOBS ? fetchSmallBlobs(options, commit, maxBytes) : fetchBlobs(options, wanted),
    )
    for (const oid of wanted) this.#fetched.add(oid)
  }

  #ask(fetch: (options: FetchOptions) => Promise<void>): Promise<void> {
    return this.#options.ask(remote => fetch({ ...this.#options, remote }), this.#options.signal)
  }

  /** Runs one fetch at a time: two would wait for each other's locks. */
  #inTurn(fetch: () => Promise<void>): Promise<void> {
    this.#fetching = this.#fetching.catch(() => {}).then(fetch)
    return this.#fetching
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Deeper folders are not split further. */
const FOLDER_DEPTH = 64

/** A folder with the wanted folders in it, by their paths below it; `''` is the folder itself. */
interface FolderGroup {
  folder: string
  wanted: readonly string[]
}

/**
 * At most `count` folders that hold all paths, as deep as that number allows; when the top level already has more, some of its folders.
 * The root is not among them.
 */
export function foldersOf(paths: readonly string[], count: number): string[] {
  const folders = new Set(paths.map(path => path.slice(0, Math.max(0, path.lastIndexOf('/')))))
  let groups = splitBelow({ folder: '', wanted: [...folders] })
  for (let depth = 1; depth < FOLDER_DEPTH && groups.length <= count; depth++) {
    const deeper = groups.flatMap(splitBelow)
    if (deeper.length > count) break
    groups = deeper
  }
  const found = groups.map(({ folder }) => folder)
  return found.filter(folder => folder !== '' && !folder.includes('\n')).slice(0, count)
}

function splitBelow({ folder, wanted }: FolderGroup): FolderGroup[] {
  return [...Map.groupBy(wanted, rest => rest.split('/', 1)[0] ?? '')].map(([name, rests]) => {
    if (name === '') return { folder, wanted: [''] }
    return { folder: folder === '' ? name : `${folder}/${name}`, wanted: rests.map(rest => rest.slice(name.length + 1)) }
  })
}

/** The objects that the repository does not have. */
async function absentOf(oids: ReadonlySet<string>, gitDir: string, signal: AbortSignal): Promise<Set<string>> {
  const input = [...oids].join('\n')
  const maxOutputBytes = oids.size * OBJECT_LINE_BYTES
  const output = await runGit(['cat-file', '--batch-check=%(objecttype)'], { gitDir, signal, input, maxOutputBytes })
  return new Set(output.toString().match(/^[0-9a-f]{40}(?= missing$)/gm))
}

const OBJECT_LINE_BYTES = 64

async function treesOf(root: string, folders: readonly string[], gitDir: string, signal: AbortSignal): Promise<string[]> {
  if (folders.length === 0) return []
  const input = folders.map(folder => `${root}:${folder}\n`).join('')
  const output = (await runGit(['cat-file', '--batch-check'], { gitDir, signal, input })).toString()
  return output.split('\n').flatMap(line => /^([0-9a-f]{40}) tree /.exec(line)?.[1] ?? [])
}

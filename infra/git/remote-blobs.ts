import type { BlobSelection } from '#core/ports/git-host.ts'
import { type FetchOptions, fetchBlobs, fetchSmallBlobs } from './fetch.ts'
import { runGit } from './process.ts'
import type { TreeLine } from './tree-lines.ts'

/** Brings what a reader has not at hand. */
export interface BlobSupply {
  /** Told of the whole tree, once, before anything is asked of its blobs. */
  prepare(tree: string, lines: readonly TreeLine[]): Promise<void>
  /** Brings blobs of the tree, except those known to be larger. */
  bring(oids: readonly string[], maxBytes: number): Promise<void>
  /** Whether the host was asked for the blob, so that it makes sense to look for it. */
  isBrought(oid: string): boolean
  /** As the host told it without sending the blob. */
  sizeOf(oid: string): number | null
  /** Resolves when nothing is being brought. */
  settled(): Promise<void>
}

/** What the host tells of the blobs below a tree. */
export interface ToldSizes {
  sizes: ReadonlyMap<string, number>
  /** Nothing was left out. */
  whole: boolean
}

export interface SupplyOptions extends FetchOptions {
  commit: string
  selection: BlobSelection | undefined
  /** Asks the host for the sizes of all blobs below a tree; `null` when it does not answer. */
  tellSizes(tree: string, signal: AbortSignal): Promise<ToldSizes | null>
}

/** So few blobs are fetched without asking first how large they are. */
const BLIND_BLOBS = 64
/** With more, naming each one takes longer than fetching all small ones of the commit. */
const NAMED_BLOBS = 20_000
/** More than any blob has. */
const ANY_BYTES = 2 ** 40
/** Folders that are asked for by themselves where the host tells of a part of the tree only. */
const FOLDERS = 10

export function createBlobSupply(options: SupplyOptions): BlobSupply {
  const { gitDir, signal, commit, selection } = options
  const sizes = new Map<string, number>()
  const blobs = new Set<string>()
  const brought = new Set<string>()
  let root = ''
  let hasAskedSizes = false
  let bringing: Promise<void> = Promise.resolve()

  /** Whether the host told of everything; `null` when it does not answer. */
  async function learnSizes(tree: string): Promise<boolean | null> {
    hasAskedSizes = true
    const told = await options.tellSizes(tree, signal)
    for (const [oid, size] of told?.sizes ?? []) if (blobs.has(oid)) sizes.set(oid, size)
    return told?.whole ?? null
  }

  async function learnSizesOf(asked: readonly TreeLine[]): Promise<void> {
    if ((await learnSizes(root)) !== false) return
    const paths = asked.flatMap(({ path, oid }) => (path !== null && !sizes.has(oid) ? [path] : []))
    for (const tree of await treesOf(root, foldersOf(paths, FOLDERS), gitDir, signal)) await learnSizes(tree)
  }

  /** All small blobs of the commit in one go. Those that are larger the host leaves out. */
  async function bringSmall(maxBytes: number): Promise<void> {
    await fetchSmallBlobs(options, commit, maxBytes)
    const absent = await absentOf(blobs, gitDir, signal)
    for (const oid of blobs) if (!absent.has(oid)) brought.add(oid)
  }

  async function bringNow(oids: readonly string[], maxBytes: number): Promise<void> {
    const isWanted = (oid: string) => blobs.has(oid) && !brought.has(oid) && (sizes.get(oid) ?? 0) <= maxBytes
    let wanted = [...new Set(oids)].filter(isWanted)
    // Nobody was told what would be asked for, so it may be anything.
    if (!selection && !hasAskedSizes && wanted.length > 0) {
      await learnSizes(root)
      wanted = wanted.filter(isWanted)
    }
    if (wanted.length > NAMED_BLOBS) await fetchSmallBlobs(options, commit, maxBytes)
    else await fetchBlobs(options, wanted)
    for (const oid of wanted) brought.add(oid)
  }

  /** One at a time: two fetches would wait for each other's locks. */
  function inTurn(fetch: () => Promise<void>): Promise<void> {
    bringing = bringing.catch(() => {}).then(fetch)
    return bringing
  }

  const bring: BlobSupply['bring'] = (oids, maxBytes) => inTurn(() => bringNow(oids, maxBytes))

  return {
    async prepare(tree, lines) {
      root = tree
      for (const { type, oid } of lines) if (type === 'blob') blobs.add(oid)
      const uses = selection?.usesOf(lines)
      const isAsked = (oid: string, index: number) => blobs.has(oid) && uses?.[index] !== 'nothing'
      const asked = lines.filter(({ oid }, index) => isAsked(oid, index))
      const oids = new Set(asked.map(({ oid }) => oid))
      const held = (oids.size > 0 && (await selection?.heldAmong?.([...oids]))) || NONE

      const wanted = new Set(lines.filter(({ oid }, index) => uses?.[index] === 'bytes' && !held.has(oid)).map(({ oid }) => oid))
      const unknown = asked.filter(({ oid }) => !held.has(oid))
      const maxBytes = selection?.maxBytes ?? ANY_BYTES
      const areFewTexts = wanted.size <= BLIND_BLOBS && unknown.every(({ oid }) => wanted.has(oid))
      // Where all is wanted nobody has to be told first what of it is small.
      if (!areFewTexts && wanted.size === blobs.size) await inTurn(() => bringSmall(maxBytes))
      const absent = unknown.filter(({ oid }) => !brought.has(oid))
      if (!areFewTexts && absent.length > 0) await learnSizesOf(absent)
      // Where the host does not tell, the blobs themselves do.
      const untold = absent.flatMap(({ oid }) => (sizes.has(oid) ? [] : [oid]))
      await bring([...wanted, ...untold], maxBytes)
    },
    bring,
    isBrought: oid => brought.has(oid),
    sizeOf: oid => sizes.get(oid) ?? null,
    settled: () => bringing.catch(() => {}),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Folders that lie deeper are not told apart. */
const FOLDER_DEPTH = 64

/** A folder, and of those that are asked for: itself as an empty text, and what lies below it by the rest of its path. */
interface FolderGroup {
  folder: string
  asked: readonly string[]
}

/** At most so many folders, as deep as they hold all paths; some of the top ones where there are too many. The root is none. */
export function foldersOf(paths: readonly string[], count: number): string[] {
  const folders = new Set(paths.map(path => path.slice(0, Math.max(0, path.lastIndexOf('/')))))
  let groups = partedBelow({ folder: '', asked: [...folders] })
  for (let depth = 1; depth < FOLDER_DEPTH && groups.length <= count; depth++) {
    const deeper = groups.flatMap(partedBelow)
    if (deeper.length > count) break
    groups = deeper
  }
  const found = groups.map(({ folder }) => folder)
  return found.filter(folder => folder !== '' && !folder.includes('\n')).slice(0, count)
}

function partedBelow({ folder, asked }: FolderGroup): FolderGroup[] {
  return [...Map.groupBy(asked, rest => rest.split('/', 1)[0] ?? '')].map(([name, rests]) => {
    if (name === '') return { folder, asked: [''] }
    return { folder: folder === '' ? name : `${folder}/${name}`, asked: rests.map(rest => rest.slice(name.length + 1)) }
  })
}

/** Those of the objects that the repository does not have. */
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

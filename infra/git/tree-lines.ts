import { isUtf8 } from 'node:buffer'
import { createYielder } from '#core/concurrency/yielding.ts'
import type { ReadLimits, TreeEntry } from '#core/ports/git-host.ts'
import type { ObjectBatch, ObjectBytes } from './object-batch.ts'
import { parseTree, readObject, subtreesOf, type TreeItem } from './tree-objects.ts'

/** A file or submodule of a tree. */
export interface TreeLine {
  type: 'blob' | 'commit'
  path: string | null
  mode: TreeEntry['mode']
  oid: string
}

export interface ListOptions {
  /** Not used by others between two batches of lines. */
  batch: ObjectBatch
  /** Id of the tree. */
  tree: string
  limits: Pick<ReadLimits, 'treeEntries' | 'treeDepthSegments'>
  signal: AbortSignal
}

/** Longest path. Only a hostile tree has longer ones. */
const PATH_BYTES = 16 * 1024
/** Bounds the whole listing: with long names in deep folders, few entries take many bytes. */
const LISTED_BYTES_PER_ENTRY = 256
const LISTED_BYTES = 1024 * 1024
const LINES_AT_ONCE = 1024

/**
 * The files and submodules below the tree, in batches, in the order of `git ls-tree -r`. Every tree is compared with its id: git believes
 * the index of a pack, which may list any tree under any id.
 *
 * @param onCut called when the tree exceeds the limits; the listing is then incomplete
 * @throws Error when a tree is missing or damaged; GitError; the reason of the signal
 */
export async function* listTree(options: ListOptions, onCut: () => void): AsyncGenerator<TreeLine[]> {
  const walk = new TreeWalk(options, onCut)
  await walk.enter(options.tree, { prefix: '', prefixBytes: 0, depth: 0 })
  while (!walk.isOver) yield await walk.nextLines()
}

interface Place {
  /** Empty, or ends in a slash; `null` when it is not UTF-8. */
  prefix: string | null
  prefixBytes: number
  /** Segments of the prefix. */
  depth: number
}

interface Folder extends Place {
  items: Iterator<TreeItem>
}

class TreeWalk {
  readonly #options: ListOptions
  readonly #onCut: () => void
  readonly #trees: VerifiedTrees
  readonly #yieldIfDue: () => Promise<void> | undefined
  readonly #listableBytes: number
  readonly #count = { files: 0, folders: 0, bytes: 0 }
  /** The folder that is being listed, and those above it. */
  #open: Folder[] = []

  constructor(options: ListOptions, onCut: () => void) {
    this.#options = options
    this.#onCut = onCut
    this.#listableBytes = Math.max(LISTED_BYTES, options.limits.treeEntries * LISTED_BYTES_PER_ENTRY)
    this.#trees = new VerifiedTrees(options.batch, this.#listableBytes)
    this.#yieldIfDue = createYielder(options.signal)
  }

  get isOver(): boolean {
    return this.#open.length === 0
  }

  async nextLines(): Promise<TreeLine[]> {
    const lines: TreeLine[] = []
    while (lines.length < LINES_AT_ONCE) {
      const waiting = this.#yieldIfDue()
      if (waiting) await waiting
      const folder = this.#open.at(-1)
      if (folder === undefined) break
      const { done, value: item } = folder.items.next()
      if (done) this.#open.pop()
      else {
        const entering = this.#visit(folder, item, lines)
        if (entering) await entering
      }
    }
    return lines
  }

  /** @throws Error when the tree is missing or damaged */
  async enter(oid: string, place: Place): Promise<void> {
    const levels = this.#options.limits.treeDepthSegments - place.depth + 1
    const bytes = await this.#trees.read(oid, levels)
    if (bytes === 'unreadable') throw new Error(`the tree ${oid} is missing or damaged`)
    if (bytes === 'too_large') this.#cutHere()
    else this.#open.push({ ...place, items: parseTree(bytes) })
  }

  /** A promise only for a folder: most items are files. */
  #visit(folder: Folder, item: TreeItem, lines: TreeLine[]): Promise<void> | undefined {
    const { name, oid } = item
    const { treeEntries, treeDepthSegments } = this.#options.limits
    const count = this.#count
    const pathBytes = folder.prefixBytes + name.length
    const depth = folder.depth + countSegments(name)
    count.bytes += pathBytes
    const isOver = (item.type === 'tree' ? ++count.folders : ++count.files) > treeEntries
    if (isOver || pathBytes > PATH_BYTES || count.bytes > this.#listableBytes) this.#cutHere()
    else if (depth > treeDepthSegments) this.#onCut()
    else {
      const path = folder.prefix !== null && isUtf8(name) ? folder.prefix + name.toString() : null
      if (item.type === 'tree')
        return this.enter(oid, { prefix: path === null ? null : `${path}/`, prefixBytes: pathBytes + 1, depth })
      lines.push({ type: item.type, path, mode: item.mode, oid })
    }
    return undefined
  }

  /** Ends the listing. */
  #cutHere(): void {
    this.#open = []
    this.#onCut()
  }
}

function countSegments(name: Uint8Array): number {
  let segments = 1
  for (let slash = name.indexOf(0x2f); slash >= 0; slash = name.indexOf(0x2f, slash + 1)) segments++
  return segments
}

/** Trees in one question. */
const GROUP = 512
/** Trees that are read before the walk reaches them. Most repositories have fewer bytes of trees in all. */
const AHEAD_BYTES = 16 * 1024 * 1024

/** Reads trees level by level ahead of the walk: one question for each level, instead of one for each folder. */
class VerifiedTrees {
  readonly #batch: ObjectBatch
  readonly #maxBytes: number
  readonly #held = new Map<string, ObjectBytes>()
  #heldBytes = 0

  constructor(batch: ObjectBatch, maxBytes: number) {
    this.#batch = batch
    this.#maxBytes = maxBytes
  }

  /** @param levels how deep below the tree the walk may go */
  async read(oid: string, levels: number): Promise<ObjectBytes> {
    if (!this.#held.has(oid)) await this.#readAhead(oid, levels)
    return this.#held.get(oid) ?? (await readObject(this.#batch, 'tree', oid, this.#maxBytes))
  }

  async #readAhead(oid: string, levels: number): Promise<void> {
    let level = [oid]
    for (let left = levels; left > 0 && level.length > 0; left--) {
      const below = new Set<string>()
      for (let at = 0; at < level.length; at += GROUP) {
        if (this.#heldBytes >= AHEAD_BYTES) return
        await this.#readGroup(level.slice(at, at + GROUP), below)
      }
      level = [...below].filter(one => !this.#held.has(one))
    }
  }

  async #readGroup(oids: readonly string[], below: Set<string>): Promise<void> {
    const wanted = oids.map(oid => ({ oid, maxBytes: this.#maxBytes }))
    let index = 0
    for await (const tree of this.#batch.contents('tree', wanted)) {
      this.#held.set(oids[index++] as string, tree)
      if (typeof tree === 'string') continue
      for (const subtree of subtreesOf(tree)) below.add(subtree)
      this.#heldBytes += tree.length
      if (this.#heldBytes >= AHEAD_BYTES) return
    }
  }
}

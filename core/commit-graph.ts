import { type CommitSha, isCommitSha } from './commit-sha.ts'

/** A commit of a history, as git lists it. */
export interface ListedCommit {
  id: string
  /** Since 1970; `null` when it is no date that a calendar has. */
  seconds: number | null
  /** In git's order. None where the history begins. */
  parents: readonly string[]
}

/** What `CommitGraph.ancestorsOf` found. */
export interface Ancestors {
  /** Whether the commit is an ancestor, or the commit itself; `null` where the listed part of the history does not tell. */
  has(commit: string): boolean | null
}

const DIGITS = 40
/** A parent that is not listed. */
const UNLISTED = -1

/**
 * The newest commits that the branches and tags of a repository lead to, with their dates and parents. It takes some 60 bytes a commit, since a process
 * keeps those of many repositories.
 */
export class CommitGraph {
  /** The ids in byte order, one after the other. A commit is known by its position among them. */
  readonly #ids: string
  readonly #seconds: Float64Array
  /** Positions of the parents of all commits; those of a commit begin at its offset. */
  readonly #parents: Int32Array
  readonly #offsets: Uint32Array
  /** Commits of tips that are not listed themselves: of annotated tags, and of old commits. */
  readonly #peeled: ReadonlyMap<string, CommitSha>

  /** @param peeled the commit of each tip that is an annotated tag, or a commit that is not listed */
  constructor(commits: readonly ListedCommit[], peeled: ReadonlyMap<string, CommitSha> = new Map()) {
    const sorted = commits.toSorted((left, right) => (left.id < right.id ? -1 : 1))
    this.#ids = Buffer.from(sorted.map(({ id }) => id).join(''), 'latin1').toString('latin1')
    this.#seconds = Float64Array.from(sorted, ({ seconds }) => seconds ?? Number.NaN)
    this.#peeled = peeled
    const parents: number[] = []
    const offsets = [0]
    for (const commit of sorted) {
      for (const parent of commit.parents) parents.push(this.#find(parent))
      offsets.push(parents.length)
    }
    this.#parents = Int32Array.from(parents)
    this.#offsets = Uint32Array.from(offsets)
  }

  get size(): number {
    return this.#seconds.length
  }

  /** Estimated memory. */
  get sizeBytes(): number {
    return this.#ids.length + 12 * this.size + 4 * this.#parents.length + 200 * this.#peeled.size
  }

  /** The commit that a tip leads to; `null` when it leads to none, or to one that is not known. @param oid of a branch or a tag */
  commitOf(oid: string): CommitSha | null {
    return this.#find(oid) === UNLISTED ? (this.#peeled.get(oid) ?? null) : (oid as CommitSha)
  }

  /** ISO 8601, UTC; `null` for a commit that is not listed, or has no date. */
  dateOf(commit: string): string | null {
    const seconds = this.#seconds[this.#find(commit)]
    return seconds === undefined || Number.isNaN(seconds) ? null : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
  }

  /** The first parent; `null` where the history begins, `undefined` where the listed part does not tell. */
  parentOf(commit: string): CommitSha | null | undefined {
    const at = this.#find(commit)
    if (at === UNLISTED) return undefined
    const [parent] = this.#parentsAt(at)
    if (parent === undefined) return null
    return parent === UNLISTED ? undefined : this.#idAt(parent)
  }

  /** The listed commits whose id begins so, in byte order, `max` at most. @param prefix hex digits in lower case */
  startingWith(prefix: string, max: number): CommitSha[] {
    const found: CommitSha[] = []
    for (let at = this.#bisect(prefix); at < this.size && found.length < max; at++) {
      const id = this.#idAt(at)
      if (!id.startsWith(prefix)) break
      found.push(id)
    }
    return found
  }

  ancestorsOf(commit: string): Ancestors {
    const start = this.#find(commit)
    const { seen, isWhole } = this.#walk(start)
    return {
      has: other => {
        if (other === commit) return true
        const at = this.#find(other)
        if (at !== UNLISTED && seen[at] === 1) return true
        return start !== UNLISTED && isWhole ? false : null
      },
    }
  }

  /** The number of commits that `to` leads to and `from` does not; `null` where the listed part of the history does not tell. */
  countBetween(from: string, to: string): number | null {
    const [old, new_] = [this.#find(from), this.#find(to)]
    if (old === UNLISTED || new_ === UNLISTED) return null
    const [before, after] = [this.#walk(old).seen, this.#walk(new_).seen]
    let count = 0
    for (let at = 0; at < this.size; at++) {
      if (after[at] !== 1 || before[at] === 1) continue
      if (this.#parentsAt(at).includes(UNLISTED)) return null
      count++
    }
    return count
  }

  /** Whether both lead to a commit; `null` where the listed part of the history does not tell. */
  haveCommonCommit(one: string, other: string): boolean | null {
    const [left, right] = [this.#walk(this.#find(one)), this.#walk(this.#find(other))]
    if (left.seen.some((seen, at) => seen === 1 && right.seen[at] === 1)) return true
    return left.isWhole && right.isWhole ? false : null
  }

  /** @returns by position, and whether every parent that was met is listed */
  #walk(start: number): { seen: Uint8Array; isWhole: boolean } {
    const seen = new Uint8Array(this.size)
    if (start === UNLISTED) return { seen, isWhole: false }
    let isWhole = true
    const open = [start]
    seen[start] = 1
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const parent of this.#parentsAt(at)) {
        if (parent === UNLISTED) isWhole = false
        else if (seen[parent] !== 1) {
          seen[parent] = 1
          open.push(parent)
        }
      }
    }
    return { seen, isWhole }
  }

  #parentsAt(at: number): Int32Array {
    return this.#parents.subarray(this.#offsets[at], this.#offsets[at + 1])
  }

  #idAt(at: number): CommitSha {
    return this.#ids.slice(at * DIGITS, (at + 1) * DIGITS) as CommitSha
  }

  #find(id: string): number {
    if (!isCommitSha(id)) return UNLISTED
    const at = this.#bisect(id)
    return at < this.size && this.#idAt(at) === id ? at : UNLISTED
  }

  /** The position of the first id that is not less. */
  #bisect(id: string): number {
    let [low, high] = [0, this.size]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#idAt(middle) < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { refNames } from '#core/address.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { createFairGate, type FairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { HostRefs } from '#core/ports/git-host.ts'
import type { TipSet } from '../git/history.ts'
import { UnreachableCommits } from '../git/unreachable-commits.ts'
import { type RepositoryLocation, readHead } from './location.ts'
import { NotSelfContained } from './object-files.ts'
import type { PrivateViews } from './private-views.ts'
import { DamagedRepository, peel, type Reached, reach, UnfinishedWalk } from './reachability.ts'
import { listRefs, PackedRefs, readRef, readTips } from './refs.ts'
import { type Computed, StatCache, type Watch } from './stat-cache.ts'

const PINNED_BYTES = 8 * 1024 * 1024
const ABSENT_BYTES = 4 * 1024 * 1024
/** Tips of all repositories. Those of one take 6 MB at most. */
const TIPS_BYTES = 32 * 1024 * 1024
/** Lists of branches and tags that visitors look at. */
const LISTS_BYTES = 8 * 1024 * 1024
/** A hash without an object is not looked up again for this time, unless a ref changes: a repository may still be copied into its place. */
const ABSENT_MS = 30_000
const UNFINISHED_BYTES = 1024 * 1024
/** A history whose walk took too long is not walked again for this time, unless a tip changes. So few such histories do not hold all slots. */
const UNFINISHED_MS = 120_000

export interface SearchTimes {
  /** Ends one search. */
  signal: () => AbortSignal
  /** Time in which a caller gets an answer. The search goes on, for a later call. */
  waitMs: number
}

/** Resolves refs and hashes of local repositories. What it caches is valid until the files change from which it was computed. */
export class Commits {
  readonly #views: PrivateViews
  readonly #byRef = new StatCache<CommitSha | null>()
  readonly #packed = new PackedRefs()
  /** `null` for a repository that is not self-contained. */
  readonly #tips = new StatCache<TipSet | null>(TIPS_BYTES)
  readonly #lists = new StatCache<HostRefs | null>(LISTS_BYTES)
  /** Commits to which the tips of their repository lead. */
  readonly #pinned = new LRUCache<string, true>({ maxSize: PINNED_BYTES, sizeCalculation: memoryOfEntry })
  /** Separate from `#pinned`: hashes of nothing are endless, and must not evict proofs. */
  readonly #unreachable = new UnreachableCommits()
  readonly #absent = new LRUCache<string, true>({ maxSize: ABSENT_BYTES, sizeCalculation: memoryOfEntry, ttl: ABSENT_MS })
  /** Searches whose walk took too long, by repository and fingerprint of the tips: another hash may take as long. */
  readonly #unfinished = new LRUCache<string, true>({
    maxSize: UNFINISHED_BYTES,
    sizeCalculation: memoryOfEntry,
    ttl: UNFINISHED_MS,
  })
  readonly #proofs = createSingleFlight<boolean>()
  readonly #concurrency: GitConcurrency
  readonly #times: SearchTimes
  readonly #refuse: (location: RepositoryLocation) => void

  /** @param refuse called for a repository that is not self-contained */
  constructor(
    views: PrivateViews,
    concurrency: GitConcurrency,
    times: SearchTimes,
    refuse: (location: RepositoryLocation) => void,
  ) {
    this.#views = views
    this.#concurrency = concurrency
    this.#times = times
    this.#refuse = refuse
  }

  /**
   * The commit that a ref of the repository names; `null` when there is none.
   *
   * @param ref a branch, a tag, `refs/heads/…`, `refs/tags/…` or 40 hex digits; `null` stands for the target of HEAD
   * @throws GateFull, also when the caller waited too long; GitError when git was killed or could not be started; DamagedRepository; UnfinishedWalk; ViewUnavailable
   */
  async find(location: RepositoryLocation, ref: string | null): Promise<CommitSha | null> {
    const known = this.#known(location, ref)
    if (known !== null) return known
    return await withTimeout(this.#find(location, ref), this.#times.waitMs, () => {
      throw new GateFull()
    })
  }

  /**
   * The branches and tags; `null` for a repository that is not self-contained.
   *
   * @throws GateFull, ViewTooLarge
   */
  async refs(location: RepositoryLocation): Promise<HostRefs | null> {
    return await this.#lists.get(location.identity, watch =>
      this.#ifSelfContained(
        location,
        this.#concurrency.lookUp(location.identity, () => listRefs(this.#packed, location, watch)),
      ),
    )
  }

  /** The commit if it was found before: most requests ask for one of these, and need no timer. */
  #known(location: RepositoryLocation, ref: string | null): CommitSha | null {
    if (ref === null || !isCommitSha(ref)) return this.#byRef.cached(refKey(location, ref))?.value ?? null
    const oid = ref.toLowerCase() as CommitSha
    const tips = this.#tips.cached(location.identity)?.value
    return tips && this.#pinned.has(pinKey(location, tips.fingerprint, oid)) ? oid : null
  }

  #find(location: RepositoryLocation, ref: string | null): Promise<CommitSha | null> {
    if (ref !== null && isCommitSha(ref)) return this.#findPinned(location, ref.toLowerCase() as CommitSha)
    return this.#byRef.get(refKey(location, ref), watch => this.#ifSelfContained(location, this.#findRef(location, ref, watch)))
  }

  /** Behind the gate from the first file on: the packed refs of a repository may be large, and names of nothing are endless. */
  async #findRef(location: RepositoryLocation, ref: string | null, watch: Watch): Promise<Computed<CommitSha | null>> {
    const lookUp = <Value>(task: () => Promise<Value>) => this.#concurrency.lookUp(location.identity, task)
    const oid = await lookUp(() =>
      ref === null ? readDefault(this.#packed, location, watch) : firstOf(this.#packed, location, refNames(ref), watch),
    )
    if (oid === null) return { value: null, keep: true }
    await this.#views.prepare(location, this.#times.signal())
    const commit = await lookUp(() => this.#inView(location, (gitDir, signal) => peel(gitDir, oid, signal)))
    // A missing object may come later.
    if (commit === 'absent' || (typeof commit === 'object' && commit !== null)) throw new DamagedRepository(oid)
    return { value: commit, keep: commit !== null }
  }

  /** A commit counts only if a branch, a tag or HEAD leads to it: other objects were never published, or are no longer. */
  async #findPinned(location: RepositoryLocation, oid: CommitSha): Promise<CommitSha | null> {
    const fingerprint = (await this.#tipsOf(location))?.fingerprint
    if (fingerprint === undefined) return null
    const key = pinKey(location, fingerprint, oid)
    if (this.#pinned.has(key)) return oid
    if (this.#absent.has(key) || this.#unreachable.fingerprintOf(location.identity, oid) === fingerprint) return null
    return (await this.#proofs.run(key, () => this.#prove(location, oid))) ? oid : null
  }

  /** What all branches and tags point at; `null` for a repository that is not self-contained. @throws GateFull, ViewTooLarge */
  async tips(location: RepositoryLocation): Promise<TipSet | null> {
    return await this.#tipsOf(location)
  }

  #tipsOf(location: RepositoryLocation): Promise<TipSet | null> {
    const read = (watch: Watch) => this.#ifSelfContained(location, readTips(this.#packed, location, watch))
    return this.#tips.get(location.identity, watch => this.#concurrency.lookUp(location.identity, () => read(watch)))
  }

  async #prove(location: RepositoryLocation, oid: CommitSha): Promise<boolean> {
    await this.#views.prepare(location, this.#times.signal())
    return await this.#concurrency.walk(location.identity, async () => {
      const tips = await this.#tipsOf(location)
      const reached = tips && (await this.#walk(location, tips, oid))
      if (tips === null || reached === null) return false
      // A tip that is there may be a tag, a tree or a blob, which is no commit and damages nothing.
      const isLost = async () => (await this.#inView(location, (gitDir, signal) => peel(gitDir, oid, signal))) === 'absent'
      if (reached === 'treeless') throw new DamagedRepository(oid)
      if (reached === 'unknown' && tips.oids.includes(oid) && (await isLost())) throw new DamagedRepository(oid)
      if (reached === 'yes') this.#pinned.set(pinKey(location, tips.fingerprint, oid), true)
      if (reached === 'no') this.#unreachable.add(location.identity, oid, tips.fingerprint)
      if (reached === 'unknown') this.#absent.set(pinKey(location, tips.fingerprint, oid), true)
      return reached === 'yes'
    })
  }

  /** @throws UnfinishedWalk also for the walks that waited behind the one that took too long */
  async #walk(location: RepositoryLocation, tips: TipSet, oid: CommitSha): Promise<Reached | null> {
    const key = pinKey(location, tips.fingerprint)
    // A tip is found without a walk.
    if (this.#unfinished.has(key) && !tips.oids.includes(oid)) throw new UnfinishedWalk()
    return await this.#inView(location, (gitDir, signal) =>
      reach(gitDir, tips, oid, signal).catch(cause => {
        if (!signal.aborted) throw cause
        this.#unfinished.set(key, true)
        throw new UnfinishedWalk({ cause })
      }),
    )
  }

  /** `null` also when the repository is not self-contained. */
  async #inView<Value>(
    location: RepositoryLocation,
    use: (gitDir: string, signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | null> {
    const view = await this.#views.open(location, this.#times.signal())
    if (view === null) {
      this.#refuse(location)
      return null
    }
    try {
      return await use(view.gitDir, this.#times.signal())
    } finally {
      await view.remove()
    }
  }

  /** A repository that is not self-contained has no refs. No watched file shows when that changes. */
  async #ifSelfContained<Value>(
    location: RepositoryLocation,
    computing: Promise<Computed<Value>>,
  ): Promise<Computed<Value | null>> {
    try {
      return await computing
    } catch (error) {
      if (!(error instanceof NotSelfContained)) throw error
      this.#refuse(location)
      return { value: null, keep: false }
    }
  }
}

function refKey({ identity }: RepositoryLocation, ref: string | null): string {
  return `${identity}:${ref === null ? '' : `=${ref}`}`
}

function pinKey({ identity }: RepositoryLocation, fingerprint: string, oid = ''): string {
  return `${identity}:${fingerprint}:${oid}`
}

/** The object of the branch that HEAD names, or the commit of a detached HEAD. */
async function readDefault(packed: PackedRefs, location: RepositoryLocation, watch: Watch): Promise<string | null> {
  watch(join(location.gitDir, 'HEAD'))
  const head = await readHead(location.gitDir)
  if (head === null) return null
  return 'ref' in head ? firstOf(packed, location, refNames(head.ref), watch) : head.commit
}

/** The object of the first ref that exists. */
async function firstOf(
  packed: PackedRefs,
  { commonDir }: RepositoryLocation,
  names: readonly string[],
  watch: Watch,
): Promise<string | null> {
  for (const name of names) {
    const oid = await readRef(packed, commonDir, name, watch)
    if (oid !== null) return oid
  }
  return null
}

/** Bounds the git processes that answer requests, in all and for each repository. The key of both gates is the identity of the repository. */
export interface GitConcurrency {
  /** For refs: a few milliseconds each. */
  lookUp: FairGate
  /** For hashes, which may take a walk of a whole history, for seconds: it holds no slot of a ref. */
  walk: FairGate
  /** For the commits of paths, which answers do without: up to 5 seconds of a processor each, so they hold no slot of a hash. */
  history: FairGate
}

const LOOKUPS = { limit: 8, limitEach: 3, maxWaitingEach: 256, maxWaiting: 1_024 }
const WALKS = { limit: 4, limitEach: 1, maxWaitingEach: 32, maxWaiting: 128 }
const HISTORIES = { limit: 2, limitEach: 1, maxWaitingEach: 16, maxWaiting: 64 }

/** Tasks throw GateFull when too many wait. */
export function createGitConcurrency(): GitConcurrency {
  return { lookUp: createFairGate(LOOKUPS), walk: createFairGate(WALKS), history: createFairGate(HISTORIES) }
}

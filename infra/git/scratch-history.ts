import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Limit } from '#core/concurrency/fair-gate.ts'
import { absentTips, fetchHistory, isCommit, leadsTo, setTips, type TipSet } from './history.ts'
import type { GitResources } from './process.ts'
import type { Remote } from './upload-pack.ts'
import { type GitView, openScratch } from './view.ts'

export interface ScratchHistoryOptions {
  /** Aborts every git process and request. */
  closing: AbortSignal
  /** Bounds the concurrent fetches of all histories together. */
  fetchLimit: Limit
  /** Bounds the concurrent walks of all histories together. */
  walkLimit: Limit
  /** Limits of one fetch. Default: those of `fetchTrees`. */
  resources: GitResources | undefined
  /** Time from opening until the history expires. */
  lifetimeMs: number
  onExpired(): void
}

const ANSWER_MS = 60_000
/** Every incremental fetch adds a pack, and git searches all of them. */
const INCREMENTAL_FETCHES = 20

/** The commits of one repository, without trees, in a scratch repository whose refs are the tips. */
export class ScratchHistory {
  readonly #view: GitView
  readonly #options: ScratchHistoryOptions
  readonly #timer: NodeJS.Timeout
  #fingerprint = ''
  #bytes = 0
  #incrementalFetches = 0
  #isExpired = false

  /** Makes the scratch repository, empty. */
  static async open(options: ScratchHistoryOptions): Promise<ScratchHistory> {
    return new ScratchHistory(await openScratch(), options)
  }

  private constructor(view: GitView, options: ScratchHistoryOptions) {
    this.#view = view
    this.#options = options
    this.#timer = setTimeout(() => {
      this.#isExpired = true
      options.onExpired()
    }, options.lifetimeMs).unref()
  }

  /** Size of the packs. */
  get bytes(): number {
    return this.#bytes
  }

  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Whether the next change of the tips needs a new scratch repository. */
  get isSpent(): boolean {
    return this.#isExpired || this.#incrementalFetches === INCREMENTAL_FETCHES
  }

  isCurrent(tips: TipSet): boolean {
    return this.#fingerprint === tips.fingerprint && !this.#isExpired
  }

  /** Fetches the whole history. The caller holds a place of the fetch gate. @throws as `fetchTrees` */
  async fetchAll(remote: Remote, tips: TipSet): Promise<void> {
    await this.#fetch(remote, tips.oids, tips)
    await this.#moveTo(tips)
  }

  /** Fetches the tips that are new and the commits in their history. @throws GateFull, or as `fetchTrees` */
  async fetchAdded(remote: Remote, tips: TipSet): Promise<void> {
    const { closing, fetchLimit } = this.#options
    const { gitDir } = this.#view
    const added = await withDeadline(closing, signal => absentTips({ gitDir, signal }, tips))
    if (added.length > 0) {
      await fetchLimit(() => this.#fetch(remote, added, tips))
      this.#incrementalFetches++
    }
    await this.#moveTo(tips)
  }

  /** Whether a tip leads to the commit. @throws GitError */
  leadsTo(commit: string): Promise<boolean> {
    const { gitDir } = this.#view
    const { closing, walkLimit } = this.#options
    return walkLimit(() => withDeadline(closing, signal => leadsTo({ gitDir, signal }, commit)))
  }

  async remove(): Promise<void> {
    clearTimeout(this.#timer)
    // Best effort: `removeLeftoverViews` finds what stays.
    await this.#view.remove().catch(() => {})
  }

  #fetch(remote: Remote, oids: readonly string[], tips: TipSet): Promise<void> {
    const { closing } = this.#options
    const options = { gitDir: this.#view.gitDir, remote, ...limitsOf(this.#options) }
    return withDeadline(closing, signal => fetchHistory({ ...options, signal }, oids, tips))
  }

  /** Sets the refs to the tips. */
  async #moveTo(tips: TipSet): Promise<void> {
    const { gitDir } = this.#view
    await withDeadline(this.#options.closing, signal => setTips({ gitDir, signal }, tips))
    this.#fingerprint = tips.fingerprint
    this.#bytes = await packedBytes(gitDir)
  }
}

/** Whether the host gives out a commit under this id. Fetches it alone, into a scratch repository of its own. @throws as `fetchTrees` */
export async function isCommitOfHost(
  options: Pick<ScratchHistoryOptions, 'closing' | 'resources'>,
  remote: Remote,
  oid: string,
): Promise<boolean> {
  const { gitDir, remove } = await openScratch()
  try {
    return await withDeadline(options.closing, signal => isCommit({ gitDir, remote, signal, ...limitsOf(options) }, oid))
  } finally {
    await remove()
  }
}

function limitsOf({ resources }: Pick<ScratchHistoryOptions, 'resources'>): { resources?: GitResources } {
  return resources === undefined ? {} : { resources }
}

/** @throws DOMException `TimeoutError` once the time is up, whatever the work throws then */
async function withDeadline<Value>(closing: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const timeout = AbortSignal.timeout(ANSWER_MS)
  try {
    return await work(AbortSignal.any([closing, timeout]))
  } catch (error) {
    timeout.throwIfAborted()
    throw error
  }
}

async function packedBytes(gitDir: string): Promise<number> {
  const folder = join(gitDir, 'objects/pack')
  const sizes = await Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

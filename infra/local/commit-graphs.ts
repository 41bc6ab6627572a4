import { LRUCache } from 'lru-cache'
import type { CommitGraph } from '#core/commit-graph.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { entriesAtMost, memoryOfText } from '#core/memory.ts'
import { readCommitGraph } from '../git/commit-graph.ts'
import type { TipSet } from '../git/history.ts'
import { GitError } from '../git/process.ts'
import type { GitConcurrency, SearchTimes } from './commits.ts'
import type { RepositoryLocation } from './location.ts'
import type { PrivateViews } from './private-views.ts'

/** Memory of all graphs: those of some thirty large repositories, or of hundreds of small ones. */
const KEPT_BYTES = 16 * 1024 * 1024
/** Repositories whose history could not be listed are not tried again for this time. */
const FAILED_MS = 120_000
const FAILED = 1_000

/** The newest commits of local repositories, listed in private views. They are kept until a branch or tag moves. */
export class CommitGraphs {
  readonly #views: PrivateViews
  readonly #concurrency: GitConcurrency
  readonly #times: SearchTimes
  readonly #kept = new LRUCache<string, CommitGraph>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (graph, key) => 200 + memoryOfText(key) + graph.sizeBytes,
  })
  readonly #failed = new LRUCache<string, GitError>({ ...entriesAtMost(FAILED), ttl: FAILED_MS })
  readonly #reads = createSingleFlight<CommitGraph | null>()

  constructor(views: PrivateViews, concurrency: GitConcurrency, times: SearchTimes) {
    this.#views = views
    this.#concurrency = concurrency
    this.#times = times
  }

  /**
   * @returns `null` for a repository that is not self-contained
   * @throws GateFull, also when the caller waited too long; GitError, ViewUnavailable
   */
  async read(location: RepositoryLocation, tips: TipSet): Promise<CommitGraph | null> {
    const key = `${location.identity}:${tips.fingerprint}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const failure = this.#failed.get(key)
    if (failure !== undefined) throw failure
    return await withTimeout(
      this.#reads.run(key, () => this.#read(key, location, tips)),
      this.#times.waitMs,
      () => {
        throw new GateFull()
      },
    )
  }

  async #read(key: string, location: RepositoryLocation, { oids }: TipSet): Promise<CommitGraph | null> {
    await this.#views.prepare(location, this.#times.signal())
    return await this.#concurrency.history(location.identity, async () => {
      const view = await this.#views.open(location, this.#times.signal())
      if (view === null) return null
      try {
        const graph = await readCommitGraph(view.gitDir, oids, this.#times.signal())
        this.#kept.set(key, graph)
        return graph
      } catch (error) {
        if (error instanceof GitError) this.#failed.set(key, error)
        throw error
      } finally {
        await view.remove()
      }
    })
  }
}

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { PathHistory } from '#core/ports/git-host.ts'
import { readPathHistory } from '../git/path-history.ts'
import type { SearchTimes } from './commits.ts'
import type { GitPlaces } from './git-places.ts'
import type { Place } from './place.ts'
import type { PrivateViews } from './private-views.ts'

const KEPT_BYTES = 4 * 1024 * 1024
/** A history that was told in part is not walked again for this time. */
const CUT_MS = 120_000

/** Histories of paths of local repositories, read in private views and kept: what lies behind a commit never changes. */
export class PlaceHistory {
  readonly #views: PrivateViews
  readonly #places: GitPlaces
  readonly #times: SearchTimes
  readonly #kept = new LRUCache<string, PathHistory>({ maxSize: KEPT_BYTES, sizeCalculation: memoryOfEntry })
  readonly #reads = createSingleFlight<PathHistory | null>()

  constructor(views: PrivateViews, places: GitPlaces, times: SearchTimes) {
    this.#views = views
    this.#places = places
    this.#times = times
  }

  /**
   * @param commit one to which a ref of the repository leads
   * @returns `null` for a repository that is not self-contained
   * @throws GateFull, also when the caller waited too long; GitError, UnreadableCommit, ViewUnavailable
   */
  async read(place: Place, commit: CommitSha, paths: readonly string[]): Promise<PathHistory | null> {
    const key = `${place.identity}:${commit}:${createHash('sha256').update(paths.join('\0')).digest('base64')}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const reading = this.#reads.run(key, () => this.#read(key, place, commit, paths))
    return await withTimeout(reading, this.#times.waitMs, () => {
      throw new GateFull()
    })
  }

  async #read(key: string, place: Place, commit: CommitSha, paths: readonly string[]): Promise<PathHistory | null> {
    await this.#views.prepare(place, this.#times.signal())
    return await this.#places.history(place.identity, async () => {
      const view = await this.#views.open(place, this.#times.signal())
      if (view === null) return null
      try {
        const history = await readPathHistory(view.gitDir, commit, paths, this.#times.signal())
        this.#kept.set(key, history, history.isCut ? { ttl: CUT_MS } : {})
        return history
      } finally {
        await view.remove()
      }
    })
  }
}

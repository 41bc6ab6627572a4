import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { PathHistory } from '#core/ports/git-host.ts'
import { readPathHistory } from '#infra/git/path-history.ts'
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
  readonly #signal: () => AbortSignal
  readonly #kept = new LRUCache<string, PathHistory>({ maxSize: KEPT_BYTES, sizeCalculation: memoryOfEntry })
  readonly #reads = createSingleFlight<PathHistory | null>()

  /** @param signal ends one walk */
  constructor(views: PrivateViews, places: GitPlaces, signal: () => AbortSignal) {
    this.#views = views
    this.#places = places
    this.#signal = signal
  }

  /**
   * @param commit one to which a ref of the repository leads
   * @returns `null` for a repository that is not self-contained
   * @throws GateFull, GitError, ViewUnavailable
   */
  async read(place: Place, commit: CommitSha, paths: readonly string[]): Promise<PathHistory | null> {
    const key = `${place.identity}:${commit}:${createHash('sha256').update(paths.join('\0')).digest('base64')}`
    return this.#kept.get(key) ?? (await this.#reads.run(key, () => this.#read(key, place, commit, paths)))
  }

  async #read(key: string, place: Place, commit: CommitSha, paths: readonly string[]): Promise<PathHistory | null> {
    await this.#views.prepare(place, this.#signal())
    return await this.#places.walk(place.identity, async () => {
      const view = await this.#views.open(place, this.#signal())
      if (view === null) return null
      try {
        const history = await readPathHistory(view.gitDir, commit, paths, this.#signal())
        this.#kept.set(key, history, history.isCut ? { ttl: CUT_MS } : {})
        return history
      } finally {
        await view.remove()
      }
    })
  }
}

import type { GitView } from '../git/view.ts'
import type { RepositoryLocation } from './location.ts'
import { BRING_BOUNDS, type BringBounds, NotSelfContained, ViewUnavailable } from './object-files.ts'
import { KeptView } from './private-view.ts'

export interface ViewBounds {
  views: number
  /** Open files of all views. Beyond it, further files are linked or copied. */
  heldFiles: number
  /** Disk space of all copies. Beyond it, a repository that must be copied is unavailable while the others are read. */
  copiedBytes: number
  /** An unused view is removed after this time. Shorter than the age at which `removeLeftoverViews` removes folders. */
  idleMs: number
  ofView: BringBounds
}

export const VIEW_BOUNDS: ViewBounds = {
  views: 64,
  heldFiles: 1_024,
  copiedBytes: 2 * 1024 * 1024 * 1024,
  idleMs: 600_000,
  ofView: BRING_BOUNDS,
}

/** The objects of a repository. */
type ObjectsLocation = Pick<RepositoryLocation, 'commonDir' | 'objects'>

/** Keeps the private views of repositories, and lends them out. */
export class PrivateViews {
  readonly #bounds: ViewBounds
  /** By identity of the objects folder, least recently used first. */
  readonly #kept = new Map<string, KeptView>()
  /** Those that are not removed yet. */
  readonly #all = new Set<KeptView>()
  readonly #timers = new Map<KeptView, NodeJS.Timeout>()
  #isClosed = false

  constructor(bounds: ViewBounds = VIEW_BOUNDS) {
    this.#bounds = bounds
  }

  /**
   * The view of a repository, as the repository is at an instant after this call; `null` when it is not self-contained.
   * `remove` gives the view back.
   *
   * @param signal ends the waiting, not the work: a repository that is large for the first time is ready for a later call
   * @throws ViewUnavailable, or a system error
   */
  async open(location: ObjectsLocation, signal: AbortSignal): Promise<GitView | null> {
    if (this.#isClosed) throw new ViewUnavailable('the host is closed')
    const kept = this.#keep(location)
    const remove = this.#lend(location, kept)
    this.#evict()
    try {
      const gitDir = await unlessAborted(this.#update(location, kept), signal)
      this.#evict()
      return { gitDir, remove }
    } catch (error) {
      await remove()
      if (error instanceof NotSelfContained) return null
      throw error
    }
  }

  /**
   * Returns once the repository has a view. The first one of a large repository takes seconds; a caller that then opens it behind a gate does not
   * hold a place of others for that time.
   *
   * @throws as `open`
   */
  async prepare(location: ObjectsLocation, signal: AbortSignal): Promise<void> {
    if (this.#kept.get(location.objects)?.isReady) return
    const view = await this.open(location, signal)
    await view?.remove()
  }

  /** Removes all views, also those that were not given back. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const kept of this.#all) kept.remove()
    await Promise.all([...this.#all].map(kept => kept.removed))
  }

  #keep({ commonDir, objects }: ObjectsLocation): KeptView {
    const kept = this.#kept.get(objects) ?? this.#create(commonDir)
    this.#kept.delete(objects)
    this.#kept.set(objects, kept)
    return kept
  }

  /** A view whose update failed half-way is discarded, whether its caller still waits or not. */
  async #update({ objects }: ObjectsLocation, kept: KeptView): Promise<string> {
    try {
      return await kept.update()
    } catch (error) {
      if (!(error instanceof NotSelfContained)) this.#discard(objects, kept)
      throw error
    }
  }

  #create(commonDir: string): KeptView {
    const kept: KeptView = new KeptView(commonDir, {
      ...this.#bounds.ofView,
      mayHold: () => sumOf(this.#all, 'heldFiles') < this.#bounds.heldFiles,
      onCopy: () => this.#waitForRoom(kept.leaving),
    })
    this.#all.add(kept)
    void kept.removed.then(() => this.#all.delete(kept))
    return kept
  }

  /** Returns what gives the view back. */
  #lend({ objects }: ObjectsLocation, kept: KeptView): () => Promise<void> {
    kept.borrow()
    clearTimeout(this.#timers.get(kept))
    let isGivenBack = false
    return async () => {
      if (isGivenBack) return
      isGivenBack = true
      await kept.giveBack()
      if (this.#kept.get(objects) !== kept || kept.isBorrowed) return
      clearTimeout(this.#timers.get(kept))
      this.#timers.set(kept, setTimeout(() => this.#discard(objects, kept), this.#bounds.idleMs).unref())
    }
  }

  #evict(): void {
    for (const [objects, kept] of this.#kept) {
      if (this.#isWithinBounds()) return
      if (!kept.isBorrowed) this.#discard(objects, kept)
    }
  }

  /** Whether the views that stay are. */
  #isWithinBounds(): boolean {
    const staying = [...this.#all].filter(({ leaving }) => !leaving.aborted)
    return (
      this.#kept.size <= this.#bounds.views &&
      sumOf(staying, 'heldFiles') <= this.#bounds.heldFiles &&
      sumOf(staying, 'copiedBytes') <= this.#bounds.copiedBytes
    )
  }

  /**
   * Returns once all copies have room together. What a view holds counts until it is removed.
   *
   * @param leaving ends the waiting
   * @throws ViewUnavailable when no view makes room, or the reason of `leaving`
   */
  async #waitForRoom(leaving: AbortSignal): Promise<void> {
    while (true) {
      leaving.throwIfAborted()
      this.#evict()
      if (sumOf(this.#all, 'copiedBytes') <= this.#bounds.copiedBytes) return
      const removals = [...this.#all].filter(one => one.leaving.aborted).map(({ removed }) => removed)
      if (removals.length === 0)
        throw new ViewUnavailable('the copies of the repositories that are being read take too much space')
      await unlessAborted(Promise.race(removals), leaving)
    }
  }

  #discard(objects: string, kept: KeptView): void {
    clearTimeout(this.#timers.get(kept))
    this.#timers.delete(kept)
    if (this.#kept.get(objects) === kept) this.#kept.delete(objects)
    kept.discard()
  }
}

function sumOf(views: Iterable<KeptView>, what: 'heldFiles' | 'copiedBytes'): number {
  return [...views].reduce((sum, one) => sum + one[what], 0)
}

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(new ViewUnavailable('the repository is not read yet', { cause: signal.reason }))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  work.catch(() => {}) // nobody may be waiting for it any more
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

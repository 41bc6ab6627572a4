import type { GitView } from '#infra/git/view.ts'
import { NotSelfContained, ViewUnavailable } from './object-files.ts'
import type { Place } from './place.ts'
import { openPrivateView, type PrivateView } from './private-view.ts'

export interface ViewBounds {
  views: number
  /** Open files of all views. */
  heldFiles: number
  /** Disk space of all copies. */
  copiedBytes: number
  /** An unused view is removed after this time. Shorter than the age at which `removeLeftoverViews` removes folders. */
  idleMs: number
}

export const VIEW_BOUNDS: ViewBounds = { views: 64, heldFiles: 1_024, copiedBytes: 2 * 1024 * 1024 * 1024, idleMs: 600_000 }

/** Keeps the private views of repositories, and lends them out. */
export class PrivateViews {
  readonly #bounds: ViewBounds
  /** By identity of the objects folder, least recently used first. */
  readonly #kept = new Map<string, KeptView>()
  readonly #removing = new Set<Promise<void>>()

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
  async open(place: Pick<Place, 'commonDir' | 'objects'>, signal: AbortSignal): Promise<GitView | null> {
    const kept = this.#keep(place)
    const giveBack = kept.borrow(this.#bounds.idleMs, () => this.#drop(place.objects, kept))
    try {
      const gitDir = await unlessAborted(kept.update(), signal)
      this.#evict()
      return { gitDir, remove: giveBack }
    } catch (error) {
      const isRefused = error instanceof NotSelfContained
      if (!isRefused && !signal.aborted) this.#drop(place.objects, kept)
      await giveBack()
      if (isRefused) return null
      throw error
    }
  }

  async close(): Promise<void> {
    for (const [key, kept] of this.#kept) this.#drop(key, kept)
    await Promise.all(this.#removing)
  }

  #keep({ commonDir, objects }: Pick<Place, 'commonDir' | 'objects'>): KeptView {
    const kept = this.#kept.get(objects) ?? new KeptView(commonDir)
    this.#kept.delete(objects)
    this.#kept.set(objects, kept)
    return kept
  }

  #evict(): void {
    for (const [key, kept] of this.#kept) {
      const all = [...this.#kept.values()]
      const isWithin =
        all.length <= this.#bounds.views &&
        sum(all.map(one => one.heldFiles)) <= this.#bounds.heldFiles &&
        sum(all.map(one => one.copiedBytes)) <= this.#bounds.copiedBytes
      if (isWithin) return
      if (!kept.isBorrowed) this.#drop(key, kept)
    }
  }

  /** Removes the view once it is given back. */
  #drop(key: string, kept: KeptView): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key)
    const removing = kept.remove().finally(() => this.#removing.delete(removing))
    this.#removing.add(removing)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

class KeptView {
  readonly #opening: Promise<PrivateView>
  #view: PrivateView | null = null
  #running: Promise<unknown>
  #next: Promise<string> | null = null
  #borrowers = 0
  #idle: NodeJS.Timeout | undefined
  #removal: PromiseWithResolvers<void> | null = null

  constructor(commonDir: string) {
    this.#opening = openPrivateView(commonDir)
    this.#running = this.#opening
  }

  get isBorrowed(): boolean {
    return this.#borrowers > 0
  }

  get heldFiles(): number {
    return this.#view?.heldFiles ?? 0
  }

  get copiedBytes(): number {
    return this.#view?.copiedBytes ?? 0
  }

  /** Returns what gives the view back. @param onIdle called when the view was unused for `idleMs` */
  borrow(idleMs: number, onIdle: () => void): () => Promise<void> {
    this.#borrowers++
    clearTimeout(this.#idle)
    let isGivenBack = false
    return async () => {
      if (isGivenBack) return
      isGivenBack = true
      if (--this.#borrowers > 0) return
      if (this.#removal) return this.#finishRemoval(this.#removal)
      this.#idle = setTimeout(onIdle, idleMs).unref()
      await this.#view?.rest()
    }
  }

  /** Updates the view and returns its git dir. Callers share an update that has not begun. */
  update(): Promise<string> {
    this.#next ??= this.#running
      .catch(() => {}) // its own callers get the error
      .then(() => {
        this.#next = null
        const running = this.#update()
        this.#running = running
        return running
      })
    return this.#next
  }

  async #update(): Promise<string> {
    this.#view = await this.#opening
    await this.#view.update()
    return this.#view.gitDir
  }

  /** Resolves once the view is given back and removed. */
  remove(): Promise<void> {
    clearTimeout(this.#idle)
    const isFirst = this.#removal === null
    this.#removal ??= Promise.withResolvers()
    if (isFirst && this.#borrowers === 0) this.#finishRemoval(this.#removal)
    return this.#removal.promise
  }

  #finishRemoval(removal: PromiseWithResolvers<void>): void {
    const removed = Promise.allSettled([this.#next, this.#running]).then(async () => (await this.#opening).remove())
    removal.resolve(removed.catch(() => {})) // `removeLeftoverViews` finds what stays
  }
}

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(new ViewUnavailable('the repository is not read yet', { cause: signal.reason }))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  work.catch(() => {}) // when nobody waits for it any more
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

import { BRING_BOUNDS, type BringBounds, ViewUnavailable } from './object-files.ts'
import { openPrivateView, type PrivateView } from './private-view.ts'

/** A private view that several borrowers share, counted by reference. After `discard` it is removed when the last borrower returns it. */
export class KeptView {
  readonly #opening: Promise<PrivateView>
  #view: PrivateView | null = null
  /** The last update, or the opening. */
  #running: Promise<unknown>
  /** An update that has not begun. */
  #next: Promise<string> | null = null
  #borrowers = 0
  #isDiscarded = false
  #removal: Promise<void> | null = null
  readonly #removed = Promise.withResolvers<void>()
  #isReady = false
  readonly #leaving = new AbortController()

  /** @param commonDir real path of the folder that holds `objects` */
  constructor(commonDir: string, bounds: BringBounds = BRING_BOUNDS) {
    this.#opening = openPrivateView(commonDir, { ...bounds, signal: this.#leaving.signal })
    this.#running = this.#opening
  }

  get isBorrowed(): boolean {
    return this.#borrowers > 0
  }

  /** Whether it was updated once: later updates bring only what changed. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Aborts when its removal begins. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  get heldFiles(): number {
    return this.#view?.heldFiles ?? 0
  }

  get copiedBytes(): number {
    return this.#view?.copiedBytes ?? 0
  }

  /** Resolves once the view is removed. */
  get removed(): Promise<void> {
    return this.#removed.promise
  }

  borrow(): void {
    this.#borrowers++
  }

  async giveBack(): Promise<void> {
    if (--this.#borrowers > 0) return
    if (this.#isDiscarded) this.remove()
    else await this.#view?.rest()
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
    this.#isReady = true
    return this.#view.gitDir
  }

  /** Removes the view once it was given back. */
  discard(): void {
    this.#isDiscarded = true
    if (!this.isBorrowed) this.remove()
  }

  /** Removes the view after the running updates, which copy nothing more, also while it is borrowed. */
  remove(): void {
    this.#leaving.abort(new ViewUnavailable('the copy of the repository is being removed'))
    this.#removal ??= Promise.allSettled([this.#next, this.#running])
      .then(async () => (await this.#opening).remove())
      .catch(() => {}) // `removeLeftoverViews` finds what stays
    this.#removed.resolve(this.#removal)
  }
}

import { endOfTurn } from '#core/concurrency/end-of-turn.ts'

/** Calls that are the same for all who ask in one turn of the event loop: one is made for all of them. */
export class TurnCalls<Value> {
  readonly #calls = new Map<string, Promise<Value>>()

  /**
   * What `make` answers. It is called when the turn has read what lay ready, so what it answers is as fresh as if each had called it.
   *
   * @param key the same for calls with the same answer
   */
  share(key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = this.#calls.get(key)
    if (begun) return begun
    const call = endOfTurn().then(() => {
      this.#calls.delete(key)
      return make()
    })
    this.#calls.set(key, call)
    return call
  }
}

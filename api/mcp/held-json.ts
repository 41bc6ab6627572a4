import { randomUUID } from 'node:crypto'

/**
 * Values of an answer that the SDK does not see: it has a mark in the place of each, and the text that it makes of the answer is completed with
 * their JSON. It would check, copy and encode a page several times, which takes longer than to read it.
 */
export class HeldJson {
  /** No client knows it before the answer, so nothing that a message repeats is taken for a mark. */
  readonly #nonce = randomUUID()
  readonly #held: { mark: string; json: string }[] = []

  /** @returns the mark, of the type of the value. It has no other use than to be part of what the SDK answers */
  hold<Value>(json: string): Value {
    const mark = `${this.#nonce} ${this.#held.length}`
    this.#held.push({ mark: JSON.stringify(mark), json })
    return mark as Value
  }

  /** An answer of the SDK with the values in their places. */
  complete(answer: string): string {
    return this.#held.reduce((text, { mark, json }) => text.replace(mark, () => json), answer)
  }
}

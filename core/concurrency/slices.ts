/** Does pieces of work one after another, in the order in which they are asked for; gives way to others whenever they have taken long. */
export type Slices = <Value>(work: () => Value) => Promise<Value>

const SLICE_MILLISECONDS = 10

export function createSlices(): Slices {
  let before: Promise<unknown> = Promise.resolve()
  let endsAt = performance.now() + SLICE_MILLISECONDS

  async function next<Value>(work: () => Value): Promise<Value> {
    if (performance.now() >= endsAt) {
      await new Promise(resolve => setImmediate(resolve))
      endsAt = performance.now() + SLICE_MILLISECONDS
    }
    return work()
  }

  return work => {
    const piece = before.then(() => next(work))
    before = piece.catch(() => {})
    return piece
  }
}

/** Runs pieces of work one after another, in the order of the calls. Yields to the event loop after every `SLICE_MS`. */
export type Slices = <Value>(work: () => Value) => Promise<Value>

const SLICE_MS = 10

export function createSlices(): Slices {
  let before: Promise<unknown> = Promise.resolve()
  let endsAt = performance.now() + SLICE_MS

  async function next<Value>(work: () => Value): Promise<Value> {
    if (performance.now() >= endsAt) {
      await new Promise(resolve => setImmediate(resolve))
      endsAt = performance.now() + SLICE_MS
    }
    return work()
  }

  return work => {
    const piece = before.then(() => next(work))
    before = piece.catch(() => {})
    return piece
  }
}

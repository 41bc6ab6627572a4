/** Lines of the old text that lines of the new one replace: both as half-open ranges of line numbers from 0. One of them may be empty. */
export interface ChangedRange {
  oldFrom: number
  oldTo: number
  newFrom: number
  newTo: number
}

/** Numbers of a range. */
const NUMBERS = 4

/** Changed ranges in their order, without an object for each: texts of a mebibyte may have a hundred thousand. */
export class ChangedLines {
  length = 0
  #numbers = new Int32Array(64 * NUMBERS)

  /** Adds a range. One that follows the last one immediately becomes a part of it; an empty one is left out. */
  add({ oldFrom, oldTo, newFrom, newTo }: ChangedRange): void {
    if (oldFrom === oldTo && newFrom === newTo) return
    const last = (this.length - 1) * NUMBERS
    if (last >= 0 && this.#numbers[last + 1] === oldFrom && this.#numbers[last + 3] === newFrom) {
      this.#numbers[last + 1] = oldTo
      this.#numbers[last + 3] = newTo
      return
    }
    const at = this.length * NUMBERS
    if (at === this.#numbers.length) this.#numbers = grown(this.#numbers, 2 * at)
    this.#numbers[at] = oldFrom
    this.#numbers[at + 1] = oldTo
    this.#numbers[at + 2] = newFrom
    this.#numbers[at + 3] = newTo
    this.length++
  }

  oldFrom(index: number): number {
    return this.#numbers[index * NUMBERS] as number
  }

  oldTo(index: number): number {
    return this.#numbers[index * NUMBERS + 1] as number
  }

  newFrom(index: number): number {
    return this.#numbers[index * NUMBERS + 2] as number
  }

  newTo(index: number): number {
    return this.#numbers[index * NUMBERS + 3] as number
  }
}

/** A longer array that begins with the numbers of another one. */
export function grown(numbers: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(length)
  longer.set(numbers)
  return longer
}

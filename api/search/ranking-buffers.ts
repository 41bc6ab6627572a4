/** Arrays with one number for each item of a snapshot, by item number except `matched`. */
export interface ItemArrays {
  scores: Uint32Array
  /** What the short fields of the item, all but its body, have of the query, packed into the bits of one number. */
  shortFields: Uint32Array
  /** How much of the query the item contains. */
  coverage: Uint8Array
  /** Numbers of the items with a score, in rising order; not indexed by item. */
  matched: Uint32Array
}

/**
 * Memory for rankings. Allocating it for every query would take most of the time of ranking a large snapshot, so a caller keeps one
 * `RankingBuffers` and passes it to one ranking after another. It holds 13 bytes for each item of the largest snapshot ranked so far.
 */
export class RankingBuffers {
  #arrays = allocateArrays(0)

  /** Arrays for so many items, all zero except `matched`. Arrays taken before are no longer valid. */
  take(items: number): ItemArrays {
    if (this.#arrays.scores.length < items) this.#arrays = allocateArrays(items)
    const { scores, shortFields, coverage, matched } = this.#arrays
    return {
      scores: scores.subarray(0, items).fill(0),
      shortFields: shortFields.subarray(0, items).fill(0),
      coverage: coverage.subarray(0, items).fill(0),
      matched: matched.subarray(0, items),
    }
  }
}

function allocateArrays(items: number): ItemArrays {
  return {
    scores: new Uint32Array(items),
    shortFields: new Uint32Array(items),
    coverage: new Uint8Array(items),
    matched: new Uint32Array(items),
  }
}

/**
 * The last index below `length` for which the test is true, by binary search; -1 if there is none.
 *
 * @param test true up to some index, false from there on
 */
export function lastIndexWhere(length: number, test: (index: number) => boolean): number {
  let low = -1
  let high = length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (test(middle)) low = middle
    else high = middle
  }
  return low
}

/** The last of 0..length-1 that the test, true up to some point, holds for; -1 when it holds for none. */
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

/** A capacity, such as bytes of memory, that is shared by keys. */
export interface Shares {
  /**
   * Takes an amount for all of the keys, and returns the function that gives it back; `null` when the capacity, or the part that one key may
   * hold, is exhausted. An amount above such a bound is granted while nothing else is held.
   */
  take(keys: readonly string[], amount: number): (() => void) | null
}

/** @param limitEach what one key may hold */
export function createShares({ limit, limitEach }: { limit: number; limitEach: number }): Shares {
  const held = new Map<string, number>()
  let total = 0

  const fits = (used: number, amount: number, bound: number) => used === 0 || used + amount <= bound
  const change = (keys: ReadonlySet<string>, amount: number) => {
    total += amount
    for (const key of keys) {
      const left = (held.get(key) ?? 0) + amount
      if (left === 0) held.delete(key)
      else held.set(key, left)
    }
  }

  return {
    take(names, amount) {
      const keys = new Set(names)
      if (!fits(total, amount, limit)) return null
      for (const key of keys) if (!fits(held.get(key) ?? 0, amount, limitEach)) return null
      change(keys, amount)
      let isHeld = true
      return () => {
        if (isHeld) change(keys, -amount)
        isHeld = false
      }
    },
  }
}

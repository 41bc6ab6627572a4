/** A capacity, such as bytes of memory, that is shared by keys. */
export interface Shares {
  /**
   * Takes an amount for all of the keys, and returns the function that gives it back. If the capacity, or the part that one key may hold, is
   * exhausted, displaces the slowest holders there, one after another; `null` when that makes too little room, and then displaces none.
   * An amount above such a bound is granted while nothing else is held.
   */
  take(keys: readonly string[], amount: number, holder: ShareHolder): (() => void) | null
}

export interface ShareHolder {
  /** How fast the holder comes to its end, by any measure that all holders share; `null` while it may not be displaced. */
  pace(): number | null
  /** Ends the holder. Its amount was given back already. */
  displace(): void
}

/** The bound of all keys together is kept like that of a key. */
const ALL = Symbol('all keys')
type Key = string | typeof ALL

interface Holding {
  keys: ReadonlySet<Key>
  amount: number
  holder: ShareHolder
}

/** @param limitEach what one key may hold */
export function createShares({ limit, limitEach }: { limit: number; limitEach: number }): Shares {
  const held = new Map<Key, number>()
  const holdings = new Set<Holding>()
  const boundOf = (key: Key) => (key === ALL ? limit : limitEach)

  function change(used: Map<Key, number>, { keys, amount }: Holding, sign: 1 | -1): void {
    for (const key of keys) {
      const left = (used.get(key) ?? 0) + sign * amount
      if (left === 0) used.delete(key)
      else used.set(key, left)
    }
  }

  function giveBack(holding: Holding): void {
    if (holdings.delete(holding)) change(held, holding, -1)
  }

  /** The holdings to displace; `null` when even without them there is too little room. */
  function roomFor({ keys, amount }: Holding): Holding[] | null {
    const exhaustedIn = (used: ReadonlyMap<Key, number>) =>
      [...keys].filter(key => used.has(key) && (used.get(key) ?? 0) + amount > boundOf(key))
    if (exhaustedIn(held).length === 0) return []
    const used = new Map(held)
    const displaced: Holding[] = []
    for (const holding of bySlowness(holdings)) {
      if (!exhaustedIn(used).some(key => holding.keys.has(key))) continue
      displaced.push(holding)
      change(used, holding, -1)
    }
    return exhaustedIn(used).length === 0 ? displaced : null
  }

  return {
    take(names, amount, holder) {
      const holding: Holding = { keys: new Set([ALL, ...names]), amount, holder }
      const displaced = roomFor(holding)
      if (displaced === null) return null
      for (const slow of displaced) giveBack(slow)
      holdings.add(holding)
      change(held, holding, 1)
      for (const slow of displaced) slow.holder.displace()
      return () => giveBack(holding)
    },
  }
}

/** The holdings that may be displaced, the slowest first. */
function bySlowness(holdings: Iterable<Holding>): Holding[] {
  const paces = [...holdings].flatMap(holding => {
    const pace = holding.holder.pace()
    return pace === null ? [] : [{ holding, pace }]
  })
  return paces.sort((left, right) => left.pace - right.pace).map(({ holding }) => holding)
}

/** A capacity, such as bytes of memory, that is shared by keys, such as repositories and clients. */
export interface FairBudget {
  /**
   * Acquires an amount for all of the keys, and returns the function that gives it back; `null` when there is no room. An amount above the
   * capacity is granted while nothing else is held.
   *
   * One key may hold the whole capacity until others want some of it. If there is no room, holders are evicted:
   * 1. those that are late, the slowest first. For a key that would hold more than its part, only its own.
   * 2. those of keys that hold more than any key of the newcomer would: of the key that holds most, the one that has held longest. Keys that
   *    both have do not count, so clients whom a proxy makes one are told apart by the other key.
   *
   * None is evicted where that would make too little room.
   */
  acquire(keys: readonly string[], amount: number, holder: BudgetHolder): (() => void) | null
}

export interface BudgetHolder {
  /** How fast a late holder comes to its end, by any measure that all holders share; `null` while it is not late. */
  pace(): number | null
  /** Ends the holder. Its amount was given back already. */
  evict(): void
}

/** The key under which the sum over all keys is kept. */
const ALL = Symbol('all keys')
type Key = string | typeof ALL

interface Holding {
  keys: ReadonlySet<Key>
  amount: number
  holder: BudgetHolder
}

/** @param part what a key may hold before it makes room for others */
export function createFairBudget({ limit, part }: { limit: number; part: number }): FairBudget {
  const held = new Map<Key, number>()
  /** The one that has held longest comes first. */
  const holdings = new Set<Holding>()

  function giveBack(holding: Holding): void {
    if (holdings.delete(holding)) change(held, holding, -1)
  }

  /** The holdings to evict; `null` when even without them there is too little room. */
  function roomFor(newcomer: Holding): Holding[] | null {
    const used = new Map(held)
    const left = new Set(holdings)
    const evicted: Holding[] = []
    const isFull = () => used.has(ALL) && (used.get(ALL) ?? 0) + newcomer.amount > limit
    const evict = (holding: Holding) => {
      evicted.push(holding)
      left.delete(holding)
      change(used, holding, -1)
    }
    if (!isFull()) return []
    const beyondPart = [...newcomer.keys].filter(
      key => key !== ALL && used.has(key) && (used.get(key) ?? 0) + newcomer.amount > part,
    )
    for (const late of bySlowness(left)) if (isFull() && beyondPart.every(key => late.keys.has(key))) evict(late)
    while (isFull()) {
      const heaviest = findHeaviest(left, used, newcomer)
      if (heaviest === null) return null
      evict(heaviest)
    }
    return evicted
  }

  return {
    acquire(names, amount, holder) {
      const holding: Holding = { keys: new Set([ALL, ...names]), amount, holder }
      const evicted = roomFor(holding)
      if (evicted === null) return null
      for (const slow of evicted) giveBack(slow)
      holdings.add(holding)
      change(held, holding, 1)
      for (const slow of evicted) slow.holder.evict()
      return () => giveBack(holding)
    },
  }
}

function change(used: Map<Key, number>, { keys, amount }: Holding, sign: 1 | -1): void {
  for (const key of keys) {
    const left = (used.get(key) ?? 0) + sign * amount
    if (left === 0) used.delete(key)
    else used.set(key, left)
  }
}

/** The holdings that are late, the slowest first. */
function bySlowness(holdings: Iterable<Holding>): Holding[] {
  const paces = [...holdings].flatMap(holding => {
    const pace = holding.holder.pace()
    return pace === null ? [] : [{ holding, pace }]
  })
  return paces.sort((left, right) => left.pace - right.pace).map(({ holding }) => holding)
}

/** The first holding of the key that holds most; `null` when none holds more than the newcomer would. */
function findHeaviest(holdings: Iterable<Holding>, used: ReadonlyMap<Key, number>, newcomer: Holding): Holding | null {
  let heaviest: { holding: Holding; amount: number } | null = null
  for (const holding of holdings) {
    const amount = heldApart(holding, newcomer, used)
    const isHeavier = amount > heldApart(newcomer, holding, used) + newcomer.amount
    if (isHeavier && amount > (heaviest?.amount ?? 0)) heaviest = { holding, amount }
  }
  return heaviest?.holding ?? null
}

/** The most that is held by a key of the one that the other lacks. */
function heldApart({ keys }: Holding, other: Holding, used: ReadonlyMap<Key, number>): number {
  return Math.max(0, ...[...keys].map(key => (other.keys.has(key) ? 0 : (used.get(key) ?? 0))))
}

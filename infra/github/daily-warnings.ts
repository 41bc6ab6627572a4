import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'
import type { Clock } from '#core/ports/system.ts'

/** Warns the operator. @param key of what the warning is about: each is told at most once a day */
export type Warn = (key: string, message: string) => void

const DAY_MS = 24 * 60 * 60 * 1000
/** Some thousand keys. A warning whose key was evicted may be repeated within the day. */
const REMEMBERED_BYTES = 256 * 1024

export function createDailyWarnings(clock: Clock, onWarning: (message: string) => void): Warn {
  const toldAt = new LRUCache<string, number>({ maxSize: REMEMBERED_BYTES, sizeCalculation: memoryOfEntry })
  return (key, message) => {
    const now = clock.now().getTime()
    if (now - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return
    toldAt.set(key, now)
    onWarning(message)
  }
}

import type { Clock } from '#core/ports/system.ts'

/** Warns the operator. @param key of what the warning is about: each is told at most once a day */
export type Warn = (key: string, message: string) => void

const DAY_MS = 24 * 60 * 60 * 1000
/** Visitors choose the accounts that warnings are about, so their number is bounded. */
const WARNINGS_A_DAY = 32

export function createDailyWarnings(clock: Clock, onWarning: (message: string) => void): Warn {
  /** In milliseconds since 1970. */
  const toldAt = new Map<string, number>()
  return (key, message) => {
    const now = clock.now().getTime()
    for (const [told, at] of toldAt) if (now - at >= DAY_MS) toldAt.delete(told)
    if (toldAt.has(key) || toldAt.size === WARNINGS_A_DAY) return
    toldAt.set(key, now)
    onWarning(toldAt.size < WARNINGS_A_DAY ? message : `${message} (further warnings about GitHub are left out for up to a day)`)
  }
}

import type { Clock } from '#core/ports/system.ts'

/**
 * Warns the operator. Each warning is told at most once a day.
 *
 * @param key of what the warning is about
 * @param account visitors choose the accounts that warnings are about, so those of all accounts are bounded together
 */
export type Warn = (key: string, message: string, account?: string) => void

const DAY_MS = 24 * 60 * 60 * 1000
const ACCOUNTS_A_DAY = 32

export function createDailyWarnings(clock: Clock, onWarning: (message: string) => void): Warn {
  /** In milliseconds since 1970. */
  const toldAt = new Map<string, number>()
  const accounts = new Set<string>()
  return (key, message, account) => {
    const now = clock.now().getTime()
    for (const [told, at] of toldAt) {
      if (now - at < DAY_MS) continue
      toldAt.delete(told)
      accounts.delete(told)
    }
    const subject = account === undefined ? key : `${key} ${account}`
    if (toldAt.has(subject) || (account !== undefined && accounts.size === ACCOUNTS_A_DAY)) return
    toldAt.set(subject, now)
    if (account !== undefined) accounts.add(subject)
    const isLast = account !== undefined && accounts.size === ACCOUNTS_A_DAY
    onWarning(isLast ? `${message} (such warnings about further accounts are left out for up to a day)` : message)
  }
}

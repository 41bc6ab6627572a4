import { GRANT_DAYS, GRANT_IDLE_DAYS } from '#core/limits.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Seconds. */
export const OAUTH_LIFETIMES = {
  /** From the app's request until the person decides. */
  requestSeconds: 15 * MINUTE,
  codeSeconds: 60,
  accessSeconds: HOUR,
  /** A family ends after this time without a refresh, and at the latest after `familySeconds`. */
  idleSeconds: GRANT_IDLE_DAYS * DAY,
  familySeconds: GRANT_DAYS * DAY,
  /** Longer than two codes of one request can lie apart. */
  markerSeconds: DAY,
} as const

/** What every part of the soak says at its end, beside its own figures. */
export interface SoakReport {
  seconds: number
  /** What must not be; empty: nothing of it was. */
  problems: string[]
}

/** @param startedAt as `performance.now()` tells it */
export function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1000)
}

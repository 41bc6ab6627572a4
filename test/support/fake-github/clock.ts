/** The time as the stand-in tells it: the machine's, moved by what a test wants to have waited. */
export interface FakeClock {
  /** Milliseconds since 1970. */
  now(): number
  /** Waits without waiting. */
  advance(seconds: number): void
  /** Stops at an instant; from then on only `advance` moves it. */
  stopAt(milliseconds: number): void
  reset(): void
}

export function createClock(): FakeClock {
  let stoppedAt: number | null = null
  let ahead = 0
  return {
    now: () => (stoppedAt ?? Date.now()) + ahead,
    advance: seconds => {
      ahead += seconds * 1000
    },
    stopAt: milliseconds => {
      stoppedAt = milliseconds
      ahead = 0
    },
    reset: () => {
      stoppedAt = null
      ahead = 0
    },
  }
}

/** As the API writes instants: without fractions of seconds. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

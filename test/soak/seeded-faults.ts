import { fractionOf } from '../support/random.ts'
import type { Fault, ProxiedRequest } from '../support/servers/faulty-proxy.ts'

/** Shares of all requests, 0 to 1. */
export interface FaultShares {
  /** Not done, or done without its whole answer: a broken connection, a server that is busy or fails, half a body. */
  errors: number
  /** Done, and nobody hears of it. */
  lostAnswers: number
  /** Done later, and answered. */
  delays: number
}

const ERRORS: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'answered', status: 503, body: '<Error><Code>SlowDown</Code></Error>' },
  { kind: 'answered', status: 500 },
  { kind: 'answered', status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' },
  { kind: 'body breaks off' },
]
const LONGEST_DELAY_MS = 30

/** What befalls requests: always the same for one that comes for the so-manieth time, whatever else is asked meanwhile. */
export function seededFaults(
  seed: number,
  { errors, lostAnswers, delays }: FaultShares,
): (request: ProxiedRequest) => Fault | null {
  const times = new Map<string, number>()
  return ({ method, target }) => {
    // A place of its own in the bucket is called otherwise each time.
    const request = `${method} ${target.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '')}`
    const time = times.get(request) ?? 0
    times.set(request, time + 1)
    const fraction = fractionOf(seed, request, time)
    if (fraction < errors) return ERRORS[Math.floor((fraction / errors) * ERRORS.length)] ?? null
    if (fraction < errors + lostAnswers) return { kind: 'answer lost' }
    const late = (fraction - errors - lostAnswers) / delays
    return late < 1 ? { kind: 'late', milliseconds: Math.ceil(late * LONGEST_DELAY_MS) } : null
  }
}

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { SWEEP_LEASE_KEY } from '#core/snapshot/store-keys.ts'

/** The holder of the sweep lease. Two sweeps at once do no harm and do everything twice. */
const SweepLease = z.object({ machine: z.string(), process: z.int(), id: z.string(), until: z.iso.datetime() })
type SweepLease = z.infer<typeof SweepLease>

export interface HeldLease {
  /** Aborted when another sweep has taken the lease. */
  lost: AbortSignal
  release(): Promise<void>
}

/** Takes the lease and renews it until it is released; `null` while another sweep holds it. */
export async function takeLease(states: StateStore, clock: Clock): Promise<HeldLease | null> {
  const id = randomUUID()
  const lost = new AbortController()
  const valueUntil = (milliseconds: number): SweepLease => {
    const until = new Date(clock.now().getTime() + milliseconds).toISOString()
    return { machine: hostname(), process: process.pid, id, until }
  }

  const stored = await states.read(SWEEP_LEASE_KEY)
  const before = SweepLease.safeParse(stored?.value).data
  if (before && Date.parse(before.until) > clock.now().getTime() && !isDead(before)) return null
  const lease = valueUntil(LEASE_SECONDS * 1000)
  const taken = stored ? await states.replace(SWEEP_LEASE_KEY, lease, stored.etag) : await states.create(SWEEP_LEASE_KEY, lease)
  if (taken.status === 'conflict') return null

  let { etag } = taken
  const write = async (milliseconds: number) => {
    const written = await states.replace(SWEEP_LEASE_KEY, valueUntil(milliseconds), etag)
    if (written.status === 'written') etag = written.etag
    else lost.abort(new Error('another sweep has taken the lease'))
  }
  let renewing: Promise<void> = Promise.resolve()
  const timer = setInterval(
    () => {
      // A store error is retried at the next renewal; only a lost lease is final.
      renewing = renewing.then(() => write(LEASE_SECONDS * 1000)).catch(() => {})
    },
    (LEASE_SECONDS * 1000) / 3,
  )
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer)
      await renewing
      if (!lost.signal.aborted) await write(0).catch(() => {})
    },
  }
}

/** Whether the holder is a dead process of this machine. */
function isDead({ machine, process: pid }: SweepLease): boolean {
  if (machine !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '#test/support/service.ts'
import type { StartAttack } from './attack.ts'
import { type Footprint, footprintOf, watchFootprint } from './footprint.ts'

/** What a service holds while it is attacked. */
export interface Held {
  /** Requests or connections of the attack. */
  count: number
  before: Footprint
  /** The largest figures during the attack. */
  peak: Footprint
  /** Once it is over and what it held was given back, or after `GIVE_BACK_MS`. */
  after: Footprint
}

export interface HeldOptions {
  seconds: number
  /** The attack goes on until it has made this many requests. Default: 0. */
  requests?: number
}

/** Jobs that it began go on, at a low priority beside whatever else the machine does; what leaks stays longer than any of them. */
const GIVE_BACK_MS = 300_000
/** Connections that other parts of the service may open meanwhile. */
const SPARE_DESCRIPTORS = 8
const LOOK_MS = 100

/** Runs an attack against a service and looks at what the process holds. */
export async function measureHeld(service: Service, start: StartAttack, { seconds, requests = 0 }: HeldOptions): Promise<Held> {
  const pid = service.process.pid ?? 0
  const before = await footprintOf(pid)
  const watching = watchFootprint(pid)
  const attack = start(service.baseUrl)
  const endsAt = performance.now() + seconds * 1000
  while (performance.now() < endsAt || attack.count() < requests) await sleep(LOOK_MS)
  const count = attack.count()
  await attack.stop()
  const peak = await watching.stop()
  return { count, before, peak, after: await givenBack(pid, before) }
}

async function givenBack(pid: number, before: Footprint): Promise<Footprint> {
  const endsAt = performance.now() + GIVE_BACK_MS
  for (;;) {
    const now = await footprintOf(pid)
    if (isGivenBack(now, before) || performance.now() > endsAt) return now
    await sleep(LOOK_MS)
  }
}

/** Whether nothing of an attack is left, but for memory that the allocator keeps. */
export function isGivenBack(now: Footprint, before: Footprint): boolean {
  return now.gitProcesses === 0 && now.sockets <= before.sockets + SPARE_DESCRIPTORS
}

import { randomUUID } from 'node:crypto'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { PROBE_MINUTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { probeKeys } from '#core/snapshot/store-keys.ts'

/** Whether a process can do its work. */
export interface Readiness {
  /** Resolves when the process is ready. @throws Error with the reason when it is not, or when the stores do not answer in time */
  check(): Promise<void>
  /** From now on the process is not ready. */
  end(): void
}

/** Load balancers commonly time out after two seconds. */
const ANSWER_MS = 1_800
/** A good probe is reused for this time, so that polls of load balancers and requests of strangers cost nothing more. */
const GOOD_MS = 10_000
/** A failed probe is reused for this time: a store that recovers is noticed soon. */
const FAILED_MS = 1_000

const STOPPING = 'the process is stopping'

/**
 * A process is ready when it can write to its stores and read what it wrote: a full disk, a role without rights and a database after a failover
 * can still be read.
 *
 * @param hasPrivateStore whether keys of private repositories lie elsewhere
 */
export function createReadiness(
  { blobs, states, clock }: { blobs: BlobStore; states: StateStore; clock: Clock },
  hasPrivateStore = false,
): Readiness {
  let asked: { answer: Promise<unknown>; until: number } | null = null
  let isEnding = false

  /** Each probe has keys of its own. With those of an earlier one, a write that was answered late could take the place of this one's. */
  function probe(): Promise<void>[] {
    const exp = new Date(clock.now().getTime() + PROBE_MINUTES * 60_000).toISOString()
    return (hasPrivateStore ? [false, true] : [false]).flatMap(isPrivate => {
      const { blob, entry } = probeKeys(randomUUID(), isPrivate)
      return [
        tryWrite(blobs, blob, () => blobs.create(blob, new Uint8Array([1]))),
        tryWrite(states, entry, () => states.create(entry, { exp })),
      ]
    })
  }

  /** Single flight: while a probe runs, no other one begins. The drivers bound the time of a probe. */
  function ask(): Promise<unknown> {
    if (asked !== null && performance.now() < asked.until) return asked.answer
    const tries = probe()
    const asking = { answer: Promise.all(tries), until: Number.POSITIVE_INFINITY }
    asked = asking
    void Promise.allSettled(tries).then(ends => {
      const isGood = ends.every(({ status }) => status === 'fulfilled')
      asking.until = performance.now() + (isGood ? GOOD_MS : FAILED_MS)
    })
    return asking.answer
  }

  return {
    async check() {
      if (isEnding) throw new Error(STOPPING)
      await withTimeout(ask(), ANSWER_MS, () => {
        throw new Error(`the store did not answer within ${ANSWER_MS} ms`)
      })
      // Again: the process may have begun to stop meanwhile.
      if (isEnding) throw new Error(STOPPING)
    },
    end() {
      isEnding = true
    },
  }
}

/** What both stores have. */
interface Store {
  read(key: string): Promise<unknown>
  remove(key: string): Promise<void>
}

async function tryWrite(store: Store, key: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
    if ((await store.read(key)) === null) throw new Error('the store lost what it had written')
  } catch (error) {
    // A write that failed may have been done. A sweep removes what stays.
    await store.remove(key).catch(() => {})
    throw error
  }
  await store.remove(key)
}

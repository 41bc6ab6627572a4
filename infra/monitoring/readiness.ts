import { randomUUID } from 'node:crypto'
import { withTimeout } from '#core/concurrency/timeout.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
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
/** A probe is reused for this time, so that requests from anywhere cost the stores one small write a second. */
const FRESH_MS = 1_000
/** A probe without an answer is repeated after this time: the store may have restarted. */
const FORGOTTEN_MS = 2_000

const STOPPING = 'the process is stopping'

/**
 * A process is ready when it can write to its stores and read what it wrote: a full disk, a role without rights and a database after a failover
 * are still read.
 *
 * @param hasPrivateStore whether keys of private repositories lie elsewhere
 */
export function createReadiness({ blobs, states }: { blobs: BlobStore; states: StateStore }, hasPrivateStore = false): Readiness {
  let asked: { answer: Promise<unknown>; until: number } | null = null
  let isEnding = false
  const keys = (hasPrivateStore ? [false, true] : [false]).map(isPrivate => probeKeys(randomUUID(), isPrivate))

  const probe = () => Promise.all(keys.flatMap(({ blob, entry }) => [tryBlob(blobs, blob), tryEntry(states, entry)]))

  /** Concurrent checks share one probe. */
  function ask(): Promise<unknown> {
    if (asked !== null && performance.now() < asked.until) return asked.answer
    const asking = { answer: probe(), until: performance.now() + FORGOTTEN_MS }
    asked = asking
    const keep = () => {
      asking.until = performance.now() + FRESH_MS
    }
    asking.answer.then(keep, keep)
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

async function tryBlob(blobs: BlobStore, key: string): Promise<void> {
  await blobs.create(key, new Uint8Array([1]))
  const found = await blobs.read(key)
  await blobs.remove(key)
  if (found === null) throw new Error('the store lost what it had written')
}

async function tryEntry(states: StateStore, key: string): Promise<void> {
  await states.create(key, {})
  const found = await states.read(key)
  await states.remove(key)
  if (found === null) throw new Error('the state store lost what it had written')
}

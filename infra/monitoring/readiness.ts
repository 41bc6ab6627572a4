import { withTimeout } from '#core/concurrency/timeout.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'

/** Whether a process can do its work. */
export interface Readiness {
  /** Resolves when the process is ready. @throws Error with the reason when it is not, or when the stores do not answer in time */
  check(): Promise<void>
  /** From now on the process is not ready. */
  end(): void
}

/** Load balancers commonly time out after two seconds. */
const ANSWER_MS = 1_800
/** A successful probe is reused for this time. */
const FRESH_MS = 1_000
/** A probe without an answer is repeated after this time: the store may have restarted. */
const FORGOTTEN_MS = 2_000

const STOPPING = 'the process is stopping'

/** A process is ready when it can read its stores. */
export function createReadiness({ blobs, states }: { blobs: BlobStore; states: StateStore }): Readiness {
  let asked: { answer: Promise<unknown>; until: number } | null = null
  let isEnding = false

  const probe = async () => Promise.all([blobs.list('probe/', { limit: 1 }), states.read('probe')])

  /** Concurrent checks share one probe. */
  function ask(): Promise<unknown> {
    if (asked !== null && performance.now() < asked.until) return asked.answer
    const asking = { answer: probe(), until: performance.now() + FORGOTTEN_MS }
    asked = asking
    asking.answer.then(
      () => {
        asking.until = performance.now() + FRESH_MS
      },
      () => {
        asking.until = 0
      },
    )
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

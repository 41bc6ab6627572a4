import { withTimeout } from '#core/concurrency/timeout.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'

/** Whether a process can do its work now. */
export interface Readiness {
  /** Resolves when it can; rejects with the reason when it cannot, or when that is not known in time. */
  check(): Promise<void>
  /** The process stops: from now on it is not ready. */
  end(): void
}

/** Who asks, as load balancers do, waits two seconds at most. */
const ANSWER_MILLISECONDS = 1_800
/** That they answered counts so long. */
const FRESH_MILLISECONDS = 1_000
/** What has not been answered by then is asked anew: the store may have come back without ever answering. */
const FORGOTTEN_MILLISECONDS = 2_000

/** Ready is who can read its stores. */
export function createReadiness({ blobs, states }: { blobs: BlobStore; states: StateStore }): Readiness {
  let asked: { answer: Promise<unknown>; until: number } | null = null
  let isEnding = false

  const probe = async () => Promise.all([blobs.list('probe/', { limit: 1 }), states.read('probe')])

  /** However many ask, the stores are asked once at a time. */
  function ask(): Promise<unknown> {
    if (asked !== null && performance.now() < asked.until) return asked.answer
    const asking = { answer: probe(), until: performance.now() + FORGOTTEN_MILLISECONDS }
    asked = asking
    asking.answer.then(
      () => {
        asking.until = performance.now() + FRESH_MILLISECONDS
      },
      () => {
        asking.until = 0
      },
    )
    return asking.answer
  }

  return {
    async check() {
      if (isEnding) throw new Error('this process stops')
      await withTimeout(ask(), ANSWER_MILLISECONDS, () => {
        throw new Error('the store does not answer in time')
      })
      // It may have been told to stop meanwhile.
      if (isEnding) throw new Error('this process stops')
    },
    end() {
      isEnding = true
    },
  }
}

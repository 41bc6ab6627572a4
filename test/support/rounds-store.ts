import type { BlobStore } from '#core/ports/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'

/** A store in memory that answers range reads in rounds: all that wait at the same time are answered together. */
export interface RoundsStore extends BlobStore {
  /** What was read since the last `reset`: reads of every round, and bytes of all. */
  readonly reads: { rounds: number[]; bytes: number }
  reset(): void
}

export function createRoundsStore(): RoundsStore {
  const blobs = createMemoryBlobStore(systemClock)
  const reads = { rounds: [] as number[], bytes: 0 }
  let waiting: (() => void)[] = []

  function answerAll(): void {
    const answers = waiting
    reads.rounds.push(answers.length)
    waiting = []
    for (const answer of answers) answer()
  }

  return {
    ...blobs,
    reads,
    reset() {
      Object.assign(reads, { rounds: [], bytes: 0 })
    },
    async readRange(key, offset, length) {
      await new Promise<void>(resolve => {
        if (waiting.length === 0) setImmediate(answerAll)
        waiting.push(resolve)
      })
      const bytes = await blobs.readRange(key, offset, length)
      reads.bytes += bytes?.length ?? 0
      return bytes
    },
  }
}

import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import { createMemoryBlobStore, createMemoryStateStore } from './memory-stores.ts'
import { createStateQueue } from './queue/state-queue.ts'
import { systemClock, systemRandom } from './system/system.ts'

/** The drivers of a process that keeps everything in its memory. */
export interface MemoryInfra {
  blobs: BlobStore
  states: StateStore
  queue: JobQueue
  hosts: readonly GitHost[]
  clock: Clock
  random: RandomSource
  close(): Promise<void>
}

/** @param hosts are closed with the rest */
export function openMemoryInfra(hosts: readonly GitHost[]): MemoryInfra {
  const states = createMemoryStateStore()
  return {
    blobs: createMemoryBlobStore(systemClock),
    states,
    queue: createStateQueue(states, systemClock),
    hosts,
    clock: systemClock,
    random: systemRandom,
    close: async () => {
      await Promise.all(hosts.map(host => host.close()))
    },
  }
}

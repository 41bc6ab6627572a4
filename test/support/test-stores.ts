import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'

/** Empty stores of a test. */
export interface TestStores {
  blobs: BlobStore
  states: StateStore
  /** The queue that a deployment with these stores has; without one, the jobs are entries of the state store. */
  queue?: JobQueue
  /** Closes them, and removes what they hold where that outlives the run. */
  close(): Promise<void>
}

/**
 * The stores behind the service of a test, by the name in `MOUNTGLASS_TEST_STORES`: no test of the API may know them. `npm test` runs the
 * API in memory, and loads none of the other drivers; `tiers.ts` says which of its files `npm run test:all` runs on every other one.
 */
const OPENERS: Record<string, (clock: Clock) => Promise<TestStores>> = {
  async memory(clock) {
    return { blobs: createMemoryBlobStore(clock), states: createMemoryStateStore(), close: async () => {} }
  },

  async disk() {
    const folder = await mkdtemp(join(tmpdir(), 'mountglass-test-stores-'))
    const [blobs, states] = [await openDiskBlobStore(folder), await openDiskStateStore(join(folder, 'documents.sqlite'))]
    return {
      blobs,
      states,
      async close() {
        await Promise.all([blobs.close(), states.close()])
        await rm(folder, { recursive: true, force: true })
      },
    }
  },

  async s3() {
    const { openTestS3Stores } = await import('./servers/s3.ts')
    return await openTestS3Stores(randomUUID())
  },

  /** Objects in a bucket, state entries in a database, whose pg-boss delivers the jobs. */
  async fleet(clock) {
    const [{ openFleetDatabase }, { openTestS3Blobs }] = await Promise.all([
      import('./servers/fleet-database.ts'),
      import('./servers/s3.ts'),
    ])
    const { states, queue, close } = await openFleetDatabase(clock)
    const blobs = await openTestS3Blobs(randomUUID())
    return {
      blobs,
      states,
      queue,
      async close() {
        await blobs.close()
        await close()
      },
    }
  },
}

export const STORE_KINDS: readonly string[] = Object.keys(OPENERS)

/**
 * @param clock instants of blobs in memory follow it
 * @param name default: that of the run
 */
export async function openTestStores(clock: Clock, name = process.env.MOUNTGLASS_TEST_STORES ?? 'memory'): Promise<TestStores> {
  const open = OPENERS[name]
  if (!open) throw new Error(`MOUNTGLASS_TEST_STORES: there are no stores ${name}`)
  return await open(clock)
}

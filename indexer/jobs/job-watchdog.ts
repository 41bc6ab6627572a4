/**
 * The watchdog thread of a job process. It ends the process if the worker died and a job blocks the main thread, which then never handles
 * the `disconnect` event.
 */

import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { killTree } from './processes.ts'

export interface Watched {
  /** Process id of the worker. */
  worker: number
  /** Removed with the process. */
  folder: string
}

const LOOK_MILLISECONDS = 1_000
/** Time for the process to end by itself. */
const GRACE_MILLISECONDS = 3_000

const { worker, folder } = workerData as Watched

// An orphaned process gets another parent id.
while (process.ppid === worker) await sleep(LOOK_MILLISECONDS)
await sleep(GRACE_MILLISECONDS)
rmSync(folder, { recursive: true, force: true })
killTree(process.pid)

/**
 * A thread beside the jobs of a process. It ends the process when the worker that started it is gone and a job keeps the process from
 * hearing of it: nobody else would be left to end it.
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
/** What the process takes to end by itself. */
const PATIENCE_MILLISECONDS = 3_000

const { worker, folder } = workerData as Watched

// Whoever loses its parent is given another one.
while (process.ppid === worker) await sleep(LOOK_MILLISECONDS)
await sleep(PATIENCE_MILLISECONDS)
rmSync(folder, { recursive: true, force: true })
killTree(process.pid)

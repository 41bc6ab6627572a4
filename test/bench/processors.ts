import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { processorTicks, TICK_MS } from './processor-time.ts'

/** Who runs on which half of the processors; `both`: on all of them again. */
export type Half = 'service' | 'others' | 'both'

// A process that is kept to a half sees only that half, so the first look counts.
const PROCESSORS = Array.from({ length: availableParallelism() }, (_, number) => number)
const MIDDLE = Math.floor(PROCESSORS.length / 2)
const HALVES: Readonly<Record<Half, readonly number[]>> = {
  service: PROCESSORS.slice(0, MIDDLE),
  others: PROCESSORS.slice(MIDDLE),
  both: PROCESSORS,
}

/** For how many milliseconds the processors of one half have been busy so far, whoever used them. Zero where the system does not tell. */
export function busyTime(half: Half): number {
  return HALVES[half].reduce((sum, processor) => sum + processorTicks(processor), 0) * TICK_MS
}

/**
 * Keeps a process, its threads and the processes that it starts from now on to one half of the processors, so that the load of one half does not
 * count as that of the other. `false`, and nothing is changed, on a machine with one processor or without `taskset`.
 */
export function keepTo(half: Half, pid: number): boolean {
  if (MIDDLE === 0) return false
  return spawnSync('taskset', ['-a', '-c', '-p', HALVES[half].join(','), String(pid)]).status === 0
}

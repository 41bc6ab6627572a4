import { stdSerializers } from 'pino'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { MetricName } from '#core/ports/metrics.ts'
import type { JobEnd, Stage } from './job-runner.ts'

/** What a worker says to the process that runs its jobs, one at a time. Settings come by the environment. */
export type ToJobProcess = { type: 'run'; job: IndexJob } | { type: 'stop' }

/** What the process says. `begun` and then `ready` come once, `ended` after each job. */
export type FromJobProcess =
  /** `folder` holds everything temporary of the process. */
  | { type: 'begun'; folder: string }
  | { type: 'ready' }
  | { type: 'stage'; stage: Stage }
  | { type: 'recorded'; records: readonly MetricValue[] }
  | { type: 'ended'; end: JobEnd }

/** A call of `Metrics.record` behind the border. */
export type MetricValue = readonly [name: MetricName, labels: Record<string, string>, value: number]

/** Errors do not cross the border as they are; what the log writes of them does. */
interface PackedError {
  message: string
  stack: string
}

/** For the way to the worker. */
export function packEnd(end: JobEnd): JobEnd {
  return mapErrors(end, error => {
    const { message, stack = '' } = error instanceof Error ? stdSerializers.err(error) : { message: String(error) }
    return { message, stack } satisfies PackedError
  })
}

/** As it was, but for the classes of errors: their names stand in the stack. */
export function unpackEnd(end: JobEnd): JobEnd {
  return mapErrors(end, packed => {
    const { message, stack } = packed as PackedError
    return Object.assign(new Error(message), { stack })
  })
}

function mapErrors(end: JobEnd, map: (error: unknown) => unknown): JobEnd {
  if (end.status === 'failed') return { ...end, err: map(end.err) }
  return end.status === 'indexed' && end.notListed !== undefined ? { ...end, notListed: map(end.notListed) } : end
}

import type { IndexProgress, IndexStage } from '#core/contract/shared.ts'
import type { FallbackKind, Fallbacks } from '#core/ports/fallbacks.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { MetricName, Metrics } from '#core/ports/metrics.ts'
import type { JobEnd } from './job-runner.ts'

/** Messages from a worker to a job process, which runs one job at a time. Settings come in the environment. */
export type ToJobProcess =
  /** `handover`: what the worker knows by now. `access`: what reads the repository of this job and nothing else; `null` where none is needed. A message, since arguments and variables of processes can be read. */
  { type: 'run'; job: IndexJob; access: string | null; handover: string } | { type: 'stop' }

/** Messages from a job process. `begun` and then `ready` come once, `ended` after each job. */
export type FromJobProcess =
  /** `folder` holds all temporary files of the process. */
  | { type: 'begun'; folder: string }
  | { type: 'ready' }
  | { type: 'stage'; stage: IndexStage; progress: IndexProgress | undefined }
  | { type: 'recorded'; records: readonly MetricValue[] }
  /** `cause`: as `packError` made it. */
  | { type: 'fell-back'; kind: FallbackKind; cause: unknown }
  | { type: 'ended'; end: JobEnd }

/** A call of `Metrics.record` in a job process. */
type MetricValue = readonly [name: MetricName, labels: Record<string, string>, value: number]

/** An error as the log writes it: error objects cannot be sent between processes. */
interface PackedError {
  message: string
  stack: string
}

/** Makes the errors of a result sendable. */
export function packEnd(end: JobEnd): JobEnd {
  return mapErrors(end, packError)
}

/** The fallbacks of a job process, which the worker counts and logs. */
export function sendFallbacks(send: (message: FromJobProcess) => void): Fallbacks {
  return { note: (kind, cause) => send({ type: 'fell-back', kind, cause: packError(cause) }) }
}

/** With its causes, as pino has them in a log. A job process has no log of its own, and begins sooner without pino. */
function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { message: String(error), stack: '' }
  const chain = chainOf(error)
  return {
    message: chain.map(({ message }) => message).join(': '),
    stack: chain.map(({ stack = '' }) => stack).join('\ncaused by: '),
  }
}

/** An error, its cause, and so on. */
function chainOf(error: Error, before: readonly Error[] = []): Error[] {
  const chain = [...before, error]
  return error.cause instanceof Error && !chain.includes(error.cause) ? chainOf(error.cause, chain) : chain
}

/** Restores an error that `packError` made sendable. */
export function unpackError(packed: unknown): Error {
  const { message, stack } = packed as PackedError
  return Object.assign(new Error(message), { stack })
}

/** Restores the errors of a result. Their classes are lost; the stack names them. */
export function unpackEnd(end: JobEnd): JobEnd {
  return mapErrors(end, unpackError)
}

function mapErrors(end: JobEnd, map: (error: unknown) => unknown): JobEnd {
  if (end.status === 'failed') return { ...end, err: map(end.err) }
  return end.status === 'indexed' && end.notListed !== undefined ? { ...end, notListed: map(end.notListed) } : end
}

/** Metrics of a job process. The worker, which Prometheus reads, receives them. */
interface MetricsSender {
  metrics: Metrics
  /** Sends what was recorded since the last call. */
  flush(): void
}

export function createMetricsSender(send: (records: readonly MetricValue[]) => void): MetricsSender {
  let records: MetricValue[] = []
  const listeners: (() => void | Promise<void>)[] = []
  return {
    metrics: {
      record: (name, labels, value) => records.push([name, labels, value]),
      beforeRead: listener => listeners.push(listener),
    },
    flush() {
      // Values that a listener records asynchronously are sent by the next call.
      for (const listener of listeners) void listener()
      if (records.length === 0) return
      send(records)
      records = []
    },
  }
}

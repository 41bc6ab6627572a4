/**
 * What an operator may watch, by name. `counter`: adds up; `gauge`: is what it was set to last; `seconds`: a distribution of durations.
 * The values of every label are known beforehand: routes, codes, names of ours. Never a repository, a query, a person or a secret.
 */
export const METRICS = {
  mountglass_http_requests_total: {
    kind: 'counter',
    help: 'Requests that were answered, by the pattern of their route and the status.',
    labels: ['route', 'status'],
  },
  mountglass_http_request_seconds: {
    kind: 'seconds',
    help: 'From the first line of a request to the end of its answer.',
    labels: ['route'],
  },
  mountglass_cache_lookups_total: {
    kind: 'counter',
    help: 'What was asked of a memory cache of the API: hit, or miss and then read from the store.',
    labels: ['cache', 'result'],
  },
  mountglass_cache_bytes: { kind: 'gauge', help: 'What a memory cache of the API holds, as estimated.', labels: ['cache'] },
  mountglass_store_requests_total: {
    kind: 'counter',
    help: 'Requests to the store of objects (blobs) and of documents, by whether they were answered.',
    labels: ['store', 'operation', 'outcome'],
  },
  mountglass_store_bytes_total: {
    kind: 'counter',
    help: 'Bytes of objects that were read and written; documents are not measured.',
    labels: ['store', 'operation'],
  },
  mountglass_store_request_seconds_total: {
    kind: 'counter',
    help: 'Time that requests to a store took, added up.',
    labels: ['store', 'operation'],
  },
  mountglass_host_quota_remaining: {
    kind: 'gauge',
    help: 'Questions that the git host still answers in the current window.',
    labels: ['host'],
  },
  mountglass_host_quota_limit: {
    kind: 'gauge',
    help: 'Questions that the git host answers in one window.',
    labels: ['host'],
  },
  mountglass_host_quota_reset_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the current window of the git host ends, in seconds since 1970.',
    labels: ['host'],
  },
  mountglass_queue_jobs: {
    kind: 'gauge',
    help: 'Jobs that wait or run anywhere in the deployment: every process tells the same number.',
    labels: [],
  },
  mountglass_queue_errors_total: {
    kind: 'counter',
    help: 'Looks for a job that failed, for the queue or for want of a process to run it.',
    labels: [],
  },
  mountglass_jobs_running: { kind: 'gauge', help: 'Jobs that this worker runs now.', labels: [] },
  mountglass_jobs_total: {
    kind: 'counter',
    help: 'Jobs that ended here: indexed, failed or crashed with a code, stopped (handed back), lost (somebody else holds it).',
    labels: ['outcome', 'code'],
  },
  mountglass_job_stage_seconds: {
    kind: 'seconds',
    help: 'How long a job was in a stage: open (reaching the repository), tree, policy (manifests, skills, licenses), content, write.',
    labels: ['stage'],
  },
  mountglass_job_processes: { kind: 'gauge', help: 'Child processes for jobs that live now.', labels: [] },
  mountglass_job_process_ends_total: {
    kind: 'counter',
    help: 'Ends of child processes for jobs: idle, large (renewed after a large job), stopped; memory, time, stuck (killed); died.',
    labels: ['reason'],
  },
  mountglass_job_process_memory_bytes: {
    kind: 'gauge',
    help: 'Resident memory of all child processes for jobs, as seen last.',
    labels: [],
  },
} as const satisfies Record<string, Metric>

interface Metric {
  kind: 'counter' | 'gauge' | 'seconds'
  help: string
  labels: readonly string[]
}

export type MetricName = keyof typeof METRICS
export type MetricLabels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>

/** Takes what happens. Nothing here fails or waits. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or takes one duration. */
  record<Name extends MetricName>(name: Name, labels: MetricLabels<Name>, value: number): void

  /** `tell` is called before what was recorded is read, and records what somebody counts or looks up for themselves. */
  beforeRead(tell: () => void | Promise<void>): void
}

export const NO_METRICS: Metrics = { record() {}, beforeRead() {} }

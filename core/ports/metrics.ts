/**
 * The metrics, by name. `counter`: a sum; `gauge`: the last value; `seconds`: a histogram of durations.
 * Labels have fixed sets of values: routes, codes, names in this code. Never a repository, a query, a person or a secret.
 */
export const METRICS = {
  mountglass_http_requests_total: {
    kind: 'counter',
    help: 'Answered requests, by route pattern and status.',
    labels: ['route', 'status'],
  },
  mountglass_http_request_seconds: {
    kind: 'seconds',
    help: 'Duration from the first line of a request to the end of its answer.',
    labels: ['route'],
  },
  mountglass_cache_lookups_total: {
    kind: 'counter',
    help: 'Lookups in a memory cache of the API: hit, or miss, which reads from the store.',
    labels: ['cache', 'result'],
  },
  mountglass_cache_bytes: { kind: 'gauge', help: 'Estimated size of a memory cache of the API.', labels: ['cache'] },
  mountglass_faults_total: {
    kind: 'counter',
    help: 'Requests that failed by a fault of this program, by error class. The log has the stack of each fault once.',
    labels: ['error'],
  },
  mountglass_fallbacks_total: {
    kind: 'counter',
    help: 'Failures after which the work went on without something, by kind. The log has the first of each kind.',
    labels: ['kind'],
  },
  mountglass_rendered_texts_total: {
    kind: 'counter',
    help: 'Texts of pages that were asked to be rendered, by outcome: rendered, cached, too_large, slow, busy or failed.',
    labels: ['outcome'],
  },
  mountglass_store_requests_total: {
    kind: 'counter',
    help: 'Requests to the blob store (blobs) and to the state store (documents), by outcome: answered or failed.',
    labels: ['store', 'operation', 'outcome'],
  },
  mountglass_store_bytes_total: {
    kind: 'counter',
    help: 'Bytes of blobs read and written; the state store is not measured.',
    labels: ['store', 'operation'],
  },
  mountglass_store_request_seconds_total: {
    kind: 'counter',
    help: 'Total duration of the requests to a store.',
    labels: ['store', 'operation'],
  },
  mountglass_host_quota_remaining: {
    kind: 'gauge',
    help: 'Requests that the git host still answers in the current window.',
    labels: ['host'],
  },
  mountglass_host_quota_limit: {
    kind: 'gauge',
    help: 'Requests that the git host answers in one window.',
    labels: ['host'],
  },
  mountglass_host_quota_reset_timestamp_seconds: {
    kind: 'gauge',
    help: 'End of the current window of the git host, in seconds since 1970.',
    labels: ['host'],
  },
  mountglass_queue_jobs: {
    kind: 'gauge',
    help: 'Jobs that wait or run in the whole deployment: every process reports the same number.',
    labels: [],
  },
  mountglass_queue_errors_total: {
    kind: 'counter',
    help: 'Failed attempts to take a job: the queue failed, or no process could be started.',
    labels: [],
  },
  mountglass_jobs_running: { kind: 'gauge', help: 'Jobs that this worker is running.', labels: [] },
  mountglass_jobs_total: {
    kind: 'counter',
    help: 'Jobs that ended in this worker: indexed, failed or crashed with a code, stopped (released), lost (another worker has the lease).',
    labels: ['outcome', 'code'],
  },
  mountglass_job_stage_seconds: {
    kind: 'seconds',
    help: 'Duration of the stages of a job: open (reaching the repository), tree, policy (manifests, skills, licenses), content, write.',
    labels: ['stage'],
  },
  mountglass_job_processes: { kind: 'gauge', help: 'Running child processes for jobs.', labels: [] },
  mountglass_job_process_ends_total: {
    kind: 'counter',
    help: 'Ends of child processes for jobs: idle, large, slow (renewed after a large or long job), stopped; memory, time, stuck (killed); died.',
    labels: ['reason'],
  },
  mountglass_job_process_memory_bytes: {
    kind: 'gauge',
    help: 'Resident memory of all child processes for jobs, as last measured.',
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

/** Receives measurements. Never throws or blocks. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or adds one duration to a histogram. */
  record<Name extends MetricName>(name: Name, labels: MetricLabels<Name>, value: number): void

  /** `collect` is called before each reading, to record values that are counted or looked up elsewhere. */
  beforeRead(collect: () => void | Promise<void>): void
}

export const NO_METRICS: Metrics = { record() {}, beforeRead() {} }

import type { Metrics } from '#core/ports/metrics.ts'
import type { MetricValue } from './job-messages.ts'

/** Metrics of a job process. The worker, which Prometheus reads, receives them. */
export interface MetricsSender {
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

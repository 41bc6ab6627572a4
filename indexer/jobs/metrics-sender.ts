import type { Metrics } from '#core/ports/metrics.ts'
import type { MetricValue } from './job-messages.ts'

/** Metrics of a process that nobody asks: they are sent to the one that is asked. */
export interface MetricsSender {
  metrics: Metrics
  /** Sends what was recorded since the last time. */
  flush(): void
}

export function createMetricsSender(send: (records: readonly MetricValue[]) => void): MetricsSender {
  let records: MetricValue[] = []
  const tellers: (() => void | Promise<void>)[] = []
  return {
    metrics: {
      record: (name, labels, value) => records.push([name, labels, value]),
      beforeRead: tell => tellers.push(tell),
    },
    flush() {
      // What has to be waited for is part of the next sending.
      for (const tell of tellers) void tell()
      if (records.length === 0) return
      send(records)
      records = []
    },
  }
}

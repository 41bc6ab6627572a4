import type { Registry } from 'prom-client'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { METRICS, type MetricName, type Metrics } from '#core/ports/metrics.ts'

/** Metrics of this process, in the text format of Prometheus. */
export interface PrometheusMetrics extends Metrics {
  read(): Promise<{ contentType: string; text: string }>
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
/** Resolution of the event loop delay. A finer one would wake an idle process more often. */
const EVENT_LOOP_MS = 20
/** Timeout of all collectors: one that hangs must not delay the other metrics. */
const COLLECTING_MS = 1_000

/** prom-client, which is slow to load, is loaded by the first reading, at the latest this long after the start. */
const LOADING_MS = 2_000

export function createPrometheusMetrics(): PrometheusMetrics {
  const collectors: Collector[] = []
  /** Recorded before prom-client is loaded. */
  const early: Parameters<Recorder>[] = []
  let record: Recorder = (...recorded) => early.push(recorded)
  let loading: Promise<Registry> | null = null

  async function load(): Promise<Registry> {
    const loaded = await loadRegistry()
    record = loaded.record
    for (const recorded of early.splice(0)) record(...recorded)
    return loaded.registry
  }

  setTimeout(() => {
    loading ??= load()
  }, LOADING_MS).unref()

  return {
    record: (name, labels, value) => record(name, labels, value),
    beforeRead: collect => collectors.push(collect),
    async read() {
      loading ??= load()
      const registry = await loading
      await collectAll(collectors)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

type Collector = () => void | Promise<void>

async function collectAll(collectors: readonly Collector[]): Promise<void> {
  // After a failure the old value stays; the failure is counted where it happens.
  await withTimeout(Promise.allSettled(collectors.map(async collect => collect())), COLLECTING_MS, () => {})
}

type Recorder = (name: MetricName, labels: Record<string, string>, value: number) => void

async function loadRegistry(): Promise<{ registry: Registry; record: Recorder }> {
  const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_MS })

  function createRecorder(name: MetricName): (labels: Record<string, string>, value: number) => void {
    const { kind, help, labels } = METRICS[name]
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    switch (kind) {
      case 'counter': {
        const counter = new Counter(options)
        return (values, value) => counter.inc(values, value)
      }
      case 'gauge': {
        const gauge = new Gauge(options)
        return (values, value) => gauge.set(values, value)
      }
      case 'seconds': {
        const histogram = new Histogram({ ...options, buckets: SECONDS })
        return (values, value) => histogram.observe(values, value)
      }
    }
  }

  const recorders = new Map<string, ReturnType<typeof createRecorder>>()
  for (const name of Object.keys(METRICS) as MetricName[]) recorders.set(name, createRecorder(name))
  return { registry, record: (name, labels, value) => recorders.get(name)?.(labels, value) }
}

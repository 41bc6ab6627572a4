import type { Registry } from 'prom-client'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { METRICS, type MetricName, type Metrics } from '#core/ports/metrics.ts'

/** Metrics of this process as Prometheus reads them. */
export interface PrometheusMetrics extends Metrics {
  read(): Promise<{ contentType: string; text: string }>
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
/** Delays that are shorter are not told apart. A finer look would wake an idle process more often. */
const EVENT_LOOP_MILLISECONDS = 20
/** What is told later is missing from this reading: a store that hangs must not hide everything else. */
const TELLING_MILLISECONDS = 1_000

/** What takes long to load is loaded when somebody reads, or when the process has started. */
const LOADING_MILLISECONDS = 2_000

export function createPrometheusMetrics(): PrometheusMetrics {
  const tellers: (() => void | Promise<void>)[] = []
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
  }, LOADING_MILLISECONDS).unref()

  return {
    record: (name, labels, value) => record(name, labels, value),
    beforeRead: tell => tellers.push(tell),
    async read() {
      loading ??= load()
      const registry = await loading
      await tellAll(tellers)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

async function tellAll(tellers: readonly (() => void | Promise<void>)[]): Promise<void> {
  // A value that cannot be looked up stays as it was; the failure is counted where it happens.
  await withTimeout(Promise.allSettled(tellers.map(async tell => tell())), TELLING_MILLISECONDS, () => {})
}

type Recorder = (name: MetricName, labels: Record<string, string>, value: number) => void

async function loadRegistry(): Promise<{ registry: Registry; record: Recorder }> {
  const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_MILLISECONDS })

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

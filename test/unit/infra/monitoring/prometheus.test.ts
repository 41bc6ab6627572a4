import { expect, test } from 'vitest'
import { METRICS, type MetricName } from '#core/ports/metrics.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'

async function linesOf(metrics: ReturnType<typeof createPrometheusMetrics>): Promise<string[]> {
  return (await metrics.read()).text.split('\n')
}

test.each(Object.keys(METRICS) as MetricName[])('%s can be recorded with its labels, and is described', async name => {
  const { kind, help, labels } = METRICS[name]
  const metrics = createPrometheusMetrics()
  const values = Object.fromEntries(labels.map(label => [label, `a ${label}`]))
  metrics.record(name, values as never, 2)
  metrics.record(name, values as never, 3)
  const lines = await linesOf(metrics)
  expect(lines).toContain(`# HELP ${name} ${help}`)
  const suffix = labels.length === 0 ? '' : `{${labels.map(label => `${label}="a ${label}"`).join(',')}}`
  const expected = { counter: `${name}${suffix} 5`, gauge: `${name}${suffix} 3`, seconds: `${name}_sum${suffix} 5` }
  expect(lines).toContain(expected[kind])
})

test('the delay of the event loop and the memory of the process are metrics', async () => {
  const lines = await linesOf(createPrometheusMetrics())
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${name} \\S+$`)))
})

test('values recorded before and after the first reading add up', async () => {
  const metrics = createPrometheusMetrics()
  metrics.record('mountglass_queue_errors_total', {}, 2)
  const reading = metrics.read()
  metrics.record('mountglass_queue_errors_total', {}, 3)
  await reading
  metrics.record('mountglass_queue_errors_total', {}, 4)
  expect(await linesOf(metrics)).toContain('mountglass_queue_errors_total 9')
})

test('values that are looked up are looked up for every reading', async () => {
  const metrics = createPrometheusMetrics()
  let depth = 0
  metrics.beforeRead(async () => metrics.record('mountglass_queue_jobs', {}, ++depth))
  expect(await linesOf(metrics)).toContain('mountglass_queue_jobs 1')
  expect(await linesOf(metrics)).toContain('mountglass_queue_jobs 2')
})

test('a source that fails or hangs hides no other', async () => {
  const metrics = createPrometheusMetrics()
  metrics.beforeRead(() => {
    throw new Error('at once')
  })
  metrics.beforeRead(() => Promise.reject(new Error('later')))
  metrics.beforeRead(() => new Promise(() => {}))
  metrics.beforeRead(() => metrics.record('mountglass_queue_jobs', {}, 7))
  expect(await linesOf(metrics)).toContain('mountglass_queue_jobs 7')
})

import { expect, onTestFinished, test } from 'vitest'
import { listenForMonitoring } from '#infra/monitoring/listener.ts'

test('an idle connection is kept for more than a minute, the interval of a monitoring system', async () => {
  const metrics = { read: async () => ({ contentType: 'text/plain', text: '' }) }
  const listener = await listenForMonitoring({ host: '127.0.0.1', port: 0 }, metrics, { check: async () => {} })
  onTestFinished(listener.close)
  const { headers } = await fetch(`http://127.0.0.1:${listener.port}/metrics`)
  expect(Number(/^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(60)
})

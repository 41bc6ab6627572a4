import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
let origin: string

beforeAll(async () => {
  app = await testApp(
    { 'acme/tools': { 'a/SKILL.md': '---\nname: a\ndescription: d\n---\nDo.\n' } },
    { metrics: createPrometheusMetrics() },
  )
  await app.open('/local/acme/tools')
  origin = await app.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

/** What is told of this service; what Node tells of itself comes and goes. */
async function lines(): Promise<string[]> {
  return (await (await fetch(`${origin}/metrics`)).text()).split('\n').filter(line => line.startsWith('mountglass_'))
}

async function countOf(route: string, status: number): Promise<number> {
  const line = (await lines()).find(one => one.startsWith(`mountglass_http_requests_total{route="${route}",status="${status}"} `))
  return Number(line?.split(' ')[1] ?? 0)
}

test('metrics are Prometheus text that no cache stores', async () => {
  const answer = await fetch(`${origin}/metrics`)
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
    'no-store',
  ])
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
})

test('metrics are at one spelling of their path alone, which rules before the service can close', async () => {
  for (const path of [
    '/%6detrics',
    '/%6Detrics',
    '/metric%73',
    '/metrics/',
    '//metrics',
    '/metrics;a',
    '/x/../%6detrics',
    '/METRICS',
  ]) {
    const answer = await fetch(`${origin}${path}`)
    expect([path, answer.status]).toEqual([path, 404])
  }
})

test('requests are counted by the pattern of their route and by status', async () => {
  const statuses = [
    ['/api/v1/mounts/local/acme/tools', '/api/v1/mounts/*', 200],
    ['/api/v1/mounts/local/acme/secret-name', '/api/v1/mounts/*', 404],
    ['/api/v1/skills/local/acme/tools?path=a/SKILL.md', '/api/v1/skills/*', 200],
    ['/api/v1/find/local/acme/tools?query=secret-word', '/api/v1/find/*', 200],
    ['/api/v1/secret-name', 'other', 404],
    ['/secret-name', 'other', 404],
    ['/healthz', '/healthz', 200],
  ] as const
  for (const [path, route, status] of statuses) {
    const before = await countOf(route, status)
    expect((await fetch(origin + path)).status).toBe(status)
    expect(await countOf(route, status), path).toBe(before + 1)
  }
  expect((await fetch(`${origin}/healthz`, { method: 'POST' })).status).toBe(405)
  const text = (await lines()).join('\n')
  expect(text).not.toMatch(/secret|acme|tools/)
})

test('unusual requests add no further series', async () => {
  const strange = [
    '/%',
    '/%2F%00',
    '/a'.repeat(2_000),
    '/api/v1/mounts/%zz',
    '/api/v1/files/local/acme/tools?path=%',
    '/constructor',
    '/__proto__',
  ]
  const ask = async (salt: string) => {
    for (const path of strange) await fetch(`${origin}${path}${salt}`)
  }
  await ask('')
  const before = (await lines()).length
  for (let salt = 0; salt < 20; salt++) await ask(String(salt))
  expect((await lines()).length).toBe(before)
})

test('malformed requests break nothing', async () => {
  const before = await countOf('/healthz', 200)
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.end('NONSENSE\r\n\r\n')
  await once(socket.resume(), 'close')
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  expect(await countOf('/healthz', 200)).toBe(before + 1)
})

test('a request within the process belongs to its outer request and is not counted', async () => {
  const before = await countOf('/healthz', 200)
  await app.get('/healthz')
  expect(await countOf('/healthz', 200)).toBe(before)
})

test('a second identical read is answered from memory, and counted as such', async () => {
  const lookups = async (result: string) =>
    Number(
      (await lines())
        .find(line => line.startsWith(`mountglass_cache_lookups_total{cache="snapshots",result="${result}"} `))
        ?.split(' ')[1],
    )
  const url = `${origin}/api/v1/browse/local/acme/tools`
  await fetch(url)
  const [hits, misses] = [await lookups('hit'), await lookups('miss')]
  await fetch(url)
  expect(await lookups('hit')).toBeGreaterThan(hits)
  expect(await lookups('miss')).toBe(misses)
  expect(await lines()).toContainEqual(expect.stringMatching(/^mountglass_cache_bytes\{cache="snapshots"\} [1-9]\d+$/))
})

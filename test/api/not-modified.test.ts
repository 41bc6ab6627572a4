import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* Answers 304 over the network: what decides a whole answer decides them, too. */

const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'docs/guide.md': '# Guide\n\nHow to do it.\n',
}
const READY = [
  `/api/v1/mounts${ADDRESS}`,
  `/api/v1/browse${ADDRESS}?path=docs`,
  `/api/v1/find${ADDRESS}?query=first`,
  `/api/v1/skills${ADDRESS}?path=one/SKILL.md`,
  `/api/v1/files${ADDRESS}?path=docs/guide.md`,
  `/api/v1/changes${ADDRESS}?from=main`,
]

let app: TestApp
let origin: string
let logged: string[] = []
beforeAll(async () => {
  const stream = { write: (line: string) => void logged.push(line) }
  const log = { level: 'info', stream }
  app = await testApp({ 'acme/tools': FILES }, { metrics: createPrometheusMetrics(), logger: log })
  await app.open(ADDRESS)
  origin = await app.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())
beforeEach(() => {
  logged = []
})

const send = (url: string, headers: Record<string, string> = {}) => fetch(origin + url, { headers })
const tagOf = async (url: string) => (await send(url)).headers.get('etag') ?? ''
const linesOf = () => logged.map(line => JSON.parse(line))

test('a 304 is logged and counted like every answer', async () => {
  const url = READY[3] as string
  const etag = await tagOf(url)
  await send(url, { 'if-none-match': etag })
  const [whole, held] = linesOf()
  expect(held).toMatchObject({ reqId: expect.any(String), method: 'GET', path: whole.path, status: 304, msg: 'answered' })
  expect(Object.keys(held)).toEqual(Object.keys(whole))
  expect(await (await send('/metrics')).text()).toMatch(
    /^mountglass_http_requests_total\{route="\/api\/v1\/skills\/\*",status="304"\} [1-9]/m,
  )
})

test('a conditional request with an invalid token is refused as without a tag', async () => {
  const url = READY[1] as string
  const headers = { 'if-none-match': await tagOf(url), authorization: 'Bearer mgp_nothing' }
  expect((await send(url, headers)).status).toBe(401)
})

test('a request without a host, or with two, is refused', async () => {
  const url = READY[1] as string
  const etag = await tagOf(url)
  for (const hosts of ['', 'host: a\r\nhost: b\r\n']) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.write(`GET ${url} HTTP/1.1\r\n${hosts}if-none-match: ${etag}\r\nconnection: close\r\n\r\n`)
    expect((await text(socket)).split(' ')[1], hosts).toBe('400')
  }
})

test('a conditional request to a repository that became private is answered as for a missing one', async () => {
  const tags = new Map(await Promise.all(READY.map(async url => [url, await tagOf(url)] as const)))
  const marker = join(app.repository('acme/tools').gitDir, 'mountglass-private')
  await writeFile(marker, '')
  try {
    for (const [url, etag] of tags) expect([url, (await send(url, { 'if-none-match': etag })).status]).toEqual([url, 404])
  } finally {
    await rm(marker)
  }
  for (const [url, etag] of tags) expect([url, (await send(url, { 'if-none-match': etag })).status]).toEqual([url, 304])
})

test('a branch that moved is answered whole, at its new commit', async () => {
  const url = READY[4] as string
  const etag = await tagOf(url)
  const commit = await app.repository('acme/tools').commit({ 'docs/guide.md': '# Guide\n\nAnother way.\n' })
  await app.open(ADDRESS)
  const moved = await send(url, { 'if-none-match': etag })
  expect([moved.status, ((await moved.json()) as { commit: string }).commit]).toEqual([200, commit])
  expect((await send(url, { 'if-none-match': moved.headers.get('etag') ?? '' })).status).toBe(304)
})

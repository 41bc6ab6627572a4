import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { countOpened } from './support/count-opened.ts'

/* Answers 304 over the network, where they are sent before the router runs. They are those that the router's way gives. */

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
const opened = countOpened()
beforeAll(async () => {
  const stream = { write: (line: string) => void logged.push(line) }
  const log = { level: 'info', stream }
  app = await testApp({ 'acme/tools': FILES }, { metrics: createPrometheusMetrics(), logger: log, deps: opened.deps })
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

test.each(READY)('%s is answered as by the router', async url => {
  const etag = await tagOf(url)
  const early = await send(url, { 'if-none-match': `"x", W/${etag}` })
  const { headers, statusCode } = await app.app.inject({ url, headers: { 'if-none-match': etag } })
  expect([early.status, await early.text(), statusCode]).toEqual([304, '', 304])
  const named = [...early.headers.keys()].filter(name => !['connection', 'keep-alive'].includes(name))
  expect(named.sort()).toEqual(
    Object.keys(headers)
      .filter(name => name !== 'connection')
      .sort(),
  )
  const same = named.filter(name => !['date', 'x-request-id'].includes(name))
  for (const name of same) expect(early.headers.get(name), name).toBe(String(headers[name]))
  expect(early.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
})

test('no handler of the router runs for it', async () => {
  let handled = 0
  const count = () => handled++
  subscribe('tracing:fastify.request.handler:start', count)
  try {
    for (const url of READY) {
      const etag = await tagOf(url)
      handled = 0
      expect([(await send(url, { 'if-none-match': etag })).status, handled], url).toEqual([304, 0])
      expect([(await send(url, { 'if-none-match': '"x"' })).status, handled], url).toEqual([200, 1])
    }
  } finally {
    unsubscribe('tracing:fastify.request.handler:start', count)
  }
})

test('it is logged and counted as every answer', async () => {
  const url = READY[3] as string
  const etag = await tagOf(url)
  await send(url, { 'if-none-match': etag })
  const [whole, early] = linesOf()
  expect(early).toMatchObject({ reqId: expect.any(String), method: 'GET', path: whole.path, status: 304, msg: 'answered' })
  expect(Object.keys(early)).toEqual(Object.keys(whole))
  expect(await (await send('/metrics')).text()).toMatch(
    /^mountglass_http_requests_total\{route="\/api\/v1\/skills\/\*",status="304"\} [1-9]/m,
  )
})

test('a tag that is not the one, and HEAD, take the usual way', async () => {
  const url = READY[4] as string
  const etag = await tagOf(url)
  expect((await send(url, { 'if-none-match': '"x"' })).status).toBe(200)
  const head = await fetch(origin + url, { method: 'HEAD', headers: { 'if-none-match': etag } })
  expect([head.status, Number(head.headers.get('content-length')) > 0]).toEqual([304, true])
})

test('a request with a token is refused as it is without a tag', async () => {
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

test('a repository that became private is as one that does not exist, whatever the client has', async () => {
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

test('requests that arrive together are decided at once, and those that arrive later anew', async () => {
  const url = READY[1] as string
  const etag = await tagOf(url)
  const marker = join(app.repository('acme/tools').gitDir, 'mountglass-private')
  const askTogether = async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    const request = (connection: string) =>
      `GET ${url} HTTP/1.1\r\nhost: a\r\nif-none-match: ${etag}\r\nconnection: ${connection}\r\n\r\n`
    opened.count = 0
    socket.write(request('keep-alive').repeat(4) + request('close'))
    return (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g)
  }
  expect([await askTogether(), opened.count]).toEqual([Array(5).fill('304'), 1])
  await writeFile(marker, '')
  expect([await askTogether(), opened.count]).toEqual([Array(5).fill('404'), 0])
  await rm(marker)
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

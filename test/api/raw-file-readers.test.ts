import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { nextSlot } from '#core/concurrency/fair-gate.ts'
import { storeForgedPack } from '#test/support/forged-packs.ts'
import { countGitStreams } from '#test/support/git-streams.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'
import { MIT } from './support/texts.ts'

const MIB = 1024 * 1024
const LARGE_BYTES = 3 * MIB

let app: TestApp
let raw: string
let port: number
/** The times by which the service measures how fast clients take answers, and the raw route how fast they take files, in milliseconds. */
const now = { answers: 0, files: 0 }
beforeAll(async () => {
  const files = {
    'acme/tools': {
      LICENSE: MIT,
      'small.txt': 'told',
      'large.bin': new Uint8Array(LARGE_BYTES).fill(7),
      'whole.bin': new Uint8Array(LARGE_BYTES).fill(9),
    },
    'acme/media': { LICENSE: MIT },
  }
  app = await testApp(files, {
    clients: { checkEveryMs: 20, now: () => now.answers },
    monotonicNow: () => now.files,
    rawFileBytes: 200 * MIB,
  })
  const media = app.repository('acme/media')
  await media.commit({ 'film.bin': { blob: await media.writeZeroBlob(200 * MIB) } })
  await app.open('/local/acme/tools')
  raw = `/git/local/acme/tools/raw/${app.commitOf('acme/tools')}`
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

/** Address of a file of 200 MiB. */
async function filmPath(): Promise<string> {
  await app.open('/local/acme/media')
  return `/git/local/acme/media/raw/${await app.repository('acme/media').git('rev-parse', 'main')}/film.bin`
}

const stalling: Socket[] = []
afterEach(async () => {
  for (const socket of stalling.splice(0)) socket.destroy()
  await until(() => countGitStreams() === 0)
})

/** A client that asks, reads the beginning of the answer, and then no more. `head` is empty where the connection was closed before. */
async function stall(path: string): Promise<{ socket: Socket; head: string }> {
  const socket = connect({ host: '127.0.0.1', port })
  stalling.push(socket)
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
  socket.pause()
  return { socket, head: chunk instanceof Buffer ? (chunk.toString('latin1').split('\r\n\r\n', 1)[0] ?? '') : '' }
}

test('a file that is damaged is 503 with a name, and without the headers of a file', async () => {
  const repository = app.repository('acme/tools')
  const commit = app.commitOf('acme/tools')
  const forge = async (path: string, body: string | Uint8Array) =>
    storeForgedPack(repository.gitDir, [{ oid: await repository.oidAt(commit, path), type: 'blob', body }])
  await forge('small.txt', 'forged')
  await forge('large.bin', new Uint8Array(LARGE_BYTES).fill(8))

  const small = await app.get(`${raw}/small.txt`)
  expect([small.status, small.json.error.code]).toEqual([503, 'skill.unavailable'])
  expect([small.headers.etag, small.headers['content-disposition']]).toEqual([undefined, undefined])
  const first = await app.get(`${raw}/large.bin`, { headers: { range: 'bytes=0-99' } })
  expect([first.status, first.json.error.code], 'a first piece that is also the last').toEqual([503, 'skill.unavailable'])
})

test('a large damaged file is never sent to its end', async () => {
  const { origin } = new URL(`http://127.0.0.1:${port}`)
  const answer = await fetch(`${origin}${raw}/large.bin`)
  expect(answer.headers.get('content-length')).toBe(String(LARGE_BYTES))
  await expect(answer.arrayBuffer()).rejects.toThrow()
  const whole = await fetch(`${origin}${raw}/whole.bin`)
  expect(Buffer.from(await whole.arrayBuffer()).equals(Buffer.alloc(LARGE_BYTES, 9))).toBe(true)
})

test('a large file has a weak ETag, so no part of it is joined with a later answer', async () => {
  const { headers } = await app.get(`${raw}/whole.bin`, { method: 'HEAD' })
  expect(headers.etag).toMatch(/^W\/"[0-9a-f]{40}"$/)
  const known = await app.get(`${raw}/whole.bin`, { headers: { 'if-none-match': String(headers.etag) } })
  expect(known.status).toBe(304)
  const resumed = await app.get(`${raw}/whole.bin`, { headers: { range: 'bytes=9-', 'if-range': String(headers.etag) } })
  expect(resumed.status).toBe(200)
  const part = await app.app.inject({ url: `${raw}/whole.bin`, headers: { range: 'bytes=9-11' } })
  expect([part.statusCode, part.rawPayload]).toEqual([206, Buffer.alloc(3, 9)])
})

test('a client that leaves ends git at once', async () => {
  const { socket, head } = await stall(await filmPath())
  expect(head).toContain('200 OK')
  expect(countGitStreams()).toBe(1)
  socket.destroy()
  await until(() => countGitStreams() === 0)
})

test('nothing is opened for a client that leaves before its request begins', async () => {
  const opened: string[] = []
  app.deps.deny = [({ repository }) => opened.push(repository) > 0]
  onTestFinished(() => {
    app.deps.deny = []
  })
  const pathOf = (repository: string) => `/git/local/acme/${repository}/raw/${'0'.repeat(40)}/a.md`
  app.app.server.prependOnceListener('request', ({ socket }) => {
    // Others of the same network wait before it.
    for (let number = 0; number < 50; number++) void nextSlot('127.0.0.1', AbortSignal.any([]))
    socket.destroy()
  })
  expect((await stall(pathOf('left'))).head).toBe('')
  expect((await app.get(pathOf('stays'))).status).toBe(403)
  expect(opened).toEqual(['stays'])
})

test('a client that takes nothing is dropped', async () => {
  const { socket } = await stall(await filmPath())
  await until(() => {
    now.answers += 10_000
    return countGitStreams() === 0
  })
  socket.resume()
  await until(() => socket.closed)
  expect(socket.bytesRead).toBeLessThan(200 * MIB)
})

test('malformed HTTP gets no answer in the middle of a file that is being sent', async () => {
  const { socket } = await stall(await filmPath())
  let text = ''
  socket.on('data', chunk => {
    text += chunk.toString('latin1').replaceAll('\0', '')
  })
  socket.write('POST /hooks/github HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nno number\r\n')
  await until(() => countGitStreams() === 0)
  socket.resume()
  await until(() => socket.closed)
  expect(text).toBe('')
})

test('a client that stands still makes room for another one', async () => {
  const path = await filmPath()
  const stalled = [await stall(path), await stall(path)]
  for (const { head } of stalled) expect(head).toContain('200 OK')
  expect((await stall(path)).head).toContain(' 503 ')
  // What the buffers of the system took at once counts less and less.
  await until(async () => {
    now.files += 10_000
    return (await stall(path)).head.includes('200 OK')
  })
  await until(() => countGitStreams() === 2)
  for (const { socket } of stalled) socket.resume()
  await until(() => stalled.some(({ socket }) => socket.closed))
  const displaced = stalled.find(({ socket }) => socket.closed)
  expect(displaced?.socket.bytesRead).toBeLessThan(200 * MIB)
})

test('a client with too many waiting requests is refused with Retry-After; another client and an invalid address are not', async () => {
  const license = (await filmPath()).replace('film.bin', 'LICENSE')
  const ask = (remoteAddress: string, url: string) => app.app.inject({ url, remoteAddress })
  const crowd = Array.from({ length: 300 }, () => ask('192.0.2.1', `/git/local/acme/media/raw/${'0'.repeat(40)}/LICENSE`))
  const beside = [ask('192.0.2.2', license), ask('192.0.2.1', '/git/local/acme/media/raw/main/LICENSE')]
  const statuses = (await Promise.all(crowd)).map(({ statusCode, headers }) => [statusCode, headers['retry-after'] ?? null])
  expect(statuses.filter(([status]) => status === 503)).toEqual(Array.from({ length: 300 - 256 }, () => [503, '5']))
  expect((await Promise.all(beside)).map(({ statusCode }) => statusCode)).toEqual([200, 404])
})

test('many clients that do not read hold few processes; further ones are refused with Retry-After, and small files are served', async () => {
  const path = await filmPath()
  const readers = await Promise.all(Array.from({ length: 12 }, () => stall(path)))
  const statuses = readers.map(({ head }) => head.split(' ')[1])
  expect(statuses.filter(status => status === '200').length).toBe(2)
  const refused = readers.find(({ head }) => head.includes(' 503 '))
  expect(refused?.head).toMatch(/retry-after: \d+/)
  expect(countGitStreams()).toBe(2)
  const license = path.replace('film.bin', 'LICENSE')
  expect((await app.get(license)).status).toBe(200)
})

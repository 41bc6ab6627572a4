import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { openRaw, type RawConnection } from '#test/support/raw-socket.ts'
import { type TestApp, type TestAppOptions, testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

const FILES = { 'acme/tools': { 'a.md': '# A\n' } }
const MESSAGE = JSON.stringify({ repository: { id: 1, full_name: 'acme/tools' }, padding: 'x'.repeat(100_000) })

let app: TestApp
let port: number
const begun: RawConnection[] = []

async function start(options: TestAppOptions): Promise<void> {
  app = await testApp(FILES, { github: { withToken: true }, ...options })
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.app.server.address() as AddressInfo).port
}

afterEach(async () => {
  for (const { socket } of begun.splice(0)) socket.destroy()
  await app.close()
})

/** Opens connections that never close their side, and sends the same on each. */
function openMany(count: number, bytes: string): RawConnection[] {
  const opened = Array.from({ length: count }, () => openRaw(port))
  for (const { socket } of opened) socket.write(bytes)
  begun.push(...opened)
  return opened
}

/** The beginning of a webhook message of 4 MB whose rest does not come. */
function beginningOf(sentBytes: number): string {
  const headers = [
    'host: x',
    'content-type: application/json',
    'x-github-event: ping',
    `x-hub-signature-256: sha256=${'0'.repeat(64)}`,
    'content-length: 4000000',
  ]
  return `POST /hooks/github HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${'x'.repeat(sentBytes)}`
}

/** Delivers a genuine message of 100 kB. */
async function deliver(): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'public',
    'x-hub-signature-256': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(MESSAGE).digest('hex')}`,
  }
  return (await fetch(`http://127.0.0.1:${port}/hooks/github`, { method: 'POST', headers, body: MESSAGE })).status
}

function openConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    app.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

test('messages that were begun and do not go on keep no place from a genuine one', async () => {
  await start({})
  openMany(60, beginningOf(0))
  openMany(20, beginningOf(1_000))
  await until(async () => (await openConnections()) === 80)
  expect(await deliver()).toBe(202)
})

test('when the memory for messages is used up, those that stand still make room', async () => {
  await start({ hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 }, clients: { lingerMs: IMPATIENT_MS } })
  const stalled = openMany(8, beginningOf(90_000))
  const displacedOnes = () => stalled.filter(({ answer }) => answer().status === 503)
  // Four of them fit at most.
  await until(() => displacedOnes().length >= 4)
  expect(await deliver()).toBe(202)
  const displaced = displacedOnes()
  expect(displaced[0]?.answer()).toMatchObject({ code: 'hook.busy', headers: { 'retry-after': '1' } })
  await until(async () => (await openConnections()) <= 9 - displaced.length)
})

test('a message that does not arrive in time is 408, and its connection is released', async () => {
  await start({ hookBodies: { totalBytes: 400_000, deadlineMs: IMPATIENT_MS }, clients: { lingerMs: IMPATIENT_MS } })
  const [slow] = openMany(1, beginningOf(10))
  await slow?.closed
  expect(slow?.answer()).toMatchObject({ status: 408, code: 'request.timeout' })
  await until(async () => (await openConnections()) === 0)
})

test.for([
  ['what is refused by the parser', 'noise\r\n\r\n'],
  [
    'what is refused by a route before its body came',
    'POST /hooks/github HTTP/1.1\r\nhost: x\r\ncontent-length: 4000000\r\n\r\n',
  ],
  ['what never comes', ''],
  ['headers that do not end', 'GET / HTTP/1.1\r\nhost: x\r\n'],
] as const)('the descriptors of %s are released, although the clients keep their side open', async ([, bytes]) => {
  const clients = { headersMs: IMPATIENT_MS, requestMs: 2 * IMPATIENT_MS, checkEveryMs: 20, lingerMs: IMPATIENT_MS }
  await start({ clients })
  const opened = openMany(40, bytes)
  await Promise.all(opened.map(({ closed }) => closed))
  await until(async () => (await openConnections()) === 0)
})

test('a connection on which neither side sends is closed', async () => {
  await start({ clients: { idleMs: IMPATIENT_MS } })
  openMany(3, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(async () => (await openConnections()) === 0)
})

test('beyond the bound of connections, the one that waits longest is closed, and a new client is answered', async () => {
  await start({ clients: { connections: 10 } })
  const opened = openMany(10, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(() => opened.every(({ answer }) => answer().status === 200))
  for (let turn = 0; turn < 30; turn++) openMany(1, '')
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  await Promise.all(opened.map(({ closed }) => closed))
  await until(async () => (await openConnections()) <= 10)
})

test('a connection that is being answered is not closed for a new one', async () => {
  await start({ clients: { connections: 2 }, hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 } })
  const [reading] = openMany(1, beginningOf(10))
  await until(async () => (await openConnections()) === 1)
  for (let turn = 0; turn < 10; turn++) openMany(1, '')
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  expect(reading?.socket.destroyed).toBe(false)
  expect(reading?.answer().text).toBe('')
})

test.each([
  ['do not finish their bodies', () => beginningOf(10)],
  ['do not take their answers', () => `GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(200)],
])('where all connections belong to clients that %s, a new one is answered', async (_, request) => {
  await start({ clients: { connections: 4 }, hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 } })
  const held = Array.from({ length: 4 }, () => openRaw(port))
  for (const { socket, closed } of held) {
    // The service may reset it.
    closed.catch(() => {})
    socket.pause()
    socket.write(request())
  }
  await until(async () => (await openConnections()) === 4)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  for (const { socket } of held) socket.destroy()
})

import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { CLIENT_LIMITS } from '#api/http/http-server.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { openRaw, type RawConnection } from '#test/support/raw-socket.ts'
import { type TestApp, type TestAppOptions, testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

const FILES = { 'acme/tools': { 'a.md': '# A\n' } }
const MESSAGE = JSON.stringify({ repository: { id: 1, full_name: 'acme/tools' }, padding: 'x'.repeat(100_000) })

let app: TestApp
let port: number
const begun: RawConnection[] = []
/** The connections as the service sees them. */
const accepted: Socket[] = []

async function start(options: TestAppOptions): Promise<void> {
  app = await testApp(FILES, { github: { withToken: true }, ...options })
  accepted.splice(0)
  app.app.server.on('connection', socket => accepted.push(socket))
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
  ['requests that the parser refuses', 'noise\r\n\r\n'],
  [
    'requests that a route refuses before their body',
    'POST /hooks/github HTTP/1.1\r\nhost: x\r\ncontent-length: 4000000\r\n\r\n',
  ],
  ['requests that never arrive', ''],
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

test('simultaneous connections take the places of as many others, before the closed ones are noticed', async () => {
  await start({ clients: { connections: 10 } })
  const arrived: Socket[] = []
  const door = createServer(socket => arrived.push(socket)).listen(0, '127.0.0.1')
  onTestFinished(() => void door.close())
  await once(door, 'listening')
  for (let client = 0; client < 30; client++) begun.push(openRaw((door.address() as AddressInfo).port))
  await until(() => arrived.length === 30)
  for (const socket of arrived) app.app.server.emit('connection', socket)
  expect(arrived.filter(({ destroyed }) => !destroyed)).toHaveLength(10)
})

test('a connection that is being answered is not closed for a new one', async () => {
  await start({ clients: { connections: 2 }, hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 } })
  const asked = once(app.app.server, 'request')
  const [reading] = openMany(1, beginningOf(10))
  await asked
  for (let turn = 0; turn < 10; turn++) openMany(1, '')
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  expect(reading?.socket.destroyed).toBe(false)
  expect(reading?.answer().text).toBe('')
})

test('if all clients send their bodies slowly, a new client is answered', async () => {
  await start({ clients: { connections: 4 }, hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 } })
  openMany(4, beginningOf(10))
  await until(async () => (await openConnections()) === 4)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})

const DESCRIPTION = 'GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'
/** Together larger than what the buffers of the system hold. */
const MANY_DESCRIPTIONS = DESCRIPTION.repeat(200)

/** Connections whose clients take nothing of their answers. Resolves once the service waits for them. */
async function openUndrained(count: number): Promise<RawConnection[]> {
  const opened = openMany(count, MANY_DESCRIPTIONS)
  for (const { socket } of opened) socket.pause()
  await until(() => accepted.length >= count && accepted.every(({ writableLength }) => writableLength > 0))
  return opened
}

/** Whether the service answers a new client. */
async function isAnswered(): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

test('if all clients stop reading their answers, a new client is answered', async () => {
  await start({ clients: { connections: 4, checkEveryMs: 20, answersAtOnce: 1_000 } })
  await openUndrained(4)
  await until(isAnswered)
})

test('a client that reads its answers is not closed for a new one, although bytes always wait for it', async () => {
  await start({ clients: { connections: 1, answersAtOnce: 1_000 } })
  const [reader] = openMany(1, MANY_DESCRIPTIONS)
  let newcomers = 0
  reader?.socket.on('data', () => {
    if (newcomers++ < 20) openMany(1, '')
  })
  const answers = () => (reader?.answer().text.split('HTTP/1.1 200 OK').length ?? 0) - 1
  // Afterwards, it waits for a request, and may be closed.
  await until(() => answers() === 200 || accepted[0]?.destroyed === true)
  if (answers() < 200) await reader?.closed
  expect([answers(), newcomers > 20]).toEqual([200, true])
})

test('a client whose first answer is sent, and whose second one is being made, is not closed for a new one', async () => {
  await start({ clients: { connections: 1 }, hookBodies: { totalBytes: 400_000, deadlineMs: 60_000 } })
  let answerNow = () => {}
  app.deps.checkReady = () =>
    new Promise(resolve => {
      answerNow = resolve
    })
  const [reader] = openMany(1, `${DESCRIPTION}GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n`)
  await until(() => reader?.answer().body.endsWith('}') === true)
  const newcomers = openMany(10, '')
  await Promise.all(newcomers.map(({ closed }) => closed))
  answerNow()
  await until(() => reader?.answer().text.includes('HTTP/1.1 200 OK', 1) === true)
})

describe('a client that reads its answers', () => {
  const { bytesPerSecond } = CLIENT_LIMITS.answerPace
  let now = 0
  const clients = { checkEveryMs: 20, now: () => now, answersAtOnce: 1_000 }

  test('a few bytes at a time is closed, although its connection is never idle', async () => {
    await start({ clients })
    const [trickling] = await openUndrained(1)
    let received = 0
    trickling?.socket.on('data', chunk => {
      received += chunk.length
    })
    await until(() => {
      // A byte a minute.
      now += 60_000
      trickling?.socket.read(1)
      return accepted[0]?.destroyed === true
    })
    expect(received, 'a byte at each turn').toBeLessThan(1_000)
    await until(async () => (await openConnections()) === 0)
  })

  test('is not closed as idle while bytes wait for it: only its pace decides', async () => {
    await start({ clients })
    await openUndrained(1)
    const [socket] = accepted
    // Sooner, it might be idle before its requests are read.
    await once(socket?.setTimeout(IMPATIENT_MS) as Socket, 'timeout')
    expect(socket?.destroyed).toBe(false)
    await until(() => {
      now += 60_000
      return socket?.destroyed === true
    })
  })

  test('not at all is closed when too many bytes wait for all clients', async () => {
    await start({ clients: { ...clients, waitingBytes: 1_000 } })
    const [first] = openMany(1, MANY_DESCRIPTIONS)
    first?.socket.pause()
    await until(() => accepted[0]?.destroyed === true)
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect(answer.status, 'others are answered').toBe(200)
  })

  test('is also judged by the answers that wait behind the current one', async () => {
    // One answer is smaller, and only it has reached the socket.
    await start({ clients: { ...clients, waitingBytes: 1_000_000 } })
    const [first] = openMany(1, MANY_DESCRIPTIONS)
    first?.socket.pause()
    await until(() => accepted[0]?.destroyed === true)
  })

  test('is closed when it sends too many requests at once', async () => {
    await start({ clients: { ...clients, answersAtOnce: 100 } })
    const [first, second] = [openMany(1, MANY_DESCRIPTIONS)[0], openMany(1, DESCRIPTION.repeat(100))[0]]
    await first?.closed
    await until(() => second?.answer().text.split('HTTP/1.1 200 OK').length === 101)
  })

  test('makes room if it holds most, not if it is slow', async () => {
    await start({ clients: { ...clients, waitingBytes: 1_000_000 } })
    const [honest] = openMany(1, DESCRIPTION)
    honest?.socket.pause()
    await until(() => accepted.length === 1)
    now += 60_000
    const [greedy] = openMany(1, MANY_DESCRIPTIONS)
    greedy?.socket.pause()
    await until(() => accepted[1]?.destroyed === true)
    expect(accepted[0]?.destroyed).toBe(false)
  })

  test('slowly, but at four times the least pace, receives all of them', async () => {
    await start({ clients })
    const slow = openRaw(port)
    begun.push(slow)
    slow.socket.pause()
    slow.socket.write(MANY_DESCRIPTIONS + DESCRIPTION.replace('host: x', 'host: x\r\nconnection: close'))
    await until(() => (accepted[0]?.writableLength ?? 0) > 0)
    slow.socket.resume().on('data', chunk => {
      now += (chunk.length * 1000) / (4 * bytesPerSecond)
      // A slow client reads no more than that at a time.
      slow.socket.pause()
      setImmediate(() => slow.socket.resume())
    })
    await slow.closed
    expect(slow.answer().text.split('HTTP/1.1 200 OK').length - 1).toBe(201)
  })
})

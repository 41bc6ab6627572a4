import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openRaw } from '#test/support/raw-socket.ts'
import { startService } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

/** Requests after which the service answers and is done with the client, who never closes. */
const REQUESTS = [
  'noise\r\n\r\n',
  'FETCH / HTTP/1.1\r\nhost: x\r\n\r\n',
  'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n',
  `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  'POST /api/v1/featured HTTP/1.1\r\nhost: x\r\ncontent-length: 4000000\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
]
const CLIENTS = 240

test('the process keeps no descriptor of clients that were answered and do not close', async () => {
  const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_INDEXER: 'none' })
  const descriptors = async () => (await readdir(`/proc/${service.process.pid}/fd`)).length
  try {
    const port = Number(new URL(service.baseUrl).port)
    const before = await descriptors()
    const clients = Array.from({ length: CLIENTS }, () => openRaw(port))
    for (const [index, { socket }] of clients.entries()) socket.write(REQUESTS[index % REQUESTS.length] ?? '')
    await Promise.all(clients.map(({ closed }) => closed))
    expect(clients.map(({ answer }) => answer().status)).not.toContain(Number.NaN)
    await until(async () => (await descriptors()) <= before + 2)
    for (const { socket } of clients) socket.destroy()
    expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
  } finally {
    await service.stop()
  }
})

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { avatarUrl, createAvatars } from '#infra/github/avatars.ts'

const MAX_BYTES = 1_000

const closing = new AbortController()
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** @returns origin of a server, and what it was asked */
async function serve(answer: RequestListener): Promise<{ origin: string; asked: { url: string; headers: unknown }[] }> {
  const asked: { url: string; headers: unknown }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers })
    answer(request, response)
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const MISSING = { status: 'missing' }
const UNAVAILABLE = { status: 'unavailable', retryAfterSeconds: null }

async function fetchFrom(answer: RequestListener, answerMs = 60_000) {
  const { origin, asked } = await serve(answer)
  const avatars = createAvatars({ origins: [origin], closing: closing.signal, answerMs })
  return { outcome: await avatars.fetch(`${origin}/u/1?v=4`, 128, MAX_BYTES), asked }
}

test('the picture is asked for in its size, without credentials', async () => {
  const { outcome, asked } = await fetchFrom((_request, response) => response.end('bytes'))
  expect(outcome).toEqual({ status: 'ok', value: new Uint8Array(Buffer.from('bytes')) })
  expect(asked.map(({ url }) => url)).toEqual(['/u/1?v=4&s=128'])
  expect(asked[0]?.headers).not.toHaveProperty('cookie')
  expect(asked[0]?.headers).not.toHaveProperty('authorization')
})

describe('a server', () => {
  test('that redirects is not followed, even to itself', async () => {
    const elsewhere = await serve((_request, response) => response.end('bytes'))
    for (const status of [301, 302, 303, 307, 308]) {
      const { outcome, asked } = await fetchFrom((_request, response) =>
        response.writeHead(status, { location: `${elsewhere.origin}/` }).end(),
      )
      expect([outcome, asked.length]).toEqual([MISSING, 1])
    }
    const { asked } = await fetchFrom((_request, response) => response.writeHead(302, { location: '/u/2' }).end())
    expect(asked).toHaveLength(1)
    expect(elsewhere.asked).toEqual([])
  })

  test('that lacks the picture, or fails, is reported as such', async () => {
    expect((await fetchFrom((_request, response) => response.writeHead(404).end())).outcome).toEqual(MISSING)
    expect((await fetchFrom((_request, response) => response.writeHead(503).end())).outcome).toEqual(UNAVAILABLE)
    expect((await fetchFrom((_request, response) => response.destroy())).outcome).toEqual(UNAVAILABLE)
  })

  test('that stalls, before its headers or behind them, is given up', async () => {
    expect((await fetchFrom(() => {}, 100)).outcome).toEqual(UNAVAILABLE)
    expect((await fetchFrom((_request, response) => response.writeHead(200).write('b'), 100)).outcome).toEqual(UNAVAILABLE)
  })

  test('that never ends, or sends more than the limit, is disconnected', async () => {
    const endless: RequestListener = (_request, response) => {
      const send = () => {
        while (response.write(Buffer.alloc(64 * 1024)));
        response.once('drain', send)
      }
      send()
    }
    expect((await fetchFrom(endless)).outcome).toEqual(UNAVAILABLE)
    expect((await fetchFrom((_request, response) => response.end(Buffer.alloc(MAX_BYTES)))).outcome).toMatchObject({
      status: 'ok',
    })
    expect((await fetchFrom((_request, response) => response.end(Buffer.alloc(MAX_BYTES + 1)))).outcome).toEqual(UNAVAILABLE)
  })

  test('that disconnects in the middle gives no half of a picture', async () => {
    const { outcome } = await fetchFrom((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
    })
    expect(outcome).toEqual(UNAVAILABLE)
  })
})

const ORIGINS = ['https://avatars.githubusercontent.com']

test.each([
  'http://avatars.githubusercontent.com/u/1',
  'https://avatars.githubusercontent.com:8443/u/1',
  'https://avatars.githubusercontent.com.example.org/u/1',
  'https://example.org/avatars.githubusercontent.com',
  'https://avatars.githubusercontent.com@example.org/u/1',
  'https://someone@avatars.githubusercontent.com/u/1',
  'https://:secret@avatars.githubusercontent.com/u/1',
  'https://127.0.0.1/u/1',
  'https://127.1/u/1',
  'https://2130706433/u/1',
  'https://0x7f.1/u/1',
  'https://017700000001/u/1',
  'https://0/u/1',
  'https://①②⑦.⓪.⓪.①/u/1',
  'https://10.0.0.1/u/1',
  'https://100.64.0.1/u/1',
  'https://172.31.0.1/u/1',
  'https://192.168.1.1/u/1',
  'https://198.18.0.1/u/1',
  'https://224.0.0.1/u/1',
  'https://255.255.255.255/u/1',
  'https://[::1]/u/1',
  'https://[::]/u/1',
  'https://[::ffff:127.0.0.1]/u/1',
  'https://[64:ff9b::7f00:1]/u/1',
  'https://[fe80::1]/u/1',
  'https://[fd00::1]/u/1',
  'https://[2002:7f00:1::]/u/1',
  'https://avatars.githubusercontent.com./u/1',
  'https://avatars.githubusercontent.com%2eexample.org/u/1',
  'https://evil-avatars.githubusercontent.com/u/1',
  'https://raw.githubusercontent.com/u/1',
  'https://xn--avatars-githubusercontent-com.example.org/u/1',
  'wss://avatars.githubusercontent.com/u/1',
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/u/1',
  'https://avatars.githubusercontent.org\\@avatars.githubusercontent.com/u/1',
  '//avatars.githubusercontent.com/u/1',
  '/u/1',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'javascript:alert(1)',
  'ftp://avatars.githubusercontent.com/u/1',
  'blob:https://avatars.githubusercontent.com/1',
  'https://',
  '',
])('v5.0.0-13.2.4: %s is not asked', async text => {
  expect(avatarUrl(text, ORIGINS)).toBeNull()
})

test('the configured origin is asked, in any spelling of path and port', () => {
  for (const text of ['https://avatars.githubusercontent.com/u/1?v=4', 'HTTPS://Avatars.GitHubUserContent.com:443/u/1#a'])
    expect(avatarUrl(text, ORIGINS)?.origin).toBe(ORIGINS[0])
})

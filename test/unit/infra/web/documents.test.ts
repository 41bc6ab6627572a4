import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { WebDocument } from '#core/ports/web-documents.ts'
import { openWebDocuments } from '#infra/web-documents.ts'
import { until } from '#test/support/until.ts'
import { type Answering, PUBLIC_ADDRESS, testWeb } from '#test/support/web-server.ts'

const LIMITS = { bytes: 5 * 1024, milliseconds: 60_000 }
const URL_OF_CLIENT = 'https://client.example/client.json'

const json: Answering = (_request, response) => response.setHeader('content-type', 'application/json').end('{"a":1}')

async function read(
  url: string,
  answer: Answering = json,
  { names = {}, limits = LIMITS }: { names?: Record<string, string[]>; limits?: typeof LIMITS } = {},
): Promise<WebDocument & { asked: string[]; connected: string[] }> {
  const web = await testWeb(answer, names)
  return { ...(await openWebDocuments(limits, web).read(url)), asked: web.asked, connected: web.connected }
}

describe('documents whose URLs strangers choose', () => {
  test('one is read from an address that was checked', async () => {
    expect(await read(`${URL_OF_CLIENT}?a=b`)).toEqual({
      status: 'ok',
      text: '{"a":1}',
      maxAgeSeconds: null,
      asked: ['/client.json?a=b'],
      connected: [PUBLIC_ADDRESS],
    })
  })

  test('the server receives the requested name, without a port', async () => {
    const told: (string | undefined)[] = []
    await read(URL_OF_CLIENT, (request, response) => {
      told.push(request.headers.host)
      json(request, response)
    })
    expect(told).toEqual(['client.example'])
  })

  test.each([
    'http://client.example/client.json',
    'https://client.example:8443/client.json',
    'https://client.example:80/',
    'https://user@client.example/',
    'https://user:word@client.example/',
    'https://client.example/#fragment',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0/',
    'https://10.0.0.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://172.31.0.1/',
    'https://192.168.1.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:93.184.215.14]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
    'https://[2001:db8::1]/',
    'https://[ff02::1]/',
    'https://①②⑦.⓪.⓪.①/',
    'ftp://client.example/',
    'file:///etc/passwd',
    'gopher://client.example/',
    'data:application/json,{}',
    'client.json',
    '',
  ])('%s is refused without a connection', async url => {
    expect(await read(url)).toEqual({ status: 'refused', asked: [], connected: [] })
  })

  test.each([
    ['a loopback address', ['127.0.0.1']],
    ['a private address', ['10.1.2.3']],
    ['the address of metadata of a cloud', ['169.254.169.254']],
    ['a private address behind a public one', [PUBLIC_ADDRESS, '192.168.0.1']],
    ['a loopback address of IPv6 behind a public one', [PUBLIC_ADDRESS, '::1']],
    ['an IPv4 address in one of IPv6', ['::ffff:10.0.0.1']],
    ['no address', []],
  ])('a name with %s is refused without a connection', async (_name, addresses) => {
    expect(await read(URL_OF_CLIENT, json, { names: { 'client.example': addresses } })).toEqual({
      status: 'refused',
      asked: [],
      connected: [],
    })
  })

  test('a name that is rebound after its check has no effect', async () => {
    const web = await testWeb(json)
    const answers = [[PUBLIC_ADDRESS], ['127.0.0.1']]
    const rebinding = { ...web, resolve: async () => answers.shift() ?? ['127.0.0.1'] }
    const documents = openWebDocuments(LIMITS, rebinding)
    expect(await documents.read(URL_OF_CLIENT)).toMatchObject({ status: 'ok' })
    expect(web.connected).toEqual([PUBLIC_ADDRESS])
    expect(await documents.read(URL_OF_CLIENT)).toEqual({ status: 'refused' })
    expect(web.connected).toEqual([PUBLIC_ADDRESS])
  })

  test.each<[string, Answering]>([
    ['a redirect', (_, response) => response.writeHead(302, { location: 'https://other.example/' }).end()],
    ['an error', (_, response) => response.writeHead(404, { 'content-type': 'application/json' }).end('{}')],
    ['a page', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}')],
    ['no type', (_, response) => response.writeHead(200).end('{}')],
    [
      'a compressed body',
      (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(' '.repeat(1_000_000))),
    ],
    [
      'a body that is too long',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(5 * 1024 + 1)),
    ],
    [
      'a body without an end',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = () => {
          while (response.write(' '.repeat(1_024)) && !response.destroyed);
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      },
    ],
    [
      'bytes that are no text',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.of(0xff)),
    ],
  ])('%s is refused', async (_name, answer) => {
    expect(await read(URL_OF_CLIENT, answer)).toMatchObject({ status: 'refused', asked: ['/client.json'] })
  })

  test.each<[string, Answering]>([
    ['a server that does not answer', () => {}],
    [
      'a body that does not end in time',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ],
    ['a server that is overloaded', (_, response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{}')],
    ['a server that has had enough', (_, response) => response.writeHead(429, { 'content-type': 'application/json' }).end('{}')],
    ['a connection that ends', (_, response) => response.destroy()],
    ['headers that are too long', (_, response) => response.writeHead(200, { 'x-long': 'a'.repeat(20_000) }).end()],
  ])('%s is unavailable', async (_name, answer) => {
    expect(await read(URL_OF_CLIENT, answer, { limits: { ...LIMITS, milliseconds: 500 } })).toMatchObject({
      status: 'unavailable',
    })
  })

  test('a certificate for another name is unavailable', async () => {
    expect(await read('https://stranger.example/client.json')).toMatchObject({ status: 'unavailable', asked: [] })
  })

  test('a name that does not resolve, or not in time, is unavailable', async () => {
    const web = await testWeb(json)
    const failing = openWebDocuments(LIMITS, { ...web, resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await failing.read(URL_OF_CLIENT)).toEqual({ status: 'unavailable' })
    const hanging = openWebDocuments({ ...LIMITS, milliseconds: 50 }, { ...web, resolve: () => new Promise(() => {}) })
    expect(await hanging.read(URL_OF_CLIENT)).toEqual({ status: 'unavailable' })
  })

  test('four of one origin are read at once, and many of all', async () => {
    const held: ServerResponse[] = []
    const web = await testWeb((_request, response) => void held.push(response))
    const documents = openWebDocuments(LIMITS, web)
    const many = Array.from({ length: 10 }, (_, index) => documents.read(`${URL_OF_CLIENT}?${index}`))
    const others = Array.from({ length: 20 }, (_, index) => documents.read(`https://app-${index}.slow.example/client.json`))
    await until(() => held.length === 24)
    for (let answered = 0; answered < 30; answered++) {
      await until(() => held.length > 0)
      held.shift()?.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }
    expect((await Promise.all([...many, ...others])).map(({ status }) => status)).toEqual(Array(30).fill('ok'))
  })

  test.each([
    ['max-age=600', 600],
    ['public, max-age="60"', 60],
    ['no-store', 0],
    ['max-age=600, no-cache', 0],
    ['s-maxage=10', null],
    ['max-age=much', null],
  ])('cache-control: %s', async (header, maxAgeSeconds) => {
    const answer: Answering = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': header }).end('{}')
    expect(await read(URL_OF_CLIENT, answer)).toMatchObject({ status: 'ok', maxAgeSeconds })
  })
})

import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { scrubbed } from '#api/http/scrubbed-log.ts'
import { openBucket } from '#infra/s3/bucket.ts'
import { parseProxies, useProxies } from '#infra/system/proxies.ts'
import { openWebDocuments } from '#infra/web/documents.ts'
import { type ForwardProxy, startForwardProxy } from '#test/support/servers/forward-proxy.ts'

const OWN = 'localhost,127.0.0.1,::1,[::1]'

test.each([
  [{}, null],
  [{ NO_PROXY: '*' }, null],
  [{ HTTPS_PROXY: 'http://proxy:3128' }, { HTTPS_PROXY: 'http://proxy:3128/', NO_PROXY: OWN }],
  [
    { http_proxy: 'proxy:3128', no_proxy: '.test' },
    { HTTP_PROXY: 'http://proxy:3128/', NO_PROXY: `${OWN},.test` },
  ],
  [
    { HTTPS_PROXY: 'http://upper', https_proxy: 'https://lower', HTTP_PROXY: 'http://upper', http_proxy: '' },
    { HTTPS_PROXY: 'https://lower/', HTTP_PROXY: 'http://upper/', NO_PROXY: OWN },
  ],
])('the proxies of %j are %j', (env, proxies) => {
  expect(parseProxies(env)).toEqual(proxies)
})

test.each(['socks5://user:hush@proxy:1080', 'http://', 'http://user:hush@:80', 'a proxy'])(
  '%s is no URL of an HTTP proxy, and is not quoted',
  url => {
    expect(() => parseProxies({ HTTPS_PROXY: url })).toThrow(/^HTTPS_PROXY: (?!.*(hush|a proxy))/)
  },
)

test('a line of the log has no credentials of a proxy', () => {
  expect(scrubbed('{"msg":"no answer of http://user:hush@proxy:3128/ to http://host/a@b"}')).toBe(
    '{"msg":"no answer of http://[credential]@proxy:3128/ to http://host/a@b"}',
  )
})

let proxy: ForwardProxy
beforeEach(async () => {
  const origin = createServer((_request, response) => response.setHeader('etag', '"1"').end('{}')).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  proxy = await startForwardProxy((origin.address() as AddressInfo).port)
  onTestFinished(() => {
    proxy.close()
    origin.close()
    origin.closeAllConnections()
  })
})
let end = () => {}
afterEach(() => end())

test('the API, git and the bucket are asked through the proxy, with its credentials, and this machine is not', async () => {
  end = useProxies({ HTTP_PROXY: proxy.url, NO_PROXY: 'near.test' })
  expect(await (await fetch('http://api.test/repos')).json()).toEqual({})
  const [answer] = (await once(get('http://git.test/acme/tools.git/info/refs'), 'response')) as [IncomingMessage]
  answer.resume()
  const settings = {
    prefix: '',
    endpoint: 'http://s3.test',
    region: 'x',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  }
  const bucket = openBucket({ bucket: 'store', ...settings })
  await bucket.put({ key: 'a', bytes: new Uint8Array(1), type: 'application/json' })
  bucket.close()
  const credentials = 'user:hush'
  expect(proxy.asked).toEqual([
    { what: 'CONNECT api.test:80', credentials },
    { what: 'GET git.test:80', credentials },
    { what: 'PUT s3.test:80', credentials },
  ])
  await fetch('http://near.test/').catch(() => {})
  await fetch('http://127.0.0.1:1/').catch(() => {})
  await once(get('http://127.0.0.1:1/'), 'error').catch(() => {})
  expect(proxy.asked).toHaveLength(3)
})

test('documents that strangers name are never asked for through the proxy, which would reach addresses that are refused', async () => {
  end = useProxies({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url })
  const connected: string[] = []
  const network = {
    resolve: async (name: string) => (name === 'inside.test' ? ['10.0.0.1'] : ['93.184.216.34']),
    connect: (address: string): never => {
      connected.push(address)
      throw new Error('no network here')
    },
  }
  const documents = openWebDocuments({ bytes: 100, milliseconds: 1_000 }, network)
  expect(await documents.read('https://inside.test/client.json')).toEqual({ status: 'refused' })
  expect(await documents.read('https://outside.test/client.json')).toEqual({ status: 'unavailable' })
  expect([connected, proxy.asked]).toEqual([['93.184.216.34'], []])
})

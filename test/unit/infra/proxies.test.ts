import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer, get as getSecurely } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openBucket } from '#infra/s3/bucket.ts'
import { openS3Blobs } from '#infra/s3/open.ts'
import { isExempt, parseNoProxy, parseProxies, proxyVariableFor, useProxies } from '#infra/system/proxies.ts'
import { openWebDocuments } from '#infra/web-documents.ts'
import { type ForwardProxy, startForwardProxy } from '#test/support/servers/forward-proxy.ts'

const TLS = join(import.meta.dirname, '..', '..', 'support', 'tls')
/** A name of the certificate there. */
const CERTIFIED = 'client.example'

const told = (env: NodeJS.ProcessEnv) => {
  const proxies = parseProxies(env)
  return proxies && [proxies.http, proxies.https].map(proxy => proxy && `${proxy.variable} ${proxy.url.href}`)
}

test.each([
  [{}, null],
  [{ NO_PROXY: '*' }, null],
  [{ HTTPS_PROXY: 'http://proxy:3128' }, [null, 'HTTPS_PROXY http://proxy:3128/']],
  [{ http_proxy: 'proxy:3128', no_proxy: '.test' }, ['HTTP_PROXY http://proxy:3128/', null]],
  [
    { HTTPS_PROXY: 'http://upper', https_proxy: 'https://lower', HTTP_PROXY: 'http://upper', http_proxy: '' },
    ['HTTP_PROXY http://upper/', 'HTTPS_PROXY https://lower/'],
  ],
  [{ ALL_PROXY: 'proxy:3128' }, ['ALL_PROXY http://proxy:3128/', 'ALL_PROXY http://proxy:3128/']],
  [{ all_proxy: 'http://all', HTTPS_PROXY: ' http://own ' }, ['ALL_PROXY http://all/', 'HTTPS_PROXY http://own/']],
  [
    { ALL_PROXY: 'socks5://unused', HTTP_PROXY: 'http://a', HTTPS_PROXY: 'http://b' },
    ['HTTP_PROXY http://a/', 'HTTPS_PROXY http://b/'],
  ],
])('the proxies of %j are %j', (env, proxies) => {
  expect(told(env)).toEqual(proxies)
})

test.each(['ftp://user:hush@proxy', 'http://', 'http://user:hush@:80', 'a proxy', 'http://user:100%hush@proxy'])(
  '%s is no URL of an HTTP proxy, and is not quoted',
  url => {
    expect(() => parseProxies({ HTTPS_PROXY: url })).toThrow(/^HTTPS_PROXY: must be the URL of an HTTP proxy(?!.*(hush|a proxy))/)
  },
)

test.each(['HTTPS_PROXY', 'ALL_PROXY'])('a SOCKS proxy in %s is refused as unsupported, and is not quoted', name => {
  for (const scheme of ['socks', 'socks4', 'socks5', 'socks5h'])
    expect(() => parseProxies({ [name]: `${scheme}://user:hush@proxy:1080` })).toThrow(
      new RegExp(`^${name}: names a SOCKS proxy(?!.*hush)`),
    )
})

test('a Node without proxy support gives an error with the name of the variable', () => {
  expect(() => useProxies({ ALL_PROXY: 'http://user:hush@proxy' }, () => {}, null)).toThrow(
    /^ALL_PROXY: Node \S+ cannot use proxies: use Node 24\.14 or later(?!.*hush)/,
  )
  expect(() => useProxies({}, () => {}, null)).not.toThrow()
})

/** Entries of `NO_PROXY` with hosts that they exempt, and hosts that they do not. */
const EXEMPT: [entry: string, exempt: string[], others: string[]][] = [
  ['*', ['git.test', '10.1.2.3', '[2001:db8::1]'], []],
  ['near.test', ['near.test', 'a.near.test', 'NEAR.test', 'near.test:8080'], ['far-near.test', 'test', 'near.test.org']],
  [' .near.test ', ['near.test', 'a.b.near.test'], ['xnear.test']],
  ['*.near.test', ['near.test', 'a.near.test'], ['xnear.test']],
  ['Near.Test.', ['near.test', 'a.near.test'], ['xnear.test']],
  ['near.test:8080', ['near.test:8080'], ['near.test', 'near.test:8081', 'a.near.test:8080']],
  ['a.test b.test,,c.test', ['a.test', 'b.test', 'c.test'], ['d.test']],
  ['10.1.2.3', ['10.1.2.3', '10.1.2.3:8080'], ['10.1.2.30', '110.1.2.3']],
  ['10.1.2.3:8080', ['10.1.2.3:8080'], ['10.1.2.3']],
  ['10.1.2.3/8', ['10.0.0.0', '10.255.255.255'], ['11.0.0.0', '9.255.255.255', '10.test']],
  ['192.168.4.0/22', ['192.168.4.0', '192.168.7.255'], ['192.168.3.255', '192.168.8.0']],
  ['0.0.0.0/0', ['1.2.3.4', '255.255.255.255'], ['git.test']],
  ['10.0.0.5-10.0.0.9', ['10.0.0.5', '10.0.0.9'], ['10.0.0.4', '10.0.0.10']],
  ['2001:DB8::1', ['[2001:db8::1]', '[2001:db8:0::1]:8080'], ['[2001:db8::2]']],
  ['[2001:db8::1]', ['[2001:db8::1]'], ['[2001:db8::2]']],
  ['[2001:db8::1]:8080', ['[2001:db8::1]:8080'], ['[2001:db8::1]']],
  ['münchen.test', ['xn--mnchen-3ya.test', 'a.xn--mnchen-3ya.test'], ['munchen.test']],
  ['127.0.0.2', ['127.0.0.2:2'], ['127.0.0.3:2']],
  ['127.0.0.2:2', ['127.0.0.2:2'], ['127.0.0.2:3']],
  ['127.0.0.0/8', ['127.0.0.2:2'], ['128.0.0.1']],
  ['127.0.0.2-127.0.0.4', ['127.0.0.4:2'], ['127.0.0.5:2']],
  ['', ['localhost', '127.0.0.1', '[::1]', '[::1]:8080'], ['git.test', '127.0.0.2']],
]

test.each(EXEMPT)('NO_PROXY=%s exempts %j and not %j', (entry, exempt, others) => {
  const read = parseNoProxy(entry)
  const isDirect = (host: string) => {
    const { hostname, port } = new URL(`http://${host}`)
    return isExempt(read, hostname, port || '80')
  }
  expect([exempt.filter(host => !isDirect(host)), others.filter(isDirect), read.unread]).toEqual([[], [], []])
})

test('entries of NO_PROXY without effect are reported, and the others count', () => {
  const unread = ['fd00::/8', '.near.test:8080', '10.0.0.0/33', '10.0.0/8', '[::1', 'a..b/c']
  const read = parseNoProxy([...unread, 'near.test'].join(','))
  expect(read.unread).toEqual(unread)
  expect(isExempt(read, 'near.test', '80')).toBe(true)
  const entries: string[] = []
  useProxies({ HTTP_PROXY: 'http://proxy', NO_PROXY: 'fd00::/8' }, entry => entries.push(entry))()
  expect(entries).toEqual(['fd00::/8'])
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

const S3 = { bucket: 'store', prefix: '', region: 'x', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }

/** Asks a URL with the client of `fetch`, with that of git, and with that of the bucket. */
const CLIENTS: Record<string, (url: string) => Promise<unknown>> = {
  fetch: url => fetch(url, { signal: AbortSignal.timeout(5_000) }),
  async git(url) {
    const [answer] = (await once(get(url), 'response')) as [IncomingMessage]
    answer.resume()
  },
  async bucket(url) {
    const bucket = openBucket({ ...S3, endpoint: url })
    await bucket.put({ key: 'a', bytes: new Uint8Array(1), type: 'application/json' }).finally(() => bucket.close())
  },
}

test('the API, git and the bucket are asked through the proxy, with its credentials, and this machine is not', async () => {
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'near.test' }
  end = useProxies(env)
  expect(await (await fetch('http://api.test/repos')).json()).toEqual({})
  await CLIENTS.git?.('http://git.test/acme/tools.git/info/refs')
  await CLIENTS.bucket?.('http://s3.test')
  const credentials = 'user:hush'
  expect(proxy.asked).toEqual([
    { what: 'CONNECT api.test:80', credentials },
    { what: 'GET git.test:80', credentials },
    { what: 'PUT s3.test:80', credentials },
  ])
  await fetch('http://near.test/').catch(() => {})
  await fetch('http://127.0.0.1:2/').catch(() => {})
  await once(get('http://127.0.0.1:2/'), 'error').catch(() => {})
  expect(proxy.asked).toHaveLength(3)
  const variables = ['http://s3.test', 'http://near.test', 'https://s3.test'].map(url => proxyVariableFor(new URL(url), env))
  expect(variables).toEqual(['HTTP_PROXY', null, null])
  end()
  expect(proxyVariableFor(new URL('http://s3.test'), env), 'no proxy is used').toBe(null)
})

test('https goes through the proxy by CONNECT, and TLS is with the host', async () => {
  const [cert, key] = await Promise.all(['certificate', 'key'].map(name => readFile(join(TLS, `${name}.pem`), 'utf8')))
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert ?? ''])
  const secure = createSecureServer({ cert, key }, (_request, response) => response.end('{}')).listen(0, '127.0.0.1')
  await once(secure, 'listening')
  const through = await startForwardProxy((secure.address() as AddressInfo).port)
  onTestFinished(() => {
    setDefaultCACertificates(before)
    through.close()
    secure.close()
    secure.closeAllConnections()
  })
  end = useProxies({ HTTPS_PROXY: through.url, NO_PROXY: 'other.test' })
  expect(await (await fetch(`https://${CERTIFIED}/`)).json()).toEqual({})
  await expect(fetch('https://elsewhere.test/')).rejects.toMatchObject({ cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } })
  expect(through.asked.map(({ what }) => what)).toEqual([`CONNECT ${CERTIFIED}:443`, 'CONNECT elsewhere.test:443'])
})

test('a proxy for http alone is not used for https', async () => {
  end = useProxies({ HTTP_PROXY: proxy.url })
  await fetch('https://127.0.0.2:2/').catch(() => {})
  await once(getSecurely('https://127.0.0.2:2/'), 'error').catch(() => {})
  expect(proxy.asked).toEqual([])
})

describe.each(Object.keys(CLIENTS))('the client of %s', client => {
  test.each(EXEMPT)('reads NO_PROXY=%s as the others do', async (entry, exempt, others) => {
    end = useProxies({ HTTP_PROXY: proxy.url, NO_PROXY: entry })
    // Hosts to which every connection fails at once.
    const unreachable = exempt.filter(host => /^127\.|test$/.test(host)).slice(0, 2)
    const hosts = others.slice(0, 1)
    for (const host of [...unreachable, ...hosts]) await CLIENTS[client]?.(`http://${host}/`).catch(() => {})
    expect(proxy.asked.map(({ what }) => what.split(' ')[1])).toEqual(
      hosts.map(host => (/:\d+$/.test(host) ? host : `${host}:80`)),
    )
  })
})

/** A server that ends every connection after its first bytes. */
async function startClosing(): Promise<{ url: string; server: Server; connections: () => number }> {
  let connections = 0
  const server = createTcpServer(socket => {
    connections++
    socket.on('error', () => {})
    socket.once('data', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://user:hush@127.0.0.1:${(server.address() as AddressInfo).port}`, server, connections: () => connections }
}

test('a proxy that ends the connection instead of answering CONNECT fails the request, which is not repeated', async () => {
  const closing = await startClosing()
  end = useProxies({ HTTPS_PROXY: closing.url })
  const failure = await fetch('https://api.test/').catch(error => error.cause)
  expect(failure.message).toBe('the proxy that HTTPS_PROXY names cannot be reached (ECONNRESET)')
  expect(closing.connections()).toBe(1)
})

test.each(['http://s3.test', 'https://s3.test'])(
  'a fault of the proxy is reported as one, and not as one of the bucket at %s',
  async endpoint => {
    const refusing = createServer((_request, response) => response.writeHead(403).end('<html>')).listen(0, '127.0.0.1')
    refusing.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
    await once(refusing, 'listening')
    onTestFinished(() => void refusing.close())
    const refusingUrl = `http://user:hush@127.0.0.1:${(refusing.address() as AddressInfo).port}`
    const closing = await startClosing()
    for (const url of [refusingUrl, closing.url, 'http://user:hush@127.0.0.1:9', 'http://user:hush@nowhere.invalid:3128']) {
      const endOne = useProxies({ ALL_PROXY: url })
      const proxyVariable = proxyVariableFor(new URL(endpoint), { ALL_PROXY: url })
      await expect(openS3Blobs({ ...S3, endpoint, proxyVariable })).rejects.toThrow(
        /^bucket store at \S+ cannot be reached through the proxy that ALL_PROXY names \(\w+\)(?!.*hush)/,
      )
      endOne()
    }
  },
)

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

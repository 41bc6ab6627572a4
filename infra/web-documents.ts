import { Resolver } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { BlockList, isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { createFairGate } from '#core/concurrency/fair-gate.ts'
import type { WebDocument, WebDocuments } from '#core/ports/web-documents.ts'

/** What one document may cost. */
export interface DocumentLimits {
  bytes: number
  milliseconds: number
}

/** How this machine reaches the web. */
export interface Network {
  /** The addresses of a name. The signal ends the look-up. */
  resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]>
  /** A TLS connection to port 443 of the address, whose certificate is for the name. */
  connect(address: string, hostname: string): TLSSocket
}

const PORT = 443
/** Of one origin, so that strangers do not have this machine press upon it. Those who ask have bounds of their own (`api/oauth/clients.ts`). */
const OF_ORIGIN = { limit: Number.POSITIVE_INFINITY, limitEach: 4, maxWaitingEach: 32 }
const HEADER_BYTES = 8 * 1024
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'mountglass', connection: 'close' }

const NETWORK: Network = {
  resolve: (hostname, signal) => resolveName(hostname, signal),
  connect: (address, servername) =>
    connect({ host: address, port: PORT, ALPNProtocols: ['http/1.1'], ...(isIP(servername) === 0 ? { servername } : {}) }),
}

/**
 * Reads documents whose URLs strangers choose, without lending them this machine's place in its network: https at port 443 alone, no redirects,
 * and only where every address of the name is public. The connection is made to an address that was checked, so that a name that changes
 * meanwhile changes nothing.
 */
export function openWebDocuments(limits: DocumentLimits, network: Network = NETWORK): WebDocuments {
  const gate = createFairGate(OF_ORIGIN)
  return {
    async read(text) {
      const url = parseTarget(text)
      if (url === null) return { status: 'refused' }
      const signal = AbortSignal.timeout(limits.milliseconds)
      try {
        const reading = gate(url.origin, async () => await readDocument(url, { limits, network, signal }))
        return await abortable(reading, signal)
      } catch {
        return { status: 'unavailable' }
      }
    },
  }
}

/** The URL, if it may be asked by what it says itself. */
function parseTarget(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && url.hash === ''
  return url.protocol === 'https:' && url.port === '' && isPlain ? url : null
}

interface Reading {
  limits: DocumentLimits
  network: Network
  signal: AbortSignal
}

async function readDocument(url: URL, reading: Reading): Promise<WebDocument> {
  const { network, signal } = reading
  signal.throwIfAborted()
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(hostname) === 0 ? await abortable(network.resolve(hostname, signal), signal) : [hostname]
  // A name with one address inside is a name of the inside.
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) return { status: 'refused' }
  const address = addresses.find(one => isIP(one) === 4) ?? (addresses[0] as string)
  const response = await ask(url, network.connect(address, hostname), signal)
  if (isPassing(response)) throw new Error(`answered ${response.statusCode}`)
  const text = isDocument(response) ? await readText(response, reading.limits.bytes) : null
  response.destroy()
  if (text === null) return { status: 'refused' }
  return { status: 'ok', text, maxAgeSeconds: maxAgeOf(response.headers['cache-control']) }
}

function ask(url: URL, socket: TLSSocket, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const asked = request(url, {
    // An agent would make a connection of its own, so there is none.
    createConnection: () => socket,
    // Left to itself, Node names port 80 for a connection that it did not make, and servers of many names look for another one then.
    headers: { host: url.host, ...HEADERS },
    maxHeaderSize: HEADER_BYTES,
    signal,
  })
  asked.once('response', resolve)
  asked.once('error', reject)
  asked.once('close', () => socket.destroy())
  asked.end()
  return promise
}

/** Whether the server says that it cannot answer now. */
function isPassing({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 500 || [408, 429].includes(statusCode)
}

function isDocument({ statusCode, headers }: IncomingMessage): boolean {
  const isJson = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')
  return statusCode === 200 && isJson && ['identity', undefined].includes(headers['content-encoding'])
}

/** The body as text; `null` when it is longer or no UTF-8. */
async function readText(response: IncomingMessage, maxBytes: number): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxBytes) return null
    parts.push(part)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  } catch {
    return null
  }
}

/** Seconds (RFC 9111, 5.2.2); `null` when the header names none. */
function maxAgeOf(header = ''): number | null {
  if (/(?:^|,)\s*no-(?:store|cache)\s*(?:,|$)/i.test(header)) return 0
  const [, digits] = /(?:^|,)\s*max-age="?(\d{1,9})"?\s*(?:,|$)/i.exec(header) ?? []
  return digits === undefined ? null : Number(digits)
}

/** Settles as `work` does, or rejects once the signal fires. */
async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    work.catch(() => {})
  }
}

/** Of one question to a name server. */
const QUESTION_MS = 2_000

/**
 * The addresses of a name, asked by this process itself. The look-up of the operating system waits in a thread of a pool that connections to
 * the store and the git host need, too: names whose servers do not answer would hold it for minutes.
 *
 * @param signal ends the questions
 * @param servers default: those of the machine
 * @throws Error when no server tells any address
 */
export async function resolveName(hostname: string, signal: AbortSignal, servers?: readonly string[]): Promise<string[]> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    // A name may have addresses of one kind alone.
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0 && answers[0].status === 'rejected') throw answers[0].reason
    return addresses
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Networks that are not of the public internet, and those whose addresses stand for such (IANA special-purpose registries). */
const SPECIAL_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Of `2000::/3`, which is all that is given to the public internet. 6to4 and Teredo contain IPv4 addresses. */
const SPECIAL_IPV6: readonly [network: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [network, prefix] of SPECIAL_IPV4) special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of SPECIAL_IPV6) special.addSubnet(network, prefix, 'ipv6')
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** Whether the address is one of the public internet. Texts that are no addresses are not. */
function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

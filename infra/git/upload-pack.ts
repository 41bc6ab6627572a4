import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { ByteSource } from './byte-source.ts'

/** A remote repository, as git reaches it. */
export interface Remote {
  /** `https`, or `http` for a host on this machine. */
  url: string
  /** Value of the header `authorization`; `null` for an anonymous request. */
  authorization: string | null
}

export interface RemoteOptions {
  remote: Remote
  signal: AbortSignal
}

/** The listing of refs exceeds the caller's limit. */
export class TooManyRefs extends Error {
  constructor() {
    super('git-upload-pack: the host lists too many refs')
    this.name = 'TooManyRefs'
  }
}

/** The pack exceeds the caller's limit. */
export class PackTooLong extends Error {
  constructor(maxBytes: number) {
    super(`git-upload-pack: the pack is longer than ${maxBytes} bytes`)
    this.name = 'PackTooLong'
  }
}

/** A branch, tag or other ref of a remote repository. */
export interface RemoteRef {
  /** `refs/heads/main` */
  name: string
  /** The object that it points at; for an annotated tag, the peeled one. */
  oid: string
}

/**
 * The refs with one of the prefixes, in one request: version 2 of git's protocol needs no handshake.
 *
 * @param maxBytes limit of the answer
 * @throws RemoteRefusal, TooManyRefs, or another Error when the host does not answer
 */
export async function listRefs(options: RemoteOptions, prefixes: readonly string[], maxBytes: number): Promise<RemoteRef[]> {
  const wanted = prefixes.map(prefix => `ref-prefix ${prefix}`)
  return ask(options, ['command=ls-refs', DELIMITER, 'peel', ...wanted], async source => {
    const refs: RemoteRef[] = []
    for (let bytes = 0; ; ) {
      const line = await readLine(source)
      if (line === null) return refs
      bytes += line.length
      if (bytes > maxBytes) throw new TooManyRefs()
      const [, oid = '', name = '', peeled] = REF_LINE.exec(line) ?? []
      if (name !== '') refs.push({ name, oid: peeled ?? oid })
    }
  })
}

/** A ref name may hold any white space but U+0020. */
const REF_LINE = /^([0-9a-f]{40}) ([^ ]+)(?:(?: [^ ]+)* peeled:([0-9a-f]{40}))?/

export interface WantedPack {
  /** Ids of objects. */
  wants: readonly string[]
  /** Ids of commits whose history is not sent. */
  haves?: readonly string[]
  /** Objects to omit: `blob:none`, `tree:0`. Default: none. */
  filter?: string
  /** Length of each history, in commits. Default: all. */
  depth?: number
  /** Length of the pack. Default: any. */
  maxBytes?: number
}

/** Requests a pack of objects and writes it to `into`. @throws RemoteRefusal, PackTooLong, or another Error with the message of the host */
export async function receivePack(
  options: RemoteOptions,
  { wants, haves = [], filter, depth, maxBytes = Number.POSITIVE_INFINITY }: WantedPack,
  into: Writable,
): Promise<void> {
  const lines: SentPacket[] = ['command=fetch', DELIMITER, 'ofs-delta', 'no-progress']
  if (depth !== undefined) lines.push(`deepen ${depth}`)
  if (filter !== undefined) lines.push(`filter ${filter}`)
  lines.push(...wants.map(oid => `want ${oid}`), ...haves.map(oid => `have ${oid}`), 'done')
  await ask(options, lines, async source => {
    for (let section = await readLine(source); section !== 'packfile'; section = await readLine(source)) {
      // Skips the list of shallow commits: no caller asks for their parents.
      if (section !== 'shallow-info') throw new Error(`git-upload-pack: ${JSON.stringify(section)} instead of a pack`)
      while ((await readLine(source)) !== null);
    }
    await pipeline(packOf(source, maxBytes), into)
  })
}

/** The bytes of the first side band. Skips the second, which reports progress. */
async function* packOf(source: ByteSource, maxBytes: number): AsyncGenerator<Buffer> {
  let leftBytes = maxBytes
  for (let length = await readLength(source); length !== null; length = await readLength(source)) {
    if (length === 0) continue
    const [band] = await source.bytes(1)
    if (band === BANDS.pack) {
      leftBytes -= length - 1
      if (leftBytes < 0) throw new PackTooLong(maxBytes)
      yield* source.parts(length - 1)
    } else {
      const text = Buffer.from(await source.bytes(length - 1)).toString()
      if (band === BANDS.fatal) throw RemoteRefusal.ofGit(text)
    }
  }
}

const BANDS = { pack: 1, fatal: 3 }

const HEADERS = {
  // GitHub answers only user agents that begin with `git/`.
  'user-agent': 'git/mountglass',
  accept: 'application/x-git-upload-pack-result',
  'content-type': 'application/x-git-upload-pack-request',
  'git-protocol': 'version=2',
}
/** Longer requests are compressed. */
const COMPRESSED_BYTES = 1024
/** The connection counts as lost after this silence. A host that is counting objects reports progress every few seconds. */
const SILENCE_SECONDS = 20

/** What a refusal says behind its first chunk is read only so that the connection can be reused: no more than this. */
const REST_BYTES = 16 * 1024
const REST_MS = 1_000

const compress = promisify(gzip)

async function ask<Value>(
  { remote, signal }: RemoteOptions,
  packets: readonly SentPacket[],
  read: (source: ByteSource) => Promise<Value>,
): Promise<Value> {
  const packed = encodePackets(packets)
  const isLarge = packed.length > COMPRESSED_BYTES
  const body = isLarge ? await compress(packed) : packed
  const silence = new AbortController()
  const headers = {
    ...HEADERS,
    ...(isLarge ? { 'content-encoding': 'gzip' } : {}),
    ...(remote.authorization === null ? {} : { authorization: remote.authorization }),
  }
  const either = AbortSignal.any([signal, silence.signal])
  const answer = await unlessSilent(silence, post(`${remote.url}/git-upload-pack`, headers, body, either))
  const chunks = chunksOf(answer, silence)
  const isResult = answer.statusCode === 200 && answer.headers['content-type']?.split(';')[0] === HEADERS.accept
  if (!isResult) throw await refusalOf(answer, chunks).finally(() => leave(answer, chunks))
  try {
    const value = await read(new ByteSource(chunks))
    // Reads to the end, so that the connection can be reused.
    await chunks.next()
    return value
  } finally {
    answer.destroy()
  }
}

/** Does not follow redirects. Not `fetch`, which would copy every chunk of a pack once more. */
function post(url: string, headers: OutgoingHttpHeaders, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    let isAnswered = false
    const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length }, signal })
    sent.once('response', answer => {
      isAnswered = true
      resolve(answer)
    })
    sent.on('error', error => {
      // Retry once on a fresh socket: a kept-alive one may just have closed.
      if (sent.reusedSocket && !isAnswered && !signal.aborted) resolve(post(url, headers, body, signal))
      else reject(error)
    })
    // The only event when the host switches to another protocol.
    sent.once('close', () => reject(new Error('git-upload-pack: the host ends the connection')))
    sent.end(body)
  })
}

/** The chunks of the answer. The time in which the caller uses a chunk does not count as silence. */
async function* chunksOf(answer: IncomingMessage, silence: AbortController): AsyncGenerator<Buffer> {
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const { done, value } = await unlessSilent(silence, chunks.next())
    if (done) return
    yield value
  }
}

/** Aborts the request, and throws, when the host sends nothing for too long. */
function unlessSilent<Value>(silence: AbortController, next: Promise<Value>): Promise<Value> {
  return withTimeout(next, SILENCE_SECONDS * 1000, () => {
    const error = new Error(`git-upload-pack: the host sent nothing for ${SILENCE_SECONDS} seconds`)
    silence.abort(error)
    throw error
  })
}

/**
 * Leaves the connection to the next question: the host refuses every made-up name, and to open a connection costs more than to ask. The caller does
 * not wait for what has not arrived.
 */
async function leave(answer: IncomingMessage, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const rest = readRest(answer, chunks)
  if (answer.complete) await rest
}

/** Never throws. */
async function readRest(answer: IncomingMessage, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const tooLong = setTimeout(() => answer.destroy(), REST_MS).unref()
  try {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > REST_BYTES) break
    }
  } catch {
    // The refusal is known. All that is lost is the connection.
  } finally {
    clearTimeout(tooLong)
    answer.destroy()
  }
}

async function refusalOf({ statusCode = 0, headers }: IncomingMessage, chunks: AsyncGenerator<Buffer>): Promise<RemoteRefusal> {
  const retryAfter = headers['retry-after'] ?? null
  // GitHub repeats in this header what git would print, whatever the body is.
  const edgeMessage = headers['x-github-edge-message']
  if (typeof edgeMessage === 'string') return new RemoteRefusal(statusCode, edgeMessage.slice(0, REFUSAL_BYTES), retryAfter)
  if (!headers['content-type']?.startsWith('text/plain')) return new RemoteRefusal(statusCode, null, retryAfter)
  const { value } = await chunks.next()
  return new RemoteRefusal(statusCode, value ? value.toString('utf8', 0, REFUSAL_BYTES) : '', retryAfter)
}

/** Separates the capabilities of a command from its arguments. */
const DELIMITER = Symbol('delimiter')

/** A line of text, or the delimiter. */
type SentPacket = string | typeof DELIMITER

/** Encodes packets as git's pkt-lines, followed by a flush packet. */
function encodePackets(packets: readonly SentPacket[]): Buffer {
  const lines = packets.map(packet => {
    if (packet === DELIMITER) return '0001'
    const length = Buffer.byteLength(packet) + 5
    return `${length.toString(16).padStart(4, '0')}${packet}\n`
  })
  return Buffer.from(`${lines.join('')}0000`)
}

/** Length of the next packet in bytes; `null` for a packet that ends a section. @throws EndOfBytes, Error when no packet follows */
async function readLength(source: ByteSource): Promise<number | null> {
  const digits = Buffer.from(await source.bytes(LENGTH_DIGITS)).toString('latin1')
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new Error('git-upload-pack: the answer of the host is not in packets of git')
  const length = Number.parseInt(digits, 16)
  return length < LENGTH_DIGITS ? null : length - LENGTH_DIGITS
}

const LENGTH_DIGITS = 4

/** Text of the next packet; `null` at the end of a section. @throws EndOfBytes, RemoteRefusal for an error packet */
async function readLine(source: ByteSource): Promise<string | null> {
  const length = await readLength(source)
  if (length === null) return null
  const line = Buffer.from(await source.bytes(length))
    .toString()
    .replace(/\n$/, '')
  if (line.startsWith('ERR ')) throw RemoteRefusal.ofGit(line.slice('ERR '.length))
  return line
}

/** Longest part of a host's refusal that is read. */
const REFUSAL_BYTES = 1024
/** Longest part of a host's message that is quoted, in UTF-16 units. */
const MESSAGE_LENGTH = 500

/** The host answered with an HTTP error, with something other than a result of git, or with an error of git. */
export class RemoteRefusal extends Error {
  /** 200 for an error within a result of git. */
  readonly status: number
  /** Body of a plain-text answer, or the error of git; untrusted, at most 1 KiB. `null` for any other content type. */
  readonly text: string | null
  /** Header `retry-after`, untrusted. */
  readonly retryAfter: string | null

  constructor(status: number, text: string | null, retryAfter: string | null = null) {
    super(`git-upload-pack: the host answers ${status}${text === null ? '' : `: ${JSON.stringify(text.slice(0, 120))}`}`)
    this.name = 'RemoteRefusal'
    this.status = status
    this.text = text
    this.retryAfter = retryAfter
  }

  /** An error within a result of git: of an error packet, or of the band for errors. */
  static ofGit(text: string): RemoteRefusal {
    const refusal = new RemoteRefusal(200, text.slice(0, REFUSAL_BYTES).trim())
    refusal.message = `git-upload-pack: ${visibleLine(text.slice(0, MESSAGE_LENGTH))}`
    return refusal
  }
}

import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ByteSource } from './byte-source.ts'
import { DELIMITER, encodePackets, MESSAGE_LENGTH, readLength, readLine, type SentPacket } from './packets.ts'

/** A repository of another machine, as git reaches it. */
export interface Remote {
  /** `https`, or `http` for a host on this machine. */
  url: string
  /** Value of the header `authorization`; `null` for nobody. */
  authorization: string | null
}

export interface RemoteOptions {
  remote: Remote
  signal: AbortSignal
}

/** The host answers, and not with what git asked for. */
export class RemoteRefusal extends Error {
  readonly status: number
  /** What it says, in plain text; `null` for anything else. Untrusted, at most a KiB. */
  readonly text: string | null

  constructor(status: number, text: string | null) {
    super(`git-upload-pack: the host answers ${status}${text === null ? '' : `: ${JSON.stringify(text.slice(0, 120))}`}`)
    this.name = 'RemoteRefusal'
    this.status = status
    this.text = text
  }
}

/** The repository has more refs than the caller takes. */
export class TooManyRefs extends Error {
  constructor() {
    super('git-upload-pack: the host lists too many refs')
    this.name = 'TooManyRefs'
  }
}

/** A branch, tag or the like of another machine. */
export interface RemoteRef {
  /** `refs/heads/main` */
  name: string
  /** What it points at; of an annotated tag, what lies behind it. */
  oid: string
}

/**
 * The refs that begin so, in one request: the second version of git's protocol needs no greeting.
 *
 * @param maxBytes of the answer
 * @throws RemoteRefusal, TooManyRefs, or another Error where the host does not answer
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

/** Of what is blank, a name of git may hold everything but the space. */
const REF_LINE = /^([0-9a-f]{40}) ([^ ]+)(?:(?: [^ ]+)* peeled:([0-9a-f]{40}))?/

export interface WantedPack {
  /** Ids of objects. */
  wants: readonly string[]
  /** Ids of commits. What lies behind them is not sent. */
  haves?: readonly string[]
  /** What of the objects behind them is left out: `blob:none`, `tree:0`. */
  filter?: string
  /** Commits of a history. Default: all. */
  depth?: number
}

/** Has the host pack objects, in one request, and writes the pack. @throws RemoteRefusal, or another Error with what the host says */
export async function receivePack(
  options: RemoteOptions,
  { wants, haves = [], filter, depth }: WantedPack,
  into: Writable,
): Promise<void> {
  const lines: SentPacket[] = ['command=fetch', DELIMITER, 'ofs-delta', 'no-progress']
  if (depth !== undefined) lines.push(`deepen ${depth}`)
  if (filter !== undefined) lines.push(`filter ${filter}`)
  lines.push(...wants.map(oid => `want ${oid}`), ...haves.map(oid => `have ${oid}`), 'done')
  await ask(options, lines, async source => {
    for (let section = await readLine(source); section !== 'packfile'; section = await readLine(source)) {
      // Where the history is cut off is of no use to anyone who asks for no parents.
      if (section !== 'shallow-info') throw new Error(`git-upload-pack: ${JSON.stringify(section)} instead of a pack`)
      while ((await readLine(source)) !== null);
    }
    await pipeline(packOf(source), into)
  })
}

/** What comes over the first band; the second tells of progress. */
async function* packOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let length = await readLength(source); length !== null; length = await readLength(source)) {
    if (length === 0) continue
    const [band] = await source.bytes(1)
    if (band === BANDS.pack) yield* source.parts(length - 1)
    else {
      const text = Buffer.from(await source.bytes(length - 1)).toString()
      if (band === BANDS.fatal) throw new Error(`git-upload-pack: ${text.slice(0, MESSAGE_LENGTH).trim()}`)
    }
  }
}

const BANDS = { pack: 1, fatal: 3 }

const HEADERS = {
  // GitHub answers those who name themselves so.
  'user-agent': 'git/mountglass',
  accept: 'application/x-git-upload-pack-result',
  'content-type': 'application/x-git-upload-pack-request',
  'git-protocol': 'version=2',
}
const COMPRESSED_BYTES = 1024
/** A host that is silent for longer has been lost on the way. While it looks for objects it says so every few seconds. */
const SILENCE_MS = 20_000

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
  const answer = await unlessSilent(silence, () => {
    return post(`${remote.url}/git-upload-pack`, headers, body, either)
  })
  try {
    const chunks = chunksOf(answer, silence)
    const isResult = answer.statusCode === 200 && answer.headers['content-type']?.split(';')[0] === HEADERS.accept
    if (!isResult) throw await refusalOf(answer, chunks)
    const value = await read(new ByteSource(chunks))
    // Nothing more comes. Whoever reads to the end may use the connection again.
    await chunks.next()
    return value
  } finally {
    answer.destroy()
  }
}

/** Nobody is followed to where they like. `fetch` would do as well, and copies every piece of a pack once more. */
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
      // The host may close a connection just as it is used again; a new one is no such.
      if (sent.reusedSocket && !isAnswered && !signal.aborted) resolve(post(url, headers, body, signal))
      else reject(error)
    })
    // Where the host goes on in another protocol, nothing else is told.
    sent.once('close', () => reject(new Error('git-upload-pack: the host ends the connection')))
    sent.end(body)
  })
}

/** Time counts only while something is awaited of the host, not while what it sent is made use of. */
async function* chunksOf(answer: IncomingMessage, silence: AbortController): AsyncGenerator<Buffer> {
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const { done, value } = await unlessSilent(silence, () => chunks.next())
    if (done) return
    yield value
  }
}

async function unlessSilent<Value>(silence: AbortController, wait: () => Promise<Value>): Promise<Value> {
  const timer = setTimeout(() => silence.abort(new Error('git-upload-pack: the host is silent')), SILENCE_MS)
  try {
    return await wait()
  } finally {
    clearTimeout(timer)
  }
}

async function refusalOf({ statusCode = 0, headers }: IncomingMessage, chunks: AsyncGenerator<Buffer>): Promise<RemoteRefusal> {
  if (!headers['content-type']?.startsWith('text/plain')) return new RemoteRefusal(statusCode, null)
  const { value } = await chunks.next()
  return new RemoteRefusal(statusCode, value ? value.toString('utf8', 0, REFUSAL_BYTES) : '')
}

const REFUSAL_BYTES = 1024

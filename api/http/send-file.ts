import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteRange } from '#core/ports/raw-file.ts'
import { listsEtag } from './entity-tag.ts'

/** Bytes that are read while they are sent. */
export interface FileStream {
  sizeBytes: number
  etag: string
  /** Headers that describe the file. An error has none of them. */
  headers: Readonly<Record<string, string>>
  /** Starts to read; called only if bytes are sent. What it throws is answered as an error. */
  read(range: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

/**
 * Sends immutable bytes, with an ETag, `If-None-Match`, one byte range and, for a strong ETag, `If-Range`.
 * A request for several ranges gets the whole file, as HTTP permits.
 *
 * @throws what `file.read` throws
 */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileStream): Promise<FastifyReply> {
  const { sizeBytes, etag } = file
  const headers = { ...file.headers, etag, 'accept-ranges': 'bytes' }
  const ifRange = request.headers['if-range']
  const isSame = ifRange === undefined || (ifRange === etag && !etag.startsWith('W/'))
  const range = isSame ? parseRange(request.headers.range, sizeBytes) : 'whole'
  if (listsEtag(request.headers['if-none-match'], etag)) {
    const length = request.method === 'HEAD' ? { 'content-length': sizeBytes } : {}
    return sendNotModified(request, reply, { ...headers, ...length })
  }
  if (range === 'unsatisfiable') {
    // Not what the address has, so no cache keeps it as that.
    return reply
      .code(416)
      .headers({ 'cache-control': 'no-store', 'content-range': `bytes */${sizeBytes}` })
      .send()
  }
  const [firstByte, lastByte] = range === 'whole' ? [0, sizeBytes - 1] : range
  const bytes = request.method === 'HEAD' ? [] : await file.read({ firstByte, lastByte })
  reply.headers({ ...headers, 'content-length': lastByte - firstByte + 1 })
  if (range !== 'whole') reply.code(206).header('content-range', `bytes ${firstByte}-${lastByte}/${sizeBytes}`)
  return reply.send(Readable.from(bytes, { objectMode: false }))
}

/** The client has it already. */
export function sendNotModified(
  { method }: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string | number>>,
): FastifyReply {
  // To HEAD without a body Fastify answers a length of 0, which caches would take for the length of the file.
  return reply
    .code(304)
    .headers(headers)
    .send(method === 'HEAD' ? Readable.from([]) : undefined)
}

/** `sendFile` for bytes in memory. */
export async function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Uint8Array,
  file: Pick<FileStream, 'etag' | 'headers'>,
): Promise<FastifyReply> {
  const read = async ({ firstByte, lastByte }: ByteRange) => once(bytes.subarray(firstByte, lastByte + 1))
  return await sendFile(request, reply, { ...file, sizeBytes: bytes.length, read })
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** First and last byte of a `Range` header; `whole` when the header is absent or to be ignored. */
export function parseRange(header: string | undefined, sizeBytes: number): [number, number] | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return 'whole'
  if (from === '')
    return Number(to) === 0 || sizeBytes === 0 ? 'unsatisfiable' : [Math.max(0, sizeBytes - Number(to)), sizeBytes - 1]
  if (to !== '' && Number(to) < Number(from)) return 'whole'
  if (Number(from) >= sizeBytes) return 'unsatisfiable'
  return [Number(from), to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1)]
}

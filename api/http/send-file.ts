import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Bytes that are read while they are sent. */
export interface FileStream {
  sizeBytes: number
  /** Starts to read at the first `next()`; can be iterated once. */
  bytes: AsyncGenerator<Uint8Array>
}

/**
 * Sends immutable bytes, with a strong ETag, `If-None-Match`, one byte range and `If-Range`.
 * A request for several ranges gets the whole file, as HTTP permits.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: FileStream,
  etag: string,
): Promise<FastifyReply> {
  const { sizeBytes, bytes } = file
  reply.header('etag', etag).header('accept-ranges', 'bytes')
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, sizeBytes) : 'whole'
  const unchanged = listsEtag(request.headers['if-none-match'], etag)
  if (unchanged || range === 'unsatisfiable') {
    await bytes.return(undefined)
    if (unchanged) return reply.code(304).send()
    return reply.code(416).header('content-range', `bytes */${sizeBytes}`).send()
  }
  const [first, last] = range === 'whole' ? [0, sizeBytes - 1] : range
  if (range !== 'whole') reply.code(206).header('content-range', `bytes ${first}-${last}/${sizeBytes}`)
  reply.header('content-length', last - first + 1)
  if (request.method !== 'HEAD') return reply.send(Readable.from(cutStream(bytes, first, last), { objectMode: false }))
  await bytes.return(undefined)
  return reply.send(Readable.from([]))
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

/** The bytes from `first` to `last`; reading ends there. */
async function* cutStream(bytes: AsyncGenerator<Uint8Array>, first: number, last: number): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const chunk of bytes) {
    const piece = chunk.subarray(Math.max(0, first - at), last + 1 - at)
    at += chunk.length
    if (piece.length > 0) yield piece
    if (at > last) return
  }
}

function listsEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some(item => item.trim().replace(/^W\//, '') === etag)
}

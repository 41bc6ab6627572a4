import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Answers bytes that belong to this URL for ever: with a strong ETag, `If-None-Match`, one byte range and `If-Range`.
 * Several ranges are answered with the whole, as HTTP permits.
 */
export function sendBytes(request: FastifyRequest, reply: FastifyReply, bytes: Uint8Array, etag: string): FastifyReply {
  reply.header('etag', etag).header('accept-ranges', 'bytes')
  if (listsEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, bytes.length) : 'whole'
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes.length}`).send()
  if (range === 'whole') return reply.send(asBuffer(bytes))
  const [first, last] = range
  reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes.length}`)
  return reply.send(asBuffer(bytes.subarray(first, last + 1)))
}

/** First and last byte of a `Range` header; `whole` when there is none that counts. */
export function parseRange(header: string | undefined, sizeBytes: number): [number, number] | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return 'whole'
  if (from === '') return to === '0' || sizeBytes === 0 ? 'unsatisfiable' : [Math.max(0, sizeBytes - Number(to)), sizeBytes - 1]
  if (to !== '' && Number(to) < Number(from)) return 'whole'
  if (Number(from) >= sizeBytes) return 'unsatisfiable'
  return [Number(from), to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1)]
}

function listsEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some(item => item.trim().replace(/^W\//, '') === etag)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HostName } from './kinds.ts'
import type { RequestRecord } from './log.ts'

export interface FakeRequest {
  host: HostName
  method: string
  /** Percent-escapes as they came, without the query. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface FakeAnswer {
  status: number
  headers?: Record<string, string>
  body?: string | Uint8Array | Readable
}

const REQUEST_BYTES = 64 * 1024 * 1024

/** @throws Error when the body is larger than 64 MiB or the client went away */
export async function readRequest(host: HostName, message: IncomingMessage): Promise<FakeRequest> {
  const target = message.url ?? '/'
  const start = target.indexOf('?')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > REQUEST_BYTES) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  return {
    host,
    method: message.method ?? 'GET',
    path: start < 0 ? target : target.slice(0, start),
    query: new URLSearchParams(start < 0 ? '' : target.slice(start)),
    headers: message.headers,
    body: Buffer.concat(chunks),
  }
}

/** Sends the answer and counts its bytes before the client can see the end of them. `cutAfterBytes` breaks the connection there. */
export async function sendAnswer(
  response: ServerResponse,
  method: string,
  answer: FakeAnswer,
  record: RequestRecord,
  cutAfterBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  record.status = answer.status
  const { body = '' } = answer
  const headers = { ...answer.headers }
  if (!(body instanceof Readable) && mayHaveBody(answer.status)) headers['content-length'] = String(Buffer.byteLength(body))
  response.writeHead(answer.status, headers)
  if (method === 'HEAD' || !mayHaveBody(answer.status)) {
    if (body instanceof Readable) body.destroy()
    response.end()
    return
  }
  if (!(body instanceof Readable)) {
    const bytes = Buffer.from(body)
    const sent = bytes.subarray(0, cutAfterBytes)
    record.bytesOut += sent.length
    if (sent.length === bytes.length) response.end(bytes)
    else response.write(sent, () => response.destroy())
    return
  }
  response.flushHeaders()
  await pipeline(body, chunks => counted(chunks, record, cutAfterBytes), response, { end: false })
  if (record.bytesOut < cutAfterBytes) response.end()
  else response.destroy()
}

async function* counted(chunks: AsyncIterable<Buffer>, record: RequestRecord, limit: number): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const sent = chunk.subarray(0, limit - record.bytesOut)
    record.bytesOut += sent.length
    yield sent
    if (record.bytesOut >= limit) return
  }
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 304
}

export function textAnswer(status: number, body: string, headers: Record<string, string> = {}): FakeAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body }
}

export function pageAnswer(status: number, title: string, content: string): FakeAnswer {
  const body = `<!doctype html><meta charset="utf-8"><title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1>${content}\n`
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }, body }
}

export function redirectAnswer(location: string, status = 302): FakeAnswer {
  return { status, headers: { location, 'content-type': 'text/html;charset=utf-8', 'cache-control': 'no-cache' }, body: '' }
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** `null` when the escapes are no UTF-8. */
export function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

export function header(request: FakeRequest, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : (value?.join(', ') ?? null)
}

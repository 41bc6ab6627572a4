import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { ADDRESS_BYTES, QUERY_STRING_BYTES } from '#core/limits.ts'
import { errorBody, QUERY_REFUSED } from './error-handler.ts'
import type { ParserError, RefusedAnswers } from './http-server.ts'
import { apiHeaders, type CommonHeaders } from './response-headers.ts'

/** A host name or an IP literal, with an optional port (RFC 9110, 7.2). An empty one is allowed. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::\d*)?$/

/**
 * Refuses what HTTP demands to refuse (RFC 9112, 3.2). Nothing else depends on the header: links are made of the configured origin.
 *
 * @throws ServiceError `request.invalid` when the header `host` is missing, repeated or malformed
 */
export function refuseBadHost({ raw }: FastifyRequest): void {
  if (!hasOneHost(raw))
    throw new ServiceError('request.invalid', {
      message: 'the header host is missing, repeated or malformed; send one host name, with a port if needed',
    })
}

/** Whether a request has the header `host` that HTTP demands. */
function hasOneHost({ headers, rawHeaders, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion === '1.0'
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 && HOST.test(headers.host)
}

/** Refuses bodies that are compressed (RFC 9110, 15.5.16): they would be taken for malformed ones. They are small, so there is nothing to gain. */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', ({ headers }, reply, _payload, done) => {
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (encoding === '' || encoding === 'identity' || !hasBody(headers)) {
      done()
      return
    }
    reply.header('accept-encoding', 'identity')
    done(new ServiceError('request.encoded'))
  })
}

function hasBody(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['transfer-encoding'] !== undefined || !['0', undefined].includes(headers['content-length'] as string | undefined)
}

/** Which methods the routes of a service have. */
export interface RouteMethods {
  /** The methods of the route with this path, as the router has it; `[]` when there is none. */
  of(path: string): string[]
  /** The same for a raw request target. */
  ofTarget(target: string): string[]
}

/** Path prefix of the interface. */
export const API = '/api/v1'

export function isApiPath(url: string | undefined): boolean {
  return url !== undefined && (url === API || url.startsWith(`${API}/`))
}

/** Collects the methods of the routes that are registered afterwards. The router itself parses a path as a pattern, and throws for some. */
export function collectMethods(app: FastifyInstance): RouteMethods {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set<string>()
    methods.set(url, known)
    for (const one of [method].flat()) known.add(one)
  })
  const of = (path: string) => {
    const known = methods.get(path) ?? []
    return [...known, ...(methods.has(path) && isApiPath(path) ? ['OPTIONS'] : [])].sort()
  }
  return { of, ofTarget: target => of(pathOf(app.rawPrefixes.rewriteUrl({ url: target } as IncomingMessage))) }
}

/**
 * Refuses a request without a route, before its body is read. A path that no route has, asked with GET or HEAD, is left to the not-found page
 * outside of the interface.
 *
 * @throws ServiceError `request.method_not_allowed`, with the header `allow`, when the path is a route of another method; else `request.not_found`
 */
export function refuseUnknownRoute(methods: RouteMethods, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return
  const allowed = methods.of(pathOf(request.url))
  if (allowed.length > 0) {
    reply.header('allow', allowed.join(', '))
    throw new ServiceError('request.method_not_allowed')
  }
  if (isApiPath(request.url) || !['GET', 'HEAD'].includes(request.method)) throw new ServiceError('request.not_found')
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/**
 * Answers for what Node refuses before there is a request, with the headers and the body of every other error.
 *
 * @param methodsOf the methods of the route that a request target leads to
 */
export function createRefusedAnswers(methodsOf: (target: string) => string[], common: CommonHeaders): RefusedAnswers {
  const format = (error: ServiceError, more: Record<string, string>) => formatAnswer(error, common, more)
  const notAllowed = (methods: readonly string[]) =>
    format(new ServiceError('request.method_not_allowed'), { allow: methods.join(', ') })
  return {
    toConnect: () => notAllowed(READING),
    toBytes(error) {
      const packet = Buffer.from(error.rawPacket ?? []).toString('latin1')
      const target = REQUEST_LINE.exec(packet)?.[1]
      if (error.code !== 'HPE_INVALID_METHOD' || target === undefined) return format(refusalOf(error, packet), {})
      const methods = methodsOf(target)
      return methods.length === 0 ? format(new ServiceError('request.not_found'), {}) : notAllowed(methods)
    },
  }
}

const READING = ['GET', 'HEAD', 'OPTIONS']
/** A request line, its target whole. The method is none that Node knows. */
const REQUEST_LINE = /^[!-~]+ ([!-~]+) HTTP\/1\.[01]\r?\n/

function refusalOf({ code }: ParserError, packet: string): ServiceError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError('request.timeout')
    case 'HPE_HEADER_OVERFLOW':
      if (!isInTarget(packet)) return new ServiceError('request.headers_too_large')
      return isInQuery(packet)
        ? new ServiceError('request.invalid', { message: QUERY_REFUSED })
        : new ServiceError('address.too_long')
    default:
      return new ServiceError('request.invalid', { message: 'this is not a well-formed HTTP request; check its bytes' })
  }
}

/** Whether the bytes that exceed the bound of headers belong to the request target. */
function isInTarget(packet: string): boolean {
  const target = /^[A-Z]+ (\S+)/.exec(packet)?.[1]
  // The continuation of a target has no white space; that of headers has a line break at least.
  return target === undefined ? !/\s/.test(packet) : target.length > ADDRESS_BYTES + QUERY_STRING_BYTES
}

/** Whether the target is too long for its query alone. Of a target that came in pieces, the beginning may be unknown; it counts as an address. */
function isInQuery(packet: string): boolean {
  const path = /^[A-Z]+ ([^\s?]+)\?/.exec(packet)?.[1]
  return path !== undefined && path.length <= ADDRESS_BYTES
}

function formatAnswer(error: ServiceError, common: CommonHeaders, more: Record<string, string>): string {
  const body = JSON.stringify(errorBody(error))
  const headers = {
    'x-request-id': randomUUID(),
    ...apiHeaders(common),
    ...more,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

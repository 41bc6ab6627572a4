import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { ServiceError } from '#core/errors.ts'
import { ADDRESS_BYTES, QUERY_STRING_BYTES } from '#core/limits.ts'
import { errorBody } from './error-handler.ts'
import type { ParserError, RefusedAnswers } from './http-server.ts'
import { QUERY_REFUSED } from './invalid-request.ts'
import { apiHeaders, type CommonHeaders } from './response-headers.ts'

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

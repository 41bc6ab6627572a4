import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'

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

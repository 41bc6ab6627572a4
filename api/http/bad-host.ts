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
  const hosts = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  const isMissing = raw.headers.host === undefined && raw.httpVersion !== '1.0'
  if (isMissing || hosts > 1 || !HOST.test(raw.headers.host ?? ''))
    throw new ServiceError('request.invalid', {
      message: 'the header host is missing, repeated or malformed; send one host name, with a port if needed',
    })
}

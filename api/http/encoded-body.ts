import type { FastifyInstance } from 'fastify'
import { ServiceError } from '#core/errors.ts'

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

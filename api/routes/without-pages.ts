import type { FastifyInstance } from 'fastify'
import { HOST_NAMES } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import { subjectParsers } from '../http/endpoint.ts'
import { answerError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'

/**
 * What a service without pages answers where the pages would be: a malformed address or account is 400 as on its page, and everything else is
 * 404 `request.not_found`.
 */
export function registerWithoutPages(app: FastifyInstance, deps: Pick<Deps, 'hosts'>): void {
  const { address, owner } = subjectParsers(deps)
  for (const host of Object.keys(HOST_NAMES)) refuseBelow(app, declarePrefix(app, `/${host}`, { isPartOfAddress: true }), address)
  const owners = declarePrefix(app, '/owners', { isBareAllowed: true })
  if (deps.hosts.some(host => host.accounts)) refuseBelow(app, owners, owner)
  app.setNotFoundHandler((request, reply) => answerError(new ServiceError('request.not_found'), request, reply))
}

function refuseBelow(app: FastifyInstance, path: string, parse: (raw: string) => unknown): void {
  app.get(path, { schema: { hide: true } }, async ({ rawAddress }) => {
    if (rawAddress !== null) parse(rawAddress)
    throw new ServiceError('request.not_found')
  })
}

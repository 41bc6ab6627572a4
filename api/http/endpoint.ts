import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Address, parseAddress } from '#core/address.ts'
import { type AnswerOf, ENDPOINTS, type EndpointName, type QueryOf } from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { ERROR_STATUS, type ErrorCode, ServiceError } from '#core/errors.ts'
import { ANY_ADDRESS } from './raw-target.ts'

/** The use case behind every endpoint of the contract. */
export type Handlers = {
  [Name in EndpointName]: (address: Address, query: QueryOf<Name>) => Promise<AnswerOf<Name>>
}

/** Registers the endpoints of the contract: parse the address, check the query, answer, serialise by the schema. */
export function registerEndpoints(app: FastifyInstance, hosts: readonly string[], handlers: Handlers): void {
  for (const name of Object.keys(ENDPOINTS) as EndpointName[]) registerEndpoint(app, hosts, name, handlers[name])
}

function registerEndpoint<Name extends EndpointName>(
  app: FastifyInstance,
  hosts: readonly string[],
  name: Name,
  handle: Handlers[Name],
): void {
  const { path, summary, query, answer, errors } = ENDPOINTS[name]
  // An address that does not parse is the first thing to be told, so it is parsed before the query is checked.
  const addresses = new WeakMap<FastifyRequest, Address>()
  app.get(path.replace('{address}', ANY_ADDRESS), {
    schema: { operationId: name, summary, querystring: query, response: { 200: success(answer), ...failures(errors) } },
    preValidation: async request => {
      // Another spelling of the route's own path (`/%61pi/…`) leads here without an address.
      if (request.rawAddress === null) throw new ServiceError('request.not_found')
      addresses.set(request, parseAddress(request.rawAddress, hosts))
    },
    handler: async request => {
      const address = addresses.get(request)
      if (!address) throw new TypeError('the address was not parsed')
      return await handle(address, request.query as QueryOf<Name>)
    },
  })
}

function success(schema: z.ZodType) {
  return { description: 'The answer.', content: { 'application/json': { schema } } }
}

/** One response a status, with the codes that it may carry. */
function failures(errors: readonly ErrorCode[]) {
  const responses = [...codesByStatus(errors)].map(([status, codes]) => {
    return [
      status,
      { description: codes.map(code => `\`${code}\``).join(', '), content: { 'application/json': { schema: ErrorAnswer } } },
    ]
  })
  return Object.fromEntries(responses)
}

/** The codes that an endpoint answers, its own and that of a fault of ours, by their HTTP status in rising order. */
export function codesByStatus(errors: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const codes: ErrorCode[] = [...errors, 'service.internal']
  codes.sort((left, right) => ERROR_STATUS[left] - ERROR_STATUS[right])
  return Map.groupBy(codes, code => ERROR_STATUS[code])
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Address, OwnerName } from '#core/address.ts'
import {
  type AnswerOf,
  ENDPOINTS,
  type EndpointName,
  type EndpointSubject,
  type QueryOf,
  type SubjectOf,
} from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { ERROR_STATUS, type ErrorCode, ServiceError } from '#core/errors.ts'
import { routeOf } from './raw-target.ts'

/** What the path of an endpoint names, parsed. */
interface Subjects {
  address: Address
  owner: OwnerName
  none: null
}

/** The use case behind every endpoint of the contract; `null`: this deployment has no such endpoint. */
export type Handlers = {
  [Name in EndpointName]: ((subject: Subjects[SubjectOf<Name>], query: QueryOf<Name>) => Promise<AnswerOf<Name>>) | null
}

/** How a raw path names a subject. @throws ServiceError */
export type SubjectParsers = { [Subject in EndpointSubject]: (raw: string) => Subjects[Subject] }

/** Registers the endpoints of the contract: parse the path, check the query, answer, serialise by the schema. */
export function registerEndpoints(app: FastifyInstance, parsers: SubjectParsers, handlers: Handlers): void {
  for (const name of Object.keys(ENDPOINTS) as EndpointName[]) registerEndpoint(app, parsers, name, handlers[name])
}

function registerEndpoint<Name extends EndpointName>(
  app: FastifyInstance,
  parsers: SubjectParsers,
  name: Name,
  handle: Handlers[Name],
): void {
  if (handle === null) return
  const { summary, query, answer, errors, subject } = ENDPOINTS[name]
  // An address that does not parse is the first thing to be told, so it is parsed before the query is checked.
  const subjects = new WeakMap<FastifyRequest, { value: Subjects[SubjectOf<Name>] }>()
  app.get(routeOf(ENDPOINTS[name]), {
    schema: { operationId: name, summary, querystring: query, response: { 200: success(answer), ...failures(errors) } },
    preValidation: async request => {
      // Another spelling of the route's own path (`/%61pi/…`) leads here without an address.
      if (request.rawAddress === null && subject !== 'none') throw new ServiceError('request.not_found')
      subjects.set(request, { value: parsers[subject](request.rawAddress ?? '') as Subjects[SubjectOf<Name>] })
    },
    handler: async request => {
      const parsed = subjects.get(request)
      if (!parsed) throw new TypeError('the path was not parsed')
      return await handle(parsed.value, request.query as QueryOf<Name>)
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

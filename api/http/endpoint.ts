import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { createSerializerCompiler } from 'fastify-zod-openapi'
import type { z } from 'zod'
import { type Address, type OwnerName, parseAddress, parseOwner } from '#core/address.ts'
import {
  type AnswerOf,
  type BodyOf,
  COMMON_ERRORS,
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  type EndpointSubject,
  type QueryOf,
  type SubjectOf,
} from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { ERROR_STATUS, type ErrorCode, ServiceError } from '#core/errors.ts'
import { INDEXING_RETRY_SECONDS } from '#core/limits.ts'
import type { Deps } from '../deps.ts'
import type { RequestOrigin } from '../people/audit.ts'
import type { Viewer } from '../people/viewer.ts'
import { type Admission, admit, originOf } from './admit.ts'
import { type AnswerSource, type EntityTags, NotModified } from './entity-tag.ts'
import { answerError, isInvalidBody } from './error-handler.ts'
import { ANY_ADDRESS, declarePrefix, routeOf } from './raw-target.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the path of an endpoint names, parsed. Set before the handler of the endpoint runs. */
    subject: unknown
    /** Who sends the request. */
    viewer: Viewer
  }
}

/** What the path of an endpoint names, parsed. */
interface Subjects {
  address: Address
  owner: OwnerName
  /** As it is spelled in the path. */
  kind: string
  id: string
  none: null
}

/** One request to an endpoint, with every part checked by its contract. */
export interface Call<Name extends EndpointName> {
  subject: Subjects[SubjectOf<Name>]
  query: QueryOf<Name>
  body: BodyOf<Name>
  viewer: Viewer
  /** Absent where no request of the interface is answered: a tool, for example. */
  origin?: RequestOrigin
  /** Bytes of a page of a skill, for tools that bound their text. Default: `SKILL_PAGE_BYTES`. */
  pageBytes?: number
  /** Aborted when the client goes away. What is opened for the answer is not read then. */
  signal?: AbortSignal
  /** Told what the answer is made of before any of it is read. May throw, if nothing needs to be read. */
  onSource?: (source: AnswerSource) => void
}

/** The use case of every endpoint of the contract; `null` where this deployment lacks the endpoint. */
export type Handlers = { [Name in EndpointName]: ((call: Call<Name>) => Promise<AnswerOf<Name>>) | null }

/** How a raw path names a subject. @throws ServiceError */
type SubjectParsers = { [Subject in EndpointSubject]: (raw: string) => Subjects[Subject] }

/** What all endpoints share. */
interface Shared {
  parsers: SubjectParsers
  admission: Admission
  tags: EntityTags
}

/** Registers the endpoints of the contract: parse the path, check guard, query and body, answer, serialise by the schema. */
export function registerEndpoints(
  app: FastifyInstance,
  parsers: SubjectParsers,
  admission: Admission,
  tags: EntityTags,
  handlers: Handlers,
): void {
  app.decorateRequest('subject', null)
  app.decorateRequest('tagged', null)
  for (const name of Object.keys(ENDPOINTS) as EndpointName[])
    registerEndpoint(app, { parsers, admission, tags }, name, handlers[name])
}

function registerEndpoint<Name extends EndpointName>(
  app: FastifyInstance,
  { parsers, admission, tags }: Shared,
  name: Name,
  handle: Handlers[Name],
): void {
  const endpoint = ENDPOINTS[name]
  const { method, subject, summary, query, answer, errors, status } = endpoint
  const { body, invalidBody } = endpoint as Endpoint
  const url = routeOf(endpoint)
  // Declared even if the deployment lacks the endpoint, so that every spelling of its paths is 404 and not a malformed URL.
  if (subject !== 'none') declarePrefix(app, url.slice(0, -`/${ANY_ADDRESS}`.length), { isBareAllowed: subject === 'owner' })
  if (handle === null) return
  app.route({
    method,
    url,
    schema: {
      operationId: name,
      summary,
      querystring: query,
      ...(body === null ? {} : { body }),
      response: { [status]: success(status, answer), ...failures(errors) },
    },
    errorHandler: (error, request, reply) =>
      answerError(invalidBody && isInvalidBody(error) ? new ServiceError(invalidBody, { cause: error }) : error, request, reply),
    // Before body and query are read: a malformed address is reported first, and a refused viewer learns nothing else.
    onRequest: async request => {
      // The path `/<prefix>/~` itself, spelled with an escape, has no address.
      if (request.rawAddress === null && subject !== 'none') throw new ServiceError('request.not_found')
      request.subject = parsers[subject](request.rawAddress ?? '')
      request.viewer = await admit(admission, request, endpoint)
    },
    handler: async (request, reply) => {
      const { subject, query, viewer } = request
      const onSource = (source: AnswerSource) => tags.expect(request, name, source)
      const call = { subject, query, body: request.body ?? null, viewer, origin: originOf(request), onSource } as Call<Name>
      try {
        const answered = await handle(call)
        if (isIndexing(answered)) reply.header('retry-after', INDEXING_RETRY_SECONDS)
        const bearsTag = endpoint.subject === 'address' && isReady(answered)
        request.tagged = bearsTag ? { name, source: request.tagged?.source ?? null } : null
        if (status === 204) return reply.code(204).send()
        request.raw.answer = answered
        return reply.code(status).send(answered)
      } catch (error) {
        request.tagged = null
        if (!(error instanceof NotModified)) throw error
        return reply.code(304).header('etag', error.etag).send()
      }
    },
    onSend: (request, reply, payload, done) => {
      const { tagged } = request
      const isSerialised = typeof payload === 'string' || payload instanceof Uint8Array
      done(null, tagged !== null && isSerialised ? tags.tag(request, tagged, reply, payload) : payload)
    },
  })
}

/** Whether the answer, or the mount in it, waits for the index. */
function isIndexing(answer: AnswerOf<EndpointName>): boolean {
  if (answer === null) return false
  if ('status' in answer) return answer.status === 'indexing'
  return 'index' in answer && answer.index.status === 'indexing'
}

/** Whether the answer is one of contents, and not of the state of the index. */
function isReady(answer: AnswerOf<EndpointName>): boolean {
  if (answer === null) return false
  if ('status' in answer) return answer.status === 'ready'
  return !('index' in answer) || answer.index.status === 'ready'
}

function success(status: number, schema: z.ZodType) {
  return status === 204 ? { description: 'Done.' } : { description: 'The answer.', content: { 'application/json': { schema } } }
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

/** The codes that an endpoint answers, `COMMON_ERRORS` included, by their HTTP status in rising order. @param errors of the endpoint alone */
export function codesByStatus(errors: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const codes: ErrorCode[] = [...errors, ...COMMON_ERRORS]
  codes.sort((left, right) => ERROR_STATUS[left] - ERROR_STATUS[right])
  return Map.groupBy(codes, code => ERROR_STATUS[code])
}

const compile = createSerializerCompiler({ stringify: JSON.stringify })

/** Serialises answers by their schema, as JSON. The bytes of a frozen answer are memoized for as long as the answer lives. */
export const serializerCompiler: FastifySerializerCompiler<unknown> = route => {
  const serialize = compile(route as Parameters<typeof compile>[0])
  const kept = new WeakMap<object, Buffer>()
  return answer => {
    if (!Object.isFrozen(answer)) return serialize(answer)
    const bytes = kept.get(answer) ?? Buffer.from(serialize(answer))
    kept.set(answer, bytes)
    // Fastify sends bytes as well as text; its types only know text.
    return bytes as unknown as string
  }
}

/** Reads the addresses and accounts of the hosts of this deployment. */
export function subjectParsers({ hosts }: Pick<Deps, 'hosts'>): SubjectParsers {
  const segments = hosts.map(host => host.segment)
  const listing = hosts.filter(host => host.accounts).map(host => host.segment)
  return {
    address: raw => parseAddress(raw, segments),
    owner: raw => parseOwner(raw, listing),
    kind: raw => raw,
    id: raw => raw,
    none: () => null,
  }
}

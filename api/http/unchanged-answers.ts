import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { endOfTurn } from '#core/concurrency/end-of-turn.ts'
import type { EndpointName } from '#core/contract/endpoints.ts'
import { memoryOf } from '#core/memory.ts'
import { ANONYMOUS } from '../people/viewer.ts'
import { hasOneHost } from './bad-host.ts'
import type { Call, Handlers } from './endpoint.ts'
import { type AnswerSource, listsEtag, sourceOf, type TaggedAnswer, type TagsOfAnswers } from './entity-tag.ts'

/** A request that was answered whole, to everybody alike. */
interface KnownRequest {
  url: string
  name: EndpointName
  subject: unknown
  query: unknown
  /** The pattern of its route. */
  route: string
  etag: string
  /** What the answer was made of; `null` where only the answer tells, which is memoized. */
  source: string | null
  /** Requests that wait for the next look, which serves all of them. */
  waiting: Waiting[]
}

interface Waiting {
  request: IncomingMessage
  response: ServerResponse
}

/** What remains to be done when such a request was answered: it is logged and counted as every other. */
export type NoteUnchanged = (request: {
  id: string
  method: string
  originalUrl: string
  route: string
  /** From the first request of the turn until all of them are answered: reading the clock for each would take time itself. */
  elapsedMs: number
}) => void

interface UnchangedOptions {
  tags: TagsOfAnswers
  /** A new id of a request. */
  createId: () => string
  /** Headers of every answer of the interface. */
  headers: Readonly<Record<string, string>>
}

/** Memory of the known requests. */
const KNOWN_BYTES = 8 * 1024 * 1024
const ENTRY_BYTES = 400

/** Thrown to end a handler before it reads anything. It is no `Error`, because recording a stack would take longer than the rest. */
const ENDED = Symbol('all is known')

/**
 * Answers 304 before the router and the hooks: they take longer than to find out that nothing changed. Known are URLs that were answered whole to
 * a request without credentials. The handler of the endpoint runs, once for all requests of a turn, as for an answer that is sent whole, up to where its
 * first read of the snapshot would begin: visibility, the operator's rules and the commit are decided by the same code. If it finds anything else
 * than an unchanged answer, the requests take the usual way.
 */
export class UnchangedAnswers {
  readonly #options: UnchangedOptions
  readonly #known = new LRUCache<string, KnownRequest>({
    maxSize: KNOWN_BYTES,
    sizeCalculation: (known, url) => ENTRY_BYTES + 2 * url.length + memoryOf(known),
  })
  #handlers: Partial<Handlers> | null = null
  #note: NoteUnchanged = () => {}
  /** Names and values in turn: an object of them for each answer would take as long as to write them. */
  readonly #headers: readonly string[]

  constructor(options: UnchangedOptions) {
    this.#options = options
    this.#headers = Object.entries(options.headers).flat()
  }

  /** Begins to answer. @param note called for each answer */
  open(handlers: Partial<Handlers>, note: NoteUnchanged): void {
    this.#handlers = handlers
    this.#note = note
  }

  /** From now on all requests take the usual way, which tells clients that their connection closes. */
  close(): void {
    this.#handlers = null
  }

  /** Notes an answer that was sent whole. */
  learn(request: FastifyRequest, { name, source, memoized }: TaggedAnswer, etag: string): void {
    const { method, originalUrl, subject, query, routeOptions, viewer, raw } = request
    // Whether another answer is unchanged shows only when it is computed and serialized again.
    if (source === null && memoized === null) return
    if (method !== 'GET' || viewer !== ANONYMOUS || !isPlain(raw)) return
    this.#known.set(originalUrl, {
      url: originalUrl,
      name,
      subject,
      query,
      route: routeOptions.url ?? '',
      etag,
      source,
      waiting: [],
    })
  }

  /** A listener that answers 304 where the client has the current answer, and passes every other request to `listener`. */
  before(listener: RequestListener): RequestListener {
    return (request, response) => {
      const ifNoneMatch = request.headers['if-none-match']
      const known = ifNoneMatch === undefined ? undefined : this.#find(request, ifNoneMatch)
      if (known === undefined) listener(request, response)
      else if (known.waiting.push({ request, response }) === 1) void this.#answer(known, listener)
    }
  }

  #find(request: IncomingMessage, ifNoneMatch: string): KnownRequest | undefined {
    if (request.method !== 'GET' || this.#handlers === null || !isPlain(request)) return undefined
    const known = this.#known.get(request.url ?? '')
    return known && listsEtag(ifNoneMatch, known.etag) && hasOneHost(request) ? known : undefined
  }

  /** One look serves all requests of this turn of the event loop, since it begins when all of them have arrived. */
  async #answer(known: KnownRequest, listener: RequestListener): Promise<void> {
    const startedAt = performance.now()
    await endOfTurn()
    const waiting = known.waiting
    known.waiting = []
    if (await this.#isUnchanged(known).catch(() => false)) {
      const ids = waiting.map(({ response }) => this.#send(response, known.etag))
      const elapsedMs = performance.now() - startedAt
      for (const id of ids) this.#note({ id, method: 'GET', originalUrl: known.url, route: known.route, elapsedMs })
      return
    }
    // Another answer may have been learned meanwhile.
    if (this.#known.peek(known.url) === known) this.#known.delete(known.url)
    for (const { request, response } of waiting) listener(request, response)
  }

  /** @returns the id of the request */
  #send(response: ServerResponse, etag: string): string {
    const id = this.#options.createId()
    response.writeHead(304, ['x-request-id', id, ...this.#headers, 'etag', etag]).end()
    return id
  }

  /** Whether an anonymous viewer is answered the same now. @throws what the handler throws */
  async #isUnchanged({ name, subject, query, source, etag }: KnownRequest): Promise<boolean> {
    const handle = this.#handlers?.[name] as ((call: Call<EndpointName>) => Promise<object>) | null | undefined
    if (!handle) return false
    let isSame = false
    const onSource = (now: AnswerSource) => {
      isSame = sourceOf(now) === source
      throw ENDED
    }
    const call = { subject, query, body: null, viewer: ANONYMOUS, ...(source === null ? {} : { onSource }) } as Call<EndpointName>
    try {
      return this.#options.tags.ofAnswer(await handle(call)) === etag
    } catch (error) {
      if (error === ENDED) return isSame
      throw error
    }
  }
}

/** Whether the request has no credentials, no body and no upgrade, so that its answer is the same for every client. */
function isPlain({ headers }: IncomingMessage): boolean {
  return (
    headers.authorization === undefined &&
    headers.cookie === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined
  )
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { type NodeIncomingMessageLike, toWebRequest } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Address, parseAddress } from '#core/address.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import type { Deps } from '../deps.ts'
import { loggedError } from '../http/error-handler.ts'
import type { ToolHandlers } from './call-tool.ts'
import { introduce } from './instructions.ts'
import { createServer, type ServerOptions } from './server.ts'
import { createSkillSource, type SkillSourceOptions } from './skill-source.ts'

export interface McpServiceOptions {
  deps: Deps
  handlers: ToolHandlers
  /** Host segments of this deployment. */
  hosts: readonly string[]
  /** Public origin. */
  baseUrl: string
  /** Bound of the text of a result. */
  maxBytes: number
}

/** Answers single messages; keeps nothing between two of them. */
export interface McpService {
  /** @param rawAddress percent-encoded; empty for the server without an address. @throws ServiceError of the address */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    rawAddress: string,
    message: Readonly<Record<string, unknown>>,
  ): Promise<FastifyReply>
  close(): Promise<void>
}

/** Codes that say something of the address as a whole, before any tool is called. */
const OF_ADDRESS: ReadonlySet<ErrorCode> = new Set([
  'mount.repo_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
])

/** What the SDK's handler does not pass on to the server that it has made for a request. */
interface Served extends ServerOptions {
  request: FastifyRequest
}

export function createMcpService({ deps, handlers, hosts, baseUrl, maxBytes }: McpServiceOptions): McpService {
  const served = new AsyncLocalStorage<Served>()
  const handler = createMcpHandler(() => {
    const { request, ...options } = served.getStore() as Served
    const toServiceError = (thrown: unknown) => loggedError(thrown, request)
    const openSkills = (of: SkillSourceOptions) => createSkillSource(deps, of)
    const named = (text: string) => readAddress(text, hosts, baseUrl)
    return createServer({ handlers, maxBytes, toServiceError, openSkills, readAddress: named }, options)
  })
  return {
    async answer(request, reply, rawAddress, message) {
      const { viewer } = request
      const address = rawAddress === '' ? null : parseAddress(rawAddress, hosts)
      const introduction = await introduce(handlers, address, viewer, message).catch(error => {
        // What else is wrong with the address, the tools say to the model.
        if (error instanceof ServiceError && !OF_ADDRESS.has(error.code)) return { address: null, instructions: '' }
        throw error
      })
      const canonical = introduction.address === null ? address : parseAddress(introduction.address, hosts)
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const asked = await toWebRequest(request.raw as NodeIncomingMessageLike, message, { signal: left.signal })
      const options = { request, viewer, address: canonical, instructions: introduction.instructions }
      const answer = await served.run(options, () => handler.fetch(asked, { parsedBody: message }))
      return await send(reply, answer)
    },
    close: () => handler.close(),
  }
}

/** Passes the answer of the SDK on, with the headers of this service. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status)
  for (const [name, value] of answer.headers) if (name !== 'content-length') reply.header(name, value)
  if (answer.body === null) return reply.send(null)
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  return reply.send(isStream ? Readable.fromWeb(answer.body as ReadableStream) : Buffer.from(await answer.arrayBuffer()))
}

/** The repository that an argument names. @throws ServiceError `address.*` */
function readAddress(text: string, hosts: readonly string[], baseUrl: string): Address {
  const typed = readTypedAddress(text, { hosts, baseUrl })
  if (typed.kind === 'address') return typed.address
  const message = typed.kind === 'owner' ? 'names an account; name one of its repositories' : typed.message
  throw new ServiceError((typed.kind === 'unreadable' ? (typed.code as ErrorCode | null) : null) ?? 'address.incomplete', {
    message,
  })
}

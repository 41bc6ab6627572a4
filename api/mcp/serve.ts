import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { parsePreferences, weightOfType } from '#core/accept.ts'
import { type Address, parseAddress } from '#core/address.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { memoryOfEntry } from '#core/memory.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import type { Deps } from '../deps.ts'
import { loggedError } from '../http/error-handler.ts'
import type { Viewer } from '../people/viewer.ts'
import { isSourceServed } from '../reading/file-page.ts'
import type { ToolHandlers } from './call-tool.ts'
import { introduce } from './instructions.ts'
import type { Message } from './messages.ts'
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
  answer(request: FastifyRequest, reply: FastifyReply, rawAddress: string, message: Message): Promise<FastifyReply>
  close(): Promise<void>
}

/** Codes that say something of the address as a whole, or of the client, before any tool is called. */
const OF_ADDRESS: ReadonlySet<ErrorCode> = new Set([
  'auth.required',
  'auth.unavailable',
  'mount.repo_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
])

/** Methods that need nothing of the skills extension. */
const TOOL_METHODS = new Set(['tools/list', 'tools/call'])

/** What the SDK's handler does not pass on to the server that it has made for a request. */
interface Served extends ServerOptions {
  request: FastifyRequest
  /** Set when a tool call is refused the whole address. Then the HTTP answer is this error instead of the tool's result. */
  refusal: ServiceError | null
}

/** Memory for the addresses whose spelling at the host is known from a call of the last minute: an address may be long. */
const KNOWN_BYTES = 1024 * 1024
const KNOWN_MS = 60_000

export function createMcpService({ deps, handlers, hosts, baseUrl, maxBytes }: McpServiceOptions): McpService {
  const served = new AsyncLocalStorage<Served>()
  const known = new LRUCache<string, Address>({ maxSize: KNOWN_BYTES, sizeCalculation: memoryOfEntry, ttl: KNOWN_MS })
  const handler = createMcpHandler(() => {
    const options = served.getStore() as Served
    const toServiceError = (thrown: unknown) => {
      const error = loggedError(thrown, options.request)
      if (options.address !== null && isRefusal(error, options.viewer)) options.refusal = error
      return error
    }
    const openSkills = (of: SkillSourceOptions) => createSkillSource(deps, of)
    const named = (text: string) => readAddress(text, hosts, baseUrl)
    const parts = {
      handlers,
      maxBytes,
      toServiceError,
      openSkills,
      readAddress: named,
      isSourceServed: (address: Address) => isSourceServed(deps, address),
    }
    return createServer(parts, options)
  })

  async function optionsOf(request: FastifyRequest, rawAddress: string, message: Message): Promise<Served> {
    const { viewer } = request
    const withSkills = !TOOL_METHODS.has(String(message.method))
    const common = { request, viewer, withSkills, refusal: null }
    // A tool opens the address itself, so all it needs here is the canonical spelling. Only those that anonymous clients
    // may read are kept, so that no client gets that of a private repository.
    const isShared = viewer.kind === 'anonymous'
    const before = isShared && message.method === 'tools/call' ? known.get(rawAddress) : undefined
    if (before) return { ...common, address: before, instructions: '' }
    const address = rawAddress === '' ? null : parseAddress(rawAddress, hosts)
    const introduction = await introduce(handlers, address, viewer, message).catch(error => {
      // What else is wrong with the address, the tools say to the model.
      if (error instanceof ServiceError && !isRefusal(error, viewer)) return { address: null, instructions: '' }
      throw error
    })
    const { instructions } = introduction
    if (introduction.address === null) return { ...common, address, instructions }
    const spelled = parseAddress(introduction.address, hosts)
    if (isShared) known.set(rawAddress, spelled)
    return { ...common, address: spelled, instructions }
  }

  return {
    async answer(request, reply, rawAddress, message) {
      const left = new AbortController()
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) left.abort()
      })
      const options = await optionsOf(request, rawAddress, message)
      const asked = new Request(ANY_URL, { method: 'POST', headers: protocolHeaders(request), signal: left.signal })
      const answer = await served.run(options, () => handler.fetch(asked, { parsedBody: message }))
      if (options.refusal === null) return await send(reply, answer)
      known.delete(rawAddress)
      throw options.refusal
    },
    close: () => handler.close(),
  }
}

/**
 * Whether the error answers the whole request. A good token whose repository is not shown to its person any more is told so by the tools: a
 * refusal would have its client sign in again and again.
 */
function isRefusal({ code }: ServiceError, viewer: Viewer): boolean {
  return OF_ADDRESS.has(code) && !(code === 'mount.repo_not_found' && viewer.kind === 'token')
}

/** What the SDK reads of a request besides its message, which it gets parsed: the headers of the protocol. */
function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  const names = Object.keys(headers).filter(name => READ_HEADERS.has(name) || name.startsWith('mcp-'))
  const read = Object.fromEntries(names.map(name => [name, String(headers[name])]))
  return { ...read, accept: acceptedTypes(headers.accept ?? '') }
}

/** The SDK looks for both types by their names, so a range that accepts one is spelled out. */
function acceptedTypes(header: string): string {
  const preferences = parsePreferences(header)
  return ANSWER_TYPES.filter(type => weightOfType(preferences, type) > 0).join(', ')
}

const ANSWER_TYPES = ['application/json', 'text/event-stream']

const READ_HEADERS: ReadonlySet<string> = new Set(['content-type', 'last-event-id'])
/** A `Request` needs a URL. The SDK does not read it. */
const ANY_URL = 'http://localhost/mcp'

/** Headers that the HTTP server sets, which knows the connection: the SDK says `keep-alive` to a client that closes it. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['content-length', 'connection', 'keep-alive', 'transfer-encoding'])

/** Passes the answer of the SDK on, with the headers of this service. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status)
  for (const [name, value] of answer.headers) if (!OF_CONNECTION.has(name)) reply.header(name, value)
  if (answer.body === null) return reply.send()
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  return reply.send(isStream ? Readable.fromWeb(answer.body as ReadableStream) : await answer.text())
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

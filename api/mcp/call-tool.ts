import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { type Address, formatAddress } from '#core/address.ts'
import { type AnswerOf, ENDPOINTS } from '#core/contract/endpoints.ts'
import { ServiceError } from '#core/errors.ts'
import { SKILL_PAGE_BYTES } from '#core/limits.ts'
import { utf8Length } from '#core/text.ts'
import type { Handlers } from '../http/endpoint.ts'
import { errorBody, explainArguments } from '../http/error-handler.ts'
import type { Viewer } from '../people/viewer.ts'
import { errorText } from './answer-text.ts'
import type { ToolDefinition, ToolEndpoint } from './tools.ts'

/** The use cases behind the tools: those of the REST interface. */
export type ToolHandlers = { [Name in ToolEndpoint | 'mounts']: NonNullable<Handlers[Name]> }

export interface ToolCall {
  tool: ToolDefinition
  /** As the client sent them, without the address. */
  arguments: Readonly<Record<string, unknown>>
  /** All that the client sent, to be repeated by the call that the text proposes. */
  repeated: Readonly<Record<string, unknown>>
  /** In the host's spelling. */
  address: Address
  viewer: Viewer
  /** The address is a working folder, as it is now. */
  isWorkingFolder?: boolean
  /** Default: `true`. */
  isSourceServed?: boolean
  /** Bound of the text. */
  maxBytes: number
  /** Aborted when the client goes away: the work ends at its next step. */
  signal: AbortSignal
}

const SOURCE = 'dev.mountglass/source'

/**
 * Calls the use case of a tool. `structuredContent` of the result is the body of the REST interface for the same parameters, and its text says
 * the same to a model: where the text of a page would be too long, a shorter page is read.
 *
 * @throws ServiceError as the endpoint; the reason of the signal
 */
export async function callTool(handlers: ToolHandlers, call: ToolCall): Promise<CallToolResult> {
  const { tool, address, viewer, isWorkingFolder = false, isSourceServed = true, maxBytes, signal } = call
  const query = parseArguments(tool.arguments, call.arguments) as Record<string, unknown>
  const { by, min } = tool.page
  const ask = async (size: number, isShorter: boolean) => {
    const handle = handlers[tool.endpoint] as (call: object) => Promise<AnswerOf<ToolEndpoint>>
    const shorter = isShorter && by === 'limit' ? { limit: size } : {}
    const asked = { subject: address, query: { ...query, ...shorter }, body: null, viewer, signal }
    const answer = ENDPOINTS[tool.endpoint].answer.parse(await handle(by === 'limit' ? asked : { ...asked, pageBytes: size }))
    const toText = tool.toText as (answer: unknown, context: object) => string
    // Defaults stay out of the call that the text proposes.
    const repeated = { ...call.repeated, ...shorter }
    const context = {
      address: formatAddress(address),
      isWorkingFolder,
      isSourceServed,
      tool: tool.name,
      arguments: repeated,
      maxBytes,
    }
    const text = toText(answer, context)
    return { answer, text, bytes: utf8Length(text) }
  }
  let size = by === 'limit' ? Number(query.limit) : SKILL_PAGE_BYTES
  let asked = await ask(size, false)
  while (asked.bytes > maxBytes && size > min) {
    size = Math.max(min, Math.min(size - 1, Math.floor((size * maxBytes) / asked.bytes)))
    asked = await ask(size, true)
  }
  const { answer, text } = asked
  return {
    content: [{ type: 'text', text }],
    structuredContent: answer as Record<string, unknown>,
    _meta: { [SOURCE]: { ...sourceOf(address, answer, query), ...(isWorkingFolder && { workingFolder: true }) } },
  }
}

/** A failed call, as a result that a model can read. */
export function failedCall(error: ServiceError): CallToolResult {
  const body = errorBody(error)
  return { isError: true, content: [{ type: 'text', text: errorText(body.error) }], structuredContent: { ...body } }
}

/** @throws ServiceError `request.invalid`, which names the arguments that are wrong */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ServiceError('request.invalid', { message: explainArguments(parsed.error.issues, given) })
}

function sourceOf(address: Address, answer: AnswerOf<ToolEndpoint>, query: Record<string, unknown>) {
  const { host, owner, repository } = address
  return {
    address: formatAddress(address),
    repository: `${host}/${owner}/${repository}`,
    commit: answer.commit,
    path: typeof query.path === 'string' ? query.path : address.path,
    trust: 'untrusted',
  }
}

/** How long a call waits for the index, and how often it looks. */
export const WAIT_MS = 60_000
const LOOK_MS = 20

/** Handlers that wait for the index. For `mountglass mcp`: its user asks about their own files, and wants the answer instead of the state of the job. */
export function whenIndexed(handlers: ToolHandlers): ToolHandlers {
  const waiting = Object.entries(handlers).map(([name, handle]) => {
    const ask = handle as (call: WaitingCall) => Promise<object>
    return [name, async (call: WaitingCall) => await askUntilIndexed(() => ask(call), call.signal)]
  })
  return Object.fromEntries(waiting) as ToolHandlers
}

interface WaitingCall {
  signal?: AbortSignal
}

async function askUntilIndexed(ask: () => Promise<object>, signal?: AbortSignal): Promise<object> {
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'index.indexing') return INDEXING
      throw error
    })
    if (!isIndexing(answer)) return answer
    if (performance.now() > giveUpAt) return answer === INDEXING ? await ask() : answer
    await sleep(LOOK_MS, undefined, signal ? { signal } : {})
  }
}

const INDEXING = { status: 'indexing' }

function isIndexing(answer: { status?: unknown; index?: { status?: unknown } }): boolean {
  return answer.status === 'indexing' || answer.index?.status === 'indexing'
}

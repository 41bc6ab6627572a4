/** Numbers of JSON-RPC; it leaves the last one to servers. */
export const RPC = { parseError: -32_700, invalidRequest: -32_600, invalidParams: -32_602, refused: -32_000 } as const

/** A message of a client, which the SDK has not looked at. */
export type Message = Readonly<Record<string, unknown>>

/** A request that is refused before the SDK sees it. */
export class McpRefusal extends Error {
  readonly statusCode: number
  readonly rpcCode: number

  constructor(statusCode: number, rpcCode: number, message: string) {
    super(message)
    this.name = 'McpRefusal'
    this.statusCode = statusCode
    this.rpcCode = rpcCode
  }
}

/** Levels of a message's parameters in which `null` counts as absent: the parameters, their arguments, and the members of those. */
const NULL_LEVELS = 3

/**
 * The message that a text holds. A list of messages, as old revisions know it, would do the work of many requests. Serializers send `null` for what
 * is not given, and the SDK refuses it, so `null` among the parameters counts as absent.
 *
 * @throws McpRefusal
 */
export function parseMessage(text: string): Message {
  const message = parseJson(text)
  if (message === undefined) throw new McpRefusal(400, RPC.parseError, 'the message is not JSON')
  if (!isObject(message)) throw new McpRefusal(400, RPC.invalidRequest, 'this is not one JSON-RPC message; send each by itself')
  const { params, ...others } = message
  const read = params === undefined || params === null ? others : { ...others, params: withoutNulls(params, NULL_LEVELS) }
  // A call without an id is a notification, which gets no answer.
  if (read.method === 'tools/call' && 'id' in read) requireCall(read)
  return read
}

export type MessageId = string | number | null

/** The ids that the errors of a text repeat: that of its message, or those of a list. `null` where none can be told. */
export function idsOf(text: string): MessageId[] {
  const read = parseJson(text)
  if (!Array.isArray(read)) return [idOf(read)]
  const ids = read.map(idOf).filter(id => id !== null)
  return ids.length === 0 ? [null] : ids
}

export function idOf(message: unknown): MessageId {
  const id = isObject(message) ? message.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** The SDK would answer with the report of its validator. @throws McpRefusal */
function requireCall({ params }: Message): void {
  const { name, arguments: given = {} } = isObject(params) ? params : {}
  if (typeof name !== 'string') throw invalidCall('name has to be the name of a tool, as tools/list lists it')
  if (!isObject(given)) throw invalidCall('arguments has to be an object with the arguments of the tool')
}

function invalidCall(message: string): McpRefusal {
  return new McpRefusal(200, RPC.invalidParams, message)
}

function withoutNulls(value: unknown, levels: number): unknown {
  if (levels === 0 || !isObject(value)) return value
  const entries = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member, levels - 1)]))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

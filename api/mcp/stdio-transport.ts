import { type Readable, Transform, type Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { WAIT_MS } from './call-tool.ts'
import { idOf, idsOf, McpRefusal, type Message, type MessageId, parseMessage, RPC } from './messages.ts'

/** Longer than a call waits for its index, so that its answer is sent, too. */
const MAX_DRAIN_MS = WAIT_MS + 10_000

export interface StdioTransport {
  transport: Transport
  /** Resolves once the input has ended and every request in it is answered, or `maxDrainMs` later; and when the output is closed. */
  closed: Promise<void>
}

/**
 * The SDK's transport, which drops the requests that are open when its input ends. Here the end is held back until they are answered:
 * `printf '…' | mountglass mcp .` shows all answers. A line that is no message is refused.
 */
export function createStdioTransport(input: Readable, output: Writable, maxDrainMs = MAX_DRAIN_MS): StdioTransport {
  const open = new OpenRequests()
  const refuse = (answer: RefusalAnswer) => void wire.send(answer as JSONRPCMessage).catch(() => {}) // a closed output ends the transport
  const held = passMessages(refuse, async () => {
    await nextTurn() // what was read last becomes a message first
    await open.answered(maxDrainMs)
  })
  input.once('close', () => held.end())
  input.pipe(held)
  const wire = new StdioServerTransport(held, output)
  const closed = Promise.withResolvers<void>()
  const transport: Transport = {
    async start() {
      wire.onmessage = received => {
        open.noteReceived(received)
        transport.onmessage?.(received)
      }
      wire.onerror = error => transport.onerror?.(error)
      input.on('error', error => transport.onerror?.(error)) // a pipe does not pass errors on
      wire.onclose = () => {
        input.unpipe(held).pause() // an input that is read keeps the process alive
        open.forget()
        transport.onclose?.()
        closed.resolve()
      }
      await wire.start()
    },
    async send(sent) {
      await wire.send(sent)
      open.noteSent(sent)
    },
    close: async () => await wire.close(),
  }
  return { transport, closed: closed.promise }
}

/** The requests that were received and not yet answered. */
class OpenRequests {
  readonly #ids = new Set<RequestId>()
  readonly #none = Promise.withResolvers<void>()
  #isEnding = false

  noteReceived(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    // A subscription is answered when its connection ends, a cancelled request never.
    if ('id' in message) {
      if (message.method !== 'subscriptions/listen') this.#ids.add(message.id)
    } else if (message.method === 'notifications/cancelled') this.#settle(message.params?.requestId)
  }

  noteSent(message: JSONRPCMessage): void {
    if ('id' in message && !('method' in message)) this.#settle(message.id)
  }

  /** Resolves once no request is open, or `maxMs` later. */
  async answered(maxMs: number): Promise<void> {
    this.#isEnding = true
    this.#resolveIfNone()
    const timer = setTimeout(this.#none.resolve, maxMs)
    await this.#none.promise
    clearTimeout(timer)
  }

  forget(): void {
    this.#ids.clear()
    this.#resolveIfNone()
  }

  #settle(id: unknown): void {
    this.#ids.delete(id as RequestId)
    this.#resolveIfNone()
  }

  #resolveIfNone(): void {
    if (this.#isEnding && this.#ids.size === 0) this.#none.resolve()
  }
}

/** An answer that the SDK does not give. The id is `null` where none can be told. */
interface RefusalAnswer {
  jsonrpc: '2.0'
  id: MessageId
  error: { code: number; message: string }
}

/** A message has some hundred bytes. A longer line is read to its end, and none of it is kept. */
const LINE_BYTES = 1024 * 1024
const LINE_FEED = 0x0a
const TOO_LONG = new McpRefusal(413, RPC.refused, `the line is longer than ${LINE_BYTES.toLocaleString('en')} bytes`)

/**
 * Passes the lines of an input on that are JSON-RPC messages. The SDK drops the others, and a client would wait for ever: every request among them
 * is refused with its id. A last line without a line feed counts, too.
 *
 * @param end awaited before the output ends
 */
function passMessages(refuse: (answer: RefusalAnswer) => void, end: () => Promise<void>): Transform {
  let parts: Buffer[] = []
  let bytes = 0
  const append = (part: Buffer) => {
    bytes += part.length
    if (bytes <= LINE_BYTES) parts.push(part)
    else parts = []
  }
  const endLine = (output: Transform) => {
    const [text, isTooLong] = [Buffer.concat(parts).toString('utf8').trim(), bytes > LINE_BYTES]
    parts = []
    bytes = 0
    if (isTooLong) refuse(answerTo(null, TOO_LONG))
    const line = isTooLong || text === '' ? '' : readLine(text, refuse)
    if (line !== '') output.push(line)
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
        append(chunk.subarray(start, at))
        endLine(this)
        start = at + 1
      }
      append(chunk.subarray(start))
      done()
    },
    flush(done) {
      endLine(this)
      end().then(() => done(), done)
    },
  })
}

/** The line for the SDK; empty when it is refused, or is no request and wrong. */
function readLine(text: string, refuse: (answer: RefusalAnswer) => void): string {
  try {
    const message = parseMessage(text)
    return isMessage(message) ? `${JSON.stringify(message)}\n` : refuseWrong(message, refuse)
  } catch (error) {
    if (!(error instanceof McpRefusal)) throw error
    for (const id of idsOf(text)) refuse(answerTo(id, error))
    return ''
  }
}

function isMessage(message: Message): boolean {
  try {
    return parseJSONRPCMessage(message) !== undefined
  } catch {
    return false
  }
}

const INVALID = new McpRefusal(
  400,
  RPC.invalidRequest,
  'this is not a valid JSON-RPC request: see its members jsonrpc, id, method and params',
)

/** A notification and an answer have no answer, right or wrong. */
function refuseWrong(message: Message, refuse: (answer: RefusalAnswer) => void): string {
  const isNotification = typeof message.method === 'string' && !('id' in message)
  const isAnswer = !('method' in message) && ('result' in message || 'error' in message)
  if (!isNotification && !isAnswer) refuse(answerTo(idOf(message), INVALID))
  return ''
}

function answerTo(id: MessageId, { rpcCode, message }: McpRefusal): RefusalAnswer {
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message } }
}

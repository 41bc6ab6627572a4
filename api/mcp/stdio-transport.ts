import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { passMessages, type RefusalAnswer } from './message-lines.ts'
import { WAIT_MS } from './when-indexed.ts'

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

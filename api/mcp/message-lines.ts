import { Transform } from 'node:stream'
import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { idOf, idsOf, McpRefusal, type Message, type MessageId, parseMessage, RPC } from './messages.ts'

/** An answer that the SDK does not give. The id is `null` where none can be told. */
export interface RefusalAnswer {
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
export function passMessages(refuse: (answer: RefusalAnswer) => void, end: () => Promise<void>): Transform {
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

import { Agent, request as httpRequest } from 'node:http'
import { type Spread, spread } from './measure.ts'

const REVISION = '2026-07-28'
const CALLS = 500
/** V8 compiles most of what is called during these. */
const WARMING_CALLS = 1_000

/** A request of REST, of a page or of MCP. */
export interface Question {
  name: string
  /** By the number of the call, where no two calls may ask the same. */
  path: string | ((call: number) => string)
  /** A message to MCP, or one for each call by its number; `null`: a GET. */
  message: Message | ((call: number) => Message) | null
}

interface Message {
  method: string
  params: Record<string, unknown>
}

/** @param given arguments of the tool, or those of each call by its number */
export function toolQuestion(address: string, name: string, given: object | ((call: number) => object)): Question {
  const messageOf = (own: object): Message => ({ method: 'tools/call', params: { name, arguments: own } })
  const message = typeof given === 'function' ? (call: number) => messageOf(given(call)) : messageOf(given)
  return { name, path: `/mcp${address}`, message }
}

export function restQuestion(address: string, name: string, query: Record<string, string>): Question {
  return { name, path: `/api/v1/${name}${address}?${new URLSearchParams(query)}`, message: null }
}

/** Times of one caller, warm, in milliseconds. The questions are asked in turn, so that whatever else the machine does is part of each. */
export async function timesOf<const Questions extends readonly Question[]>(
  baseUrl: string,
  questions: Questions,
): Promise<{ [Index in keyof Questions]: Spread }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times = questions.map((): number[] => [])
  for (let call = -WARMING_CALLS; call < CALLS; call++) {
    for (const [index, question] of questions.entries()) {
      const startedAt = performance.now()
      await ask(baseUrl, question, agent, call + WARMING_CALLS)
      if (call >= 0) times[index]?.push(performance.now() - startedAt)
    }
  }
  agent.destroy()
  return times.map(spread) as { [Index in keyof Questions]: Spread }
}

/** @throws Error when the answer is no success */
export function ask(baseUrl: string, question: Question, agent: Agent, call = 0): Promise<void> {
  const message = typeof question.message === 'function' ? question.message(call) : question.message
  const path = typeof question.path === 'string' ? question.path : question.path(call)
  const name = message?.params.name
  const headers =
    message === null
      ? {}
      : {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': message.method,
          ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
        }
  return new Promise((resolve, reject) => {
    const request = httpRequest(baseUrl + path, { agent, method: message === null ? 'GET' : 'POST', headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200 && !text.includes('"isError":true')) resolve()
        else reject(new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    request.on('error', reject)
    request.end(message === null ? undefined : JSON.stringify(bodyOf(message)))
  })
}

function bodyOf({ method, params }: Message) {
  const client = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: client } }
}

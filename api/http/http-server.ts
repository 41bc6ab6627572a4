import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionLimits, Connections } from './connections.ts'

/** What clients may hold, and for how long. */
export interface ClientLimits extends ConnectionLimits {
  /** Time to send the headers of a request. */
  headersMs: number
  /** Time to send a whole request. */
  requestMs: number
  /** Interval at which both are checked, and how fast clients take their answers. */
  checkEveryMs: number
  /** A connection is closed after this time without a byte in either direction, unless bytes wait for its client: then `answerPace` decides. */
  idleMs: number
  /** Time to read an answer that came before the end of the request. The connection is destroyed afterwards. */
  lingerMs: number
}

export const CLIENT_LIMITS: ClientLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  checkEveryMs: 1_000,
  idleMs: 120_000,
  lingerMs: 1_000,
  connections: 2_048,
  // A quarter of what a very slow line carries.
  answerPace: { bytesPerSecond: 2 * 1024, graceMs: 240_000 },
  waitingBytes: 256 * 1024 * 1024,
  answersAtOnce: 100,
  now: () => performance.now(),
}

/** Longer than the 60 seconds after which most proxies close an idle connection, so that the proxy closes it first. */
const KEEP_ALIVE_MS = 72_000
/** Holds the longest address and query that the service reads, and headers. Longer addresses up to here get the answer of their route. */
const HEADER_BYTES = 32 * 1024

/** What Node's parser reports. `rawPacket` holds the bytes that it read last. */
export type ParserError = Error & { code?: string; rawPacket?: Uint8Array }

/** The bytes of an answer that no request object stands for. */
export interface RefusedAnswers {
  toBytes(error: ParserError): string
  toConnect(): string
}

/** An HTTP server that no client keeps from serving others by being slow. */
export function createHttpServer(listener: RequestListener, limits: ClientLimits, answers: RefusedAnswers): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES,
      // Node's own refusal has neither headers nor body, so `refuseBadHost` does this.
      requireHostHeader: false,
      // A request without a body is not read to its end, which takes a tenth of the time of a small answer.
      optimizeEmptyRequests: true,
    },
    dropTypeOfEmptyBody(listener),
  )
  server.setTimeout(limits.idleMs, closeIdle)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket) => endSocket(socket, answers.toConnect(), limits.lingerMs))
  server.on('request', (request, response) => endUnfinished(request, response, limits.lingerMs))
  const connections = new Connections(server, limits)
  refuseMalformed(server, connections, limits.lingerMs, answers)
  return server
}

/** A client that takes a long answer at the least pace seems idle for minutes. Each byte that is taken starts the time again. */
function closeIdle(socket: Socket): void {
  if (socket.writableLength === 0) socket.destroy()
}

/** Answers what is not HTTP, or did not arrive in time, and then releases its socket. */
function refuseMalformed(server: Server, connections: Connections, lingerMs: number, answers: RefusedAnswers): void {
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: ParserError, socket) => {
    // The parser reports every further chunk of a refused connection again.
    if (refused.has(socket)) return
    refused.add(socket)
    // A second answer would become part of the one that is being sent.
    if (error.code === 'ECONNRESET' || !socket.writable || connections.isAnswering(socket)) socket.destroy()
    else endSocket(socket, answers.toBytes(error), lingerMs)
  })
}

/**
 * Sends the last bytes of a connection, and destroys it when the client had time to read them. Destroyed at once, the socket would be reset
 * while the client is sending, and the client would lose the answer. Only ended, it would keep its descriptor until the client closes it.
 */
function endSocket(socket: Duplex, bytes: string, lingerMs: number): void {
  socket.on('error', () => socket.destroy())
  socket.end(bytes)
  socket.resume()
  destroyAfter(socket, lingerMs)
}

/** Destroys the connection of a request that is still being sent some time after it was answered. */
function endUnfinished(request: IncomingMessage, response: ServerResponse, lingerMs: number): void {
  // Without a body, it was whole when its headers were.
  if (!hasBody(request)) return
  response.once('finish', () => {
    if (request.complete) return
    const timer = destroyAfter(request.socket, lingerMs)
    request.once('end', () => clearTimeout(timer))
  })
}

/**
 * Fastify waits for the end of a body if there is a content-type. With `optimizeEmptyRequests` a request without a body never emits `end`.
 */
function dropTypeOfEmptyBody(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers['content-type'] !== undefined && !hasBody(request)) delete request.headers['content-type']
    listener(request, response)
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function destroyAfter(socket: Duplex, lingerMs: number): NodeJS.Timeout {
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
  return timer
}

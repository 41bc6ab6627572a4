import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

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

/** How fast a client has to take its answers. */
interface AnswerPace {
  bytesPerSecond: number
  /**
   * A client may seem to stand still for this time, and for the time that the bytes before it take at that speed: the system tells in lumps of
   * up to a third of its buffer, a megabyte and more, that bytes were taken, so an honest client at 8 KiB/s seems to stand still for minutes.
   */
  graceMs: number
}

interface ConnectionLimits {
  /** Number of connections. A new one beyond them takes the place of one whose client is due to act. */
  connections: number
  answerPace: AnswerPace
  /** Bytes of answers that wait for all clients together. Beyond them, the connections that hold most are closed. */
  waitingBytes: number
  /** Requests of one connection that were sent together and are not answered yet. One with more is closed. */
  answersAtOnce: number
  /** Interval at which it is checked how fast clients take their answers. */
  checkEveryMs: number
  /** A monotonic time in milliseconds. */
  now(): number
}

/** The answers of one connection. */
interface Answering {
  /** Requests that were sent together are answered in their order. */
  open: Map<ServerResponse, IncomingMessage>
  taking: Taking | null
}

/** How a client takes its answers, while bytes wait for it. */
interface Taking {
  /** Time of the last check. */
  atMs: number
  takenBytes: number
  /** By how much the client is behind the pace. */
  missingBytes: number
  /** The client took nothing between the last two checks. */
  standsStill: boolean
}

/** Keeps the connections of a server within the limits, and knows which of them are being answered. */
class Connections {
  readonly #limits: ConnectionLimits
  /** Without those that are being closed. */
  readonly #open = new Map<Duplex, Answering>()
  /** In the order since when they wait: for a request, or for the rest of its headers. */
  readonly #waiting = new Set<Duplex>()
  /** Those of `#open` with a request that is not answered yet, in the order since when. */
  readonly #answering = new Map<Duplex, Answering>()

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits
    server.on('connection', socket => this.#enter(socket))
    server.on('request', (request, response) => this.#answer(request, response))
    const checking = setInterval(() => this.#dropSlow(), limits.checkEveryMs).unref()
    server.once('close', () => clearInterval(checking))
  }

  /** Whether an answer was begun on the connection, and is not sent yet. */
  isAnswering(socket: Duplex): boolean {
    const open = this.#answering.get(socket)?.open.keys() ?? []
    return [...open].some(response => response.headersSent && !response.writableFinished)
  }

  #enter(socket: Socket): void {
    this.#open.set(socket, { open: new Map(), taking: null })
    this.#waiting.add(socket)
    socket.once('close', () => this.#forget(socket))
    if (this.#open.size > this.#limits.connections) this.#close(this.#placeFor(socket))
  }

  /** Forgets the connection at once: before it tells that it is closed, others may come, and need other places. */
  #close(socket: Duplex): void {
    this.#forget(socket)
    socket.destroy()
  }

  #forget(socket: Duplex): void {
    this.#open.delete(socket)
    this.#waiting.delete(socket)
    this.#answering.delete(socket)
  }

  /**
   * The connection that makes room: the one that waits longest for a request; if none waits, the oldest whose client does not finish its body,
   * or stands still while it is answered; else the new one itself.
   */
  #placeFor(newcomer: Socket): Duplex {
    for (const socket of this.#waiting) if (socket !== newcomer) return socket
    for (const [socket, { open, taking }] of this.#answering) {
      if (taking?.standsStill || [...open.values()].some(request => !request.complete)) return socket
    }
    return newcomer
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const answering = this.#open.get(socket)
    if (answering === undefined) return
    answering.open.set(response, request)
    if (answering.open.size === 1) {
      this.#waiting.delete(socket)
      this.#answering.set(socket, answering)
    }
    if (answering.open.size > this.#limits.answersAtOnce) {
      this.#close(socket)
      return
    }
    // `close` comes once.
    response.on('close', () => {
      answering.open.delete(response)
      if (answering.open.size > 0) return
      answering.taking = null
      this.#answering.delete(socket)
      if (this.#open.has(socket)) this.#waiting.add(socket)
    })
  }

  #dropSlow(): void {
    const { answerPace, now } = this.#limits
    for (const [socket, answering] of this.#answering) {
      answering.taking = takingOf(socket as Socket, answering.taking, now(), answerPace)
      if (isTooSlow(socket as Socket, answering.taking, answerPace)) this.#close(socket)
    }
    this.#boundWaiting()
  }

  #boundWaiting(): void {
    const held = [...this.#answering].map(([socket, { open, taking }]) => {
      return { socket, bytes: heldBytes(socket, open.keys()), missingBytes: taking?.missingBytes ?? 0 }
    })
    let waiting = held.reduce((sum, { bytes }) => sum + bytes, 0)
    // An honest client at a slow line is behind, too, but holds little.
    held.sort((left, right) => right.bytes - left.bytes || right.missingBytes - left.missingBytes)
    for (const { socket, bytes } of held) {
      if (waiting <= this.#limits.waitingBytes) return
      waiting -= bytes
      this.#close(socket)
    }
  }
}

/** Bytes of a connection's answers. Only the one whose turn it is has reached the socket; Node keeps the others with their responses. */
function heldBytes(socket: Duplex, responses: Iterable<ServerResponse>): number {
  const ofResponses = [...responses].reduce((sum, { writableLength }) => sum + writableLength, 0)
  return Math.max(socket.writableLength, ofResponses)
}

/** What is known of the bytes of a socket. */
type SentBytes = Pick<Socket, 'bytesWritten' | 'writableLength'>

/** `null` while no bytes wait for the client. @param before at the last check */
function takingOf(
  { bytesWritten, writableLength }: SentBytes,
  before: Taking | null,
  atMs: number,
  { bytesPerSecond }: AnswerPace,
): Taking | null {
  if (writableLength === 0) return null
  const takenBytes = bytesWritten - writableLength
  if (before === null) return { atMs, takenBytes, missingBytes: 0, standsStill: false }
  const dueBytes = ((atMs - before.atMs) * bytesPerSecond) / 1000
  const missingBytes = Math.max(0, before.missingBytes + dueBytes - (takenBytes - before.takenBytes))
  return { atMs, takenBytes, missingBytes, standsStill: takenBytes === before.takenBytes }
}

/** The socket counts a piece as taken when all of it is, so the client has time for the pieces that it is taking. */
function isTooSlow({ writableLength }: SentBytes, taking: Taking | null, { bytesPerSecond, graceMs }: AnswerPace): boolean {
  return taking !== null && taking.missingBytes > writableLength + (graceMs * bytesPerSecond) / 1000
}

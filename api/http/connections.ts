import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How fast a client has to take its answers. */
interface AnswerPace {
  bytesPerSecond: number
  /**
   * A client may seem to stand still for this time, and for the time that the bytes before it take at that speed: the system tells in lumps of
   * up to a third of its buffer, a megabyte and more, that bytes were taken, so an honest client at 8 KiB/s seems to stand still for minutes.
   */
  graceMs: number
}

export interface ConnectionLimits {
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
export class Connections {
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

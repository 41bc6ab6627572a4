import { LRUCache } from 'lru-cache'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { type Client, parseClientMetadata, RefusedMetadata } from './client.ts'
import type { Registrations } from './registration.ts'

/** Finds clients by their ids. */
export interface Clients {
  /**
   * `unknown`: the id is none, or its metadata is not valid. `unavailable`: its document cannot be read now.
   *
   * @param requester the network that asks: requesters take turns
   */
  find(id: string, requester: string): Promise<ClientAnswer>
  /** Whether the id may be that of a client, without reading its document. */
  isPlausible(id: string): Promise<boolean>
}

export type ClientAnswer = { status: 'ok'; client: Client } | { status: 'unknown' } | { status: 'unavailable' }

/** Bounds of the time for which a document is remembered. */
const REMEMBERED_SECONDS = { min: 30, max: 24 * 3_600 }
const CACHE_BYTES = 4 * 1024 * 1024

/**
 * Places for reading documents. An id names any origin, so origins cannot share them fairly: one attacker has as many as they like. Requesters do.
 * Of one origin a requester reads fewer than are read of it at once (`infra/web`), since the origin may be one that others need.
 */
const READS = { limit: 16, limitEach: 8, maxWaiting: 64, maxWaitingEach: 16 }
const READS_OF_ORIGIN = { limit: Number.POSITIVE_INFINITY, limitEach: 2, maxWaitingEach: 16 }
/** A browser that waits longer is told to come back. */
const TURN_MS = 5_000

/** @param turnMs how long a requester waits for its turn */
export function createClients(registrations: Registrations, documents: WebDocuments, turnMs = TURN_MS): Clients {
  const known = new LRUCache<string, Client>({ maxSize: CACHE_BYTES, sizeCalculation: memoryOfEntry })
  const waiting = createSingleFlight<ClientAnswer>()
  const reading = createSingleFlight<ClientAnswer>()
  const throughOrigin = createFairGate(READS_OF_ORIGIN)
  const throughRequester = createFairGate(READS)

  /** Failures are not remembered: others would be refused for what one of them did to this process, or to an origin. */
  async function read(id: string): Promise<ClientAnswer> {
    const document = await documents.read(id)
    if (document.status !== 'ok') return { status: document.status === 'refused' ? 'unknown' : 'unavailable' }
    const answer = readClient(id, document.text)
    const seconds = Math.min(Math.max(document.maxAgeSeconds ?? 0, REMEMBERED_SECONDS.min), REMEMBERED_SECONDS.max)
    if (answer.status === 'ok') known.set(id, answer.client, { ttl: seconds * 1_000 })
    return answer
  }

  function remembered(id: string): ClientAnswer | null {
    const client = known.get(id)
    return client ? { status: 'ok', client } : null
  }

  /** Requesters of the same document share one read of it, but each waits in a line of their own. */
  async function readInTurn(id: string, requester: string): Promise<ClientAnswer> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    let isLate = false
    const turn = async () => {
      if (isLate) return UNAVAILABLE
      begin()
      return remembered(id) ?? (await reading.run(id, () => read(id)))
    }
    const ofBoth = `${requester} ${new URL(id).origin}`
    const answer = throughOrigin(ofBoth, () => throughRequester(requester, turn)).catch(unlessFull)
    await withTimeout(Promise.race([begun, answer]), turnMs, () => {
      isLate = true
    })
    return isLate ? UNAVAILABLE : await answer
  }

  return {
    async find(id, requester) {
      if (!isDocumentUrl(id)) {
        const client = await registrations.read(id)
        return client ? { status: 'ok', client } : { status: 'unknown' }
      }
      return remembered(id) ?? (await waiting.run(`${requester} ${id}`, () => readInTurn(id, requester)))
    },
    isPlausible: async id => isDocumentUrl(id) || (await registrations.read(id)) !== null,
  }
}

const UNAVAILABLE: ClientAnswer = { status: 'unavailable' }

function unlessFull(error: unknown): ClientAnswer {
  if (error instanceof GateFull) return UNAVAILABLE
  throw error
}

const URL_CHARACTERS = 1_000

/**
 * Whether the id is the URL of a document: https with a path, spelled in the one way in which URLs are compared. So it has no dot segments; it also
 * has no fragment, no name of a user and no port.
 */
export function isDocumentUrl(id: string): boolean {
  if (!id.startsWith('https://') || id.length > URL_CHARACTERS || !URL.canParse(id)) return false
  const { href, pathname, username, password, port } = new URL(id)
  return href === id && pathname !== '/' && !id.includes('#') && username === '' && password === '' && port === ''
}

/** The client that a document describes. Its id has to be the URL of the document, and it has to be a public client, since clients do not authenticate here. */
function readClient(id: string, text: string): ClientAnswer {
  try {
    const json: unknown = JSON.parse(text)
    const { name, uri, redirectUris, authentication } = parseClientMetadata(json)
    if ((json as { client_id?: unknown }).client_id !== id) return { status: 'unknown' }
    if (authentication !== null && authentication !== 'none') return { status: 'unknown' }
    return { status: 'ok', client: { id, kind: 'cimd', name, uri, redirectUris } }
  } catch (error) {
    if (error instanceof RefusedMetadata || error instanceof SyntaxError) return { status: 'unknown' }
    throw error
  }
}

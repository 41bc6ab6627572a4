import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { type Client, parseClientMetadata, RefusedMetadata } from './client.ts'
import type { Registrations } from './registration.ts'

/** Finds clients by their ids. */
export interface Clients {
  /** `unknown`: the id is none, or its metadata is not valid. `unavailable`: its document cannot be read now. */
  find(id: string): Promise<ClientAnswer>
  /** Whether the id may be that of a client, without reading its document. */
  isPlausible(id: string): Promise<boolean>
}

export type ClientAnswer = { status: 'ok'; client: Client } | { status: 'unknown' } | { status: 'unavailable' }

/** Bounds of the time for which a document, or its absence, is remembered. */
const REMEMBERED_SECONDS = { min: 30, max: 24 * 3_600 }
const CACHE_BYTES = 4 * 1024 * 1024

export function createClients(registrations: Registrations, documents: WebDocuments): Clients {
  const known = new LRUCache<string, ClientAnswer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: memoryOfEntry,
  })
  const flights = createSingleFlight<ClientAnswer>()

  async function read(id: string): Promise<ClientAnswer> {
    const document = await documents.read(id)
    // Not remembered: others would be refused for what one of them did to this process.
    if (document.status === 'unavailable') return document
    const maxAgeSeconds = document.status === 'ok' ? (document.maxAgeSeconds ?? 0) : 0
    const seconds = Math.min(Math.max(maxAgeSeconds, REMEMBERED_SECONDS.min), REMEMBERED_SECONDS.max)
    const answer: ClientAnswer = document.status === 'ok' ? readClient(id, document.text) : { status: 'unknown' }
    known.set(id, answer, { ttl: seconds * 1_000 })
    return answer
  }

  return {
    async find(id) {
      if (!isDocumentUrl(id)) {
        const client = await registrations.read(id)
        return client ? { status: 'ok', client } : { status: 'unknown' }
      }
      return known.get(id) ?? (await flights.run(id, () => read(id)))
    },
    isPlausible: async id => isDocumentUrl(id) || (await registrations.read(id)) !== null,
  }
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

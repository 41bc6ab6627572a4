import { createHash } from 'node:crypto'
import { CompactSign, compactVerify, errors } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { deriveKeys, type SealingKeys } from '../purpose-keys.ts'
import { parseRedirectUri } from './redirect-uri.ts'

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
 * Of one origin a requester reads fewer than are read of it at once (`infra/web-documents.ts`), since the origin may be one that others need.
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

/** An application that asks to read on a person's behalf. All of them are public: none has a secret. */
export interface Client {
  /** The `client_id`. */
  id: string
  /** `cimd`: its id is the URL of its metadata (a client id metadata document). `dcr`: it registered here (dynamic client registration). */
  kind: 'cimd' | 'dcr'
  /** The client's own words. */
  name: string
  uri: string | null
  redirectUris: readonly string[]
}

/** Characters of what a client says of itself. */
const CLIENT_NAME_CHARACTERS = 80
const CLIENT_URI_CHARACTERS = 500
const CLIENT_REDIRECT_URIS = 20
/** Of all redirect URIs of a registered client, whose id contains them. */
const REGISTERED_URIS_CHARACTERS = 2_000

/** The metadata of a client (RFC 7591, 2) that matters here. Other fields are ignored. */
const Metadata = z.object({
  redirect_uris: z.array(z.string()).min(1).max(CLIENT_REDIRECT_URIS),
  client_name: z.string().max(10_000).optional(),
  client_uri: z.string().max(10_000).optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
})

type ClientMetadata = Pick<Client, 'name' | 'uri' | 'redirectUris'> & {
  /** How the client wants to authenticate; `null` when it says nothing. */
  authentication: string | null
}

/** Why metadata is refused, as a code of RFC 7591, 3.2.2, with a sentence. */
export class RefusedMetadata extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(code: RefusedMetadata['code'], message: string) {
    super(message)
    this.name = 'RefusedMetadata'
    this.code = code
  }
}

/** @throws RefusedMetadata */
export function parseClientMetadata(json: unknown): ClientMetadata {
  const parsed = Metadata.safeParse(json)
  if (!parsed.success) throw refusalOf(parsed.error)
  const { redirect_uris, client_name, client_uri, grant_types, response_types, token_endpoint_auth_method } = parsed.data
  const uris = redirect_uris.map(text => parseRedirectUri(text))
  const first = uris[0]
  if (!first || uris.includes(null)) {
    const problem = 'a redirect URI must be https, http on localhost, 127.0.0.1 or [::1], or have the scheme of an application'
    throw new RefusedMetadata('invalid_redirect_uri', `${problem}; it has no fragment and no name of a user`)
  }
  if (grant_types && !grant_types.includes('authorization_code'))
    throw new RefusedMetadata('invalid_client_metadata', 'grant_types must include authorization_code')
  if (response_types && !response_types.includes('code'))
    throw new RefusedMetadata('invalid_client_metadata', 'response_types must include code')
  return {
    // The name of nothing would leave a person without a word of who asks.
    name: cutText(client_name ?? '', CLIENT_NAME_CHARACTERS) || first.host,
    uri: webUri(client_uri),
    redirectUris: redirect_uris,
    authentication: token_endpoint_auth_method ?? null,
  }
}

function refusalOf(error: z.ZodError): RefusedMetadata {
  const field = error.issues[0]?.path[0]
  const code = field === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return new RefusedMetadata(code, field === undefined ? 'the metadata must be a JSON object' : `${String(field)} is not valid`)
}

/** The text on one line, without hidden characters, cut to a number of characters. */
function cutText(text: string, characters: number): string {
  return [...visibleLine(text)].slice(0, characters).join('').trim()
}

/** The page of a client, where it is one on the web; else `null`. */
function webUri(text: string | undefined): string | null {
  if (text === undefined || text.length > CLIENT_URI_CHARACTERS || !URL.canParse(text)) return null
  const { protocol, username, password, href } = new URL(text)
  const isPlain = ['https:', 'http:'].includes(protocol) && username === '' && password === ''
  // Encoded, it may be longer than as written.
  return isPlain && href.length <= CLIENT_URI_CHARACTERS ? href : null
}

/** What records and sealed texts have in place of the id, which may be long. */
export function hashOfClient(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}

/** Dynamic registration (RFC 7591) that stores nothing: the id of a client is its metadata, signed. */
export interface Registrations {
  /** @throws RefusedMetadata */
  register(json: unknown, now: Date): Promise<{ client: Client; issuedAt: number }>
  /** The client with this id; `null` when no key of this deployment signed it. */
  read(id: string): Promise<Client | null>
}

const TYPE = 'mountglass-client+jws'
const ALGORITHM = 'HS256'
/** An id stands in the query string of a browser, beside a state. */
const ID_CHARACTERS = 4_096

const Claims = z.object({ iat: z.int(), n: z.string(), u: z.string().nullable(), r: z.array(z.string()) })

/** @param keys an id is valid as long as the key that signed it is among them */
export function createRegistrations(keys: SealingKeys): Registrations {
  const derived = deriveKeys(keys, 'client')
  const named = new Map(keys.map(({ kid }, index) => [kid, derived[index] as Uint8Array]))
  const first = keys[0] as SealingKeys[number]

  return {
    async register(json, now) {
      const metadata = parseClientMetadata(json)
      requireShortUris(metadata)
      const issuedAt = Math.floor(now.getTime() / 1_000)
      const { name, uri, redirectUris } = metadata
      const claims: z.infer<typeof Claims> = { iat: issuedAt, n: name, u: uri, r: [...redirectUris] }
      const id = await new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: first.kid })
        .sign(derived[0])
      return { client: { id, kind: 'dcr', name, uri, redirectUris }, issuedAt }
    },

    async read(id) {
      if (id.length > ID_CHARACTERS) return null
      const claims = await verified(id, named)
      return claims && { id, kind: 'dcr', name: claims.n, uri: claims.u, redirectUris: claims.r }
    },
  }
}

async function verified(id: string, keys: ReadonlyMap<string, Uint8Array>): Promise<z.infer<typeof Claims> | null> {
  try {
    const { payload, protectedHeader } = await compactVerify(id, ({ kid }) => requireKey(keys, kid), { algorithms: [ALGORITHM] })
    return protectedHeader.typ === TYPE ? Claims.parse(JSON.parse(Buffer.from(payload).toString())) : null
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

function requireKey(keys: ReadonlyMap<string, Uint8Array>, kid: string | undefined): Uint8Array {
  const key = kid === undefined ? undefined : keys.get(kid)
  if (key === undefined) throw new errors.JWSInvalid('signed with an unknown key')
  return key
}

function requireShortUris({ redirectUris }: ClientMetadata): void {
  const characters = redirectUris.reduce((sum, uri) => sum + uri.length, 0)
  if (characters > REGISTERED_URIS_CHARACTERS)
    throw new RefusedMetadata(
      'invalid_redirect_uri',
      `redirect URIs have at most ${REGISTERED_URIS_CHARACTERS} characters in all; register fewer or shorter ones`,
    )
}

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { visibleLine } from '#core/hidden-text.ts'
import { parseRedirectUri } from './redirect-uri.ts'

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
export const CLIENT_NAME_CHARACTERS = 80
export const CLIENT_URI_CHARACTERS = 500
export const CLIENT_REDIRECT_URIS = 20
/** Of all redirect URIs of a registered client, whose id contains them. */
export const REGISTERED_URIS_CHARACTERS = 2_000

/** The metadata of a client (RFC 7591, 2) that matters here. Other fields are ignored. */
const Metadata = z.object({
  redirect_uris: z.array(z.string()).min(1).max(CLIENT_REDIRECT_URIS),
  client_name: z.string().max(10_000).optional(),
  client_uri: z.string().max(10_000).optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
})

export type ClientMetadata = Pick<Client, 'name' | 'uri' | 'redirectUris'> & {
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

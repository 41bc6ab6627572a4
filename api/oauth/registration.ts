import { CompactSign, compactVerify, errors } from 'jose'
import { z } from 'zod'
import { deriveKeys, type SealingKeys } from '../purpose-keys.ts'
import { type Client, type ClientMetadata, parseClientMetadata, REGISTERED_URIS_CHARACTERS, RefusedMetadata } from './client.ts'

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

/** @param keys an id is valid while the key is there that signed it */
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

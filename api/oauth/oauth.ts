import { GRANT_DAYS, GRANT_IDLE_DAYS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import type { Audit } from '../people/audit.ts'
import type { People } from '../people/people.ts'
import type { RecordIds, Records } from '../people/records.ts'
import type { Seals } from '../people/seal.ts'
import type { SealingKeys } from '../purpose-keys.ts'
import { type Clients, createClients, createRegistrations, type Registrations } from './clients.ts'
import { openRedeemedCodes, type RedeemedCodes } from './redeemed-codes.ts'
import type { GrantedRepository } from './resource.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Seconds. */
export const OAUTH_LIFETIMES = {
  /** From the app's request until the person decides. */
  requestSeconds: 15 * MINUTE,
  codeSeconds: 60,
  accessSeconds: HOUR,
  /** A family ends after this time without a refresh, and at the latest after `familySeconds`. */
  idleSeconds: GRANT_IDLE_DAYS * DAY,
  familySeconds: GRANT_DAYS * DAY,
  /** Longer than two codes of one request can lie apart. */
  markerSeconds: DAY,
} as const

/** What the use cases of the authorization server need. */
export interface OAuthDeps {
  /** Public origin of the deployment, which is the issuer. */
  baseUrl: string
  /** Host segments whose accounts sign in here. */
  hosts: readonly string[]
  people: Pick<People, 'seeAs'>
  records: Records
  redeemedCodes: RedeemedCodes
  recordIds: RecordIds
  seals: Seals
  registrations: Registrations
  clients: Clients
  clock: Clock
  random: RandomSource
  /** How long a refresh token is answered again after it was exchanged. */
  graceSeconds: number
  /** The page on which an account installs the app of this deployment at the host. */
  installUrl: string | null
  /** Whether this deployment serves the repository. */
  isServed(repository: GrantedRepository): boolean
  audit: Audit
}

/** What the assembly of a process gives. */
export type OAuthParts = Omit<OAuthDeps, 'redeemedCodes' | 'registrations' | 'clients'> & {
  states: StateStore
  documents: WebDocuments
  keys: SealingKeys
}

export function openOAuth({ states, documents, keys, ...parts }: OAuthParts): OAuthDeps {
  const registrations = createRegistrations(keys)
  return { ...parts, redeemedCodes: openRedeemedCodes(states), registrations, clients: createClients(registrations, documents) }
}

/** Metadata of the authorization server (RFC 8414). Clients compare the issuer as a text. @param baseUrl public origin, never taken from a request */
export function serverMetadata(baseUrl: string) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: ['read', 'offline_access'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  }
}

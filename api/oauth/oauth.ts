import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import type { Audit } from '../people/audit.ts'
import type { People } from '../people/people.ts'
import type { RecordIds } from '../people/record-ids.ts'
import type { Records } from '../people/records.ts'
import type { Seals } from '../people/seal.ts'
import type { SealingKeys } from '../purpose-keys.ts'
import { type Clients, createClients } from './clients.ts'
import { openRedeemedCodes, type RedeemedCodes } from './redeemed-codes.ts'
import { createRegistrations, type Registrations } from './registration.ts'
import type { GrantedRepository } from './resource.ts'

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

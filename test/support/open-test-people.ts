import { viewerOfAccess } from '#api/oauth/grants.ts'
import { type OAuthDeps, openOAuth } from '#api/oauth/oauth.ts'
import { openPeople } from '#api/people/open-people.ts'
import type { People } from '#api/people/people.ts'
import type { SealingKeys } from '#api/purpose-keys.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import type { GitHubHost } from '#infra/github/host.ts'
import { systemRandom } from '#infra/system/system.ts'

export interface TestPeopleOptions {
  states: StateStore
  keys: SealingKeys
  clock: Clock
  baseUrl: string
  log: () => { info(fields: object, message: string): void }
}

/** The key that every process of a test has. */
export const ID_KEY = new Uint8Array(32).fill(9)

/** The people of one process. @param github `null`: nobody signs in */
export function openTestPeople(github: GitHubHost | null, { states, keys, clock, baseUrl, log }: TestPeopleOptions): People {
  return openPeople({
    states,
    keys,
    idKey: ID_KEY,
    readAccess: viewerOfAccess,
    origin: baseUrl,
    clock,
    random: systemRandom,
    log: { info: (fields, message) => log().info(fields, message) },
    fallbacks: NO_FALLBACKS,
    host: github?.people ? { people: github.people, git: github } : null,
    isServed: () => true,
    // Long enough for any machine, and no test waits for it.
    leaseMs: 60_000,
  })
}

const NO_DOCUMENTS: WebDocuments = { read: async () => ({ status: 'refused' }) }

/** The authorization server of one process. @param documents of apps. Default: there are none */
export function openTestOAuth(
  people: People,
  github: GitHubHost,
  { states, keys, documents = NO_DOCUMENTS }: Pick<TestPeopleOptions, 'states' | 'keys'> & { documents?: WebDocuments },
): OAuthDeps {
  const { records, seals, recordIds, audit, clock, random, origin } = people.context
  return openOAuth({
    baseUrl: origin,
    hosts: ['gh'],
    people,
    states,
    documents,
    keys,
    records,
    recordIds,
    seals,
    clock,
    random,
    graceSeconds: 300,
    installUrl: github.people?.installUrl ?? null,
    isServed: () => true,
    audit,
  })
}

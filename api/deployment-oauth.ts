import type { WebDocuments } from '#core/ports/web-documents.ts'
import type { Deps } from './deps.ts'
import { isServed } from './mount/open-mount.ts'
import { type OAuthDeps, openOAuth } from './oauth/oauth.ts'

/** Clients that share a stored token, or lose an answer, refresh twice within this time. */
const REFRESH_GRACE_SECONDS = 300

const NO_DOCUMENTS: WebDocuments = { read: async () => ({ status: 'refused' }) }

/** The authorization server of a deployment; `null` where nobody signs in. @param baseUrl public origin, the issuer */
export function deploymentOAuth(deps: Deps, baseUrl: string): OAuthDeps | null {
  const { people, documents = NO_DOCUMENTS, refreshGraceSeconds = REFRESH_GRACE_SECONDS } = deps
  if (!people?.signIn) return null
  const { records, seals, locators, audit, clock, random, states, keys } = people.foundation
  return openOAuth({
    baseUrl,
    hosts: ['gh'],
    people,
    records,
    seals,
    locators,
    clock,
    random,
    states,
    keys,
    documents,
    graceSeconds: refreshGraceSeconds,
    installUrl: people.installUrl,
    isServed: ({ host, owner, name }) => isServed(deps, { host, owner, repository: name }),
    audit: (event, { uk, client, address }) => audit.note(event, { person: uk, client, address }),
  })
}

import { isServed } from '#api/mount/open-mount.ts'
import { viewerOfAccess } from '#api/oauth/grants.ts'
import { type OAuthDeps, openOAuth } from '#api/oauth/oauth.ts'
import type { AuditLog } from '#api/people/audit.ts'
import { openPeople } from '#api/people/open-people.ts'
import { PEOPLE_HOST, type People } from '#api/people/people.ts'
import { formatIdKey, parseIdKey } from '#api/people/records.ts'
import { formatNewKeys, parseSealingKeys, type SealingKeys } from '#api/purpose-keys.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { PeopleHost } from '#core/ports/people-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'
import type { Settings } from './service-settings.ts'

/** The parts of the outside world that people need. */
export interface PeopleInfra {
  states: StateStore
  hosts: readonly GitHost[]
  people: PeopleHost | null
  clock: Clock
  random: RandomSource
  secret(name: 'keys' | 'id-key', generate: () => string): Promise<string>
}

export interface DeploymentContext {
  baseUrl: string
  /** Whether the store is a bucket, which keeps no secrets. */
  isBucket: boolean
  log: AuditLog
  fallbacks: Fallbacks
}

/** The sealing keys of a deployment: of the settings, or generated once and kept with the store. @throws SettingsError */
export async function deploymentKeys({ secret, random }: PeopleInfra, { keys }: Pick<Settings, 'keys'>): Promise<SealingKeys> {
  const found = keys ?? parseSealingKeys(await secret('keys', () => formatNewKeys('1', random.bytes(32))))
  if (found !== null) return found
  throw new SettingsError('MOUNTGLASS_KEYS', t('problem.keysDamaged'))
}

/**
 * The people of a deployment. `null` for a bucket that has neither sign-in nor an id key, where every request is anonymous.
 *
 * @throws SettingsError when the id key is missing or damaged
 */
export async function deploymentPeople(
  infra: PeopleInfra,
  settings: Pick<Settings, 'idKey' | 'allow' | 'deny'>,
  keys: SealingKeys,
  { baseUrl, isBucket, log, fallbacks }: DeploymentContext,
): Promise<People | null> {
  const { states, clock, random, people } = infra
  const git = infra.hosts.find(({ segment }) => segment === PEOPLE_HOST)
  if (isBucket && people === null && settings.idKey === null) return null
  return openPeople({
    states,
    keys,
    idKey: settings.idKey ?? (await storedIdKey(infra)),
    origin: baseUrl,
    clock,
    random,
    log,
    fallbacks,
    host: people && git ? { people, git } : null,
    isServed: repository => isServed(settings, repository),
    readAccess: viewerOfAccess,
  })
}

/** The authorization server of a deployment; `null` where sign-in is not set up. */
export function deploymentOAuth(
  { states, hosts, people: host }: PeopleInfra,
  settings: Pick<Settings, 'allow' | 'deny' | 'refreshGraceSeconds'>,
  keys: SealingKeys,
  { people, documents }: { people: People | null; documents: WebDocuments },
): OAuthDeps | null {
  if (host === null || people === null) return null
  const { records, seals, recordIds, audit, clock, random, origin } = people.context
  return openOAuth({
    baseUrl: origin,
    hosts: hosts.map(({ segment }) => segment).filter(segment => segment === PEOPLE_HOST),
    people,
    states,
    documents,
    keys,
    records,
    recordIds,
    seals,
    clock,
    random,
    graceSeconds: settings.refreshGraceSeconds,
    installUrl: host.installUrl,
    isServed: ({ host: segment, owner, name }) => isServed(settings, { host: segment, owner, repository: name }),
    audit,
  })
}

async function storedIdKey({ secret, random }: PeopleInfra): Promise<Uint8Array> {
  const key = parseIdKey(await secret('id-key', () => formatIdKey(random.bytes(32))))
  if (key !== null) return key
  throw new SettingsError('MOUNTGLASS_ID_KEY', t('problem.idKeyDamaged'))
}

const DAY_MS = 86_400_000
/** Processes that start together do not look together. */
const FIRST_ROUND_MS = { least: 60_000, most: 900_000 } as const

/** Keeps the sign-ins of people alive in whose name something may act, once a day. @returns what ends it */
export function startKeepAlive(people: People | null): () => void {
  const round = () => void people?.keepAlive()
  const { least, most } = FIRST_ROUND_MS
  const first = setTimeout(round, least + Math.random() * (most - least)).unref()
  const daily = setInterval(round, DAY_MS).unref()
  return () => {
    clearTimeout(first)
    clearInterval(daily)
  }
}

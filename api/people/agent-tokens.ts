import type { TokenItem } from '#core/contract/people.ts'
import { ServiceError } from '#core/errors.ts'
import { TOKENS_PER_PERSON } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { PeopleContext } from './context.ts'
import type { AgentToken, PersonRecord } from './records.ts'
import { formatToken, hashToken, newRecordId, type RecordId, SECRET_BYTES } from './token-text.ts'

const DAY_MS = 86_400_000

/** What an agent token is made for. */
export interface TokenPlan {
  repository: Pick<HostRepository, 'host' | 'owner' | 'name' | 'id'>
  label: string
  expiresInDays: number
}

/** Tokens that have not expired, newest first. */
export function activeTokens(tokens: readonly AgentToken[], now: Date): AgentToken[] {
  return tokens.filter(({ expiresAt }) => now.getTime() < Date.parse(expiresAt))
}

export function tokenItem({ id, address, label, createdAt, expiresAt, lastUsedAt }: AgentToken): TokenItem {
  return { id, address, label, createdAt, expiresAt, lastUsedAt }
}

/**
 * Makes a token in a record.
 *
 * @param base the record where there is none yet; `null`: it must be there
 * @returns the secret and its item; `null` when the record is gone
 * @throws ServiceError `token.limit`
 */
export async function createAgentToken(
  { records, random, clock }: Pick<PeopleContext, 'records' | 'random' | 'clock'>,
  person: RecordId,
  { repository, label, expiresInDays }: TokenPlan,
  base: PersonRecord | null = null,
): Promise<{ token: string; item: TokenItem } | null> {
  const id = newRecordId(random)
  const token = formatToken({ kind: 'agent', person, id }, random.bytes(SECRET_BYTES))
  const now = clock.now()
  const made: AgentToken = {
    id,
    h: hashToken(token),
    address: `/${repository.host}/${repository.owner}/${repository.name}`,
    repoId: repository.id,
    label,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + expiresInDays * DAY_MS).toISOString(),
    lastUsedAt: null,
  }
  const after = await records.people.update([person], known => {
    const record = known ?? base
    // The token is there already if the store reported that a write failed although it was done.
    if (record === null || record.tokens.some(one => one.id === id)) return record
    const active = activeTokens(record.tokens, now)
    if (active.length >= TOKENS_PER_PERSON) throw new ServiceError('token.limit')
    return { ...record, tokens: [made, ...active] }
  })
  return after === null ? null : { token, item: tokenItem(made) }
}

/** Ends a token. @throws ServiceError `token.not_found` */
export async function deleteAgentToken(
  { records, clock }: Pick<PeopleContext, 'records' | 'clock'>,
  person: RecordId,
  id: RecordId,
): Promise<AgentToken> {
  let ended: AgentToken | undefined
  await records.people.update([person], record => {
    const found = record && activeTokens(record.tokens, clock.now()).find(token => token.id === id)
    ended = found ?? ended
    return record && found ? { ...record, tokens: record.tokens.filter(token => token !== found) } : record
  })
  if (ended === undefined) throw new ServiceError('token.not_found')
  return ended
}

import { parseAddress } from '#core/address.ts'
import type { CreatedToken, Me, MyRepositories, MyTokens, TokenRequest } from '#core/contract/people.ts'
import { ServiceError } from '#core/errors.ts'
import { TOKENS_PER_PERSON } from '#core/limits.ts'
import type { GitHost, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { HostInstallation, PeopleHost, PersonAnswer } from '#core/ports/people-host.ts'
import { activeTokens, createAgentToken, deleteAgentToken, tokenItem } from './agent-tokens.ts'
import type { RequestOrigin } from './audit.ts'
import type { BrowserName } from './browser-name.ts'
import type { PeopleContext } from './context.ts'
import { forget } from './forget.ts'
import type { HostCredentials } from './host-credentials.ts'
import { releaseCredential } from './keep-alive.ts'
import type { PersonRecord } from './records.ts'
import { activeSessions, endSession } from './sessions.ts'
import type { RecordId } from './token-text.ts'
import type { PersonViewer, Viewer } from './viewer.ts'

/** Who acts, and by which request. */
export interface Acting {
  viewer: PersonViewer
  origin: RequestOrigin | null
}

export interface SessionItem {
  id: RecordId
  createdAt: string
  /** At most an hour old. */
  seenAt: string
  /** The session of the request. */
  isCurrent: boolean
  /** `null`: without a known name. */
  browser: BrowserName | null
}

/** `session`: this browser; `everywhere`: all of them; `everything`: also tokens, grants, and what is known of the person. */
export const SIGN_OUTS = ['session', 'everywhere', 'everything'] as const
export type SignOut = (typeof SIGN_OUTS)[number]

/**
 * What people see and change of themselves, for the routes of the interface and for the forms of pages. Every method throws `ServiceError`:
 * `auth.required` when the person was signed out meanwhile, `auth.unavailable` when the records cannot be read or written, and what it says.
 */
export interface Account {
  me(viewer: Viewer): Promise<Me>
  /** @throws ServiceError `mount.rate_limited`, `mount.unavailable` */
  repositories(acting: Acting): Promise<MyRepositories>
  tokens(acting: Acting): Promise<MyTokens>
  /** @throws ServiceError `token.*`, `mount.*` */
  createToken(acting: Acting, request: TokenRequest): Promise<CreatedToken>
  /** @throws ServiceError `token.not_found` */
  deleteToken(acting: Acting, id: string): Promise<void>
  /** The newest first. */
  sessions(acting: Acting): Promise<SessionItem[]>
  /** Does nothing for one that has ended. */
  endSession(acting: Acting, id: string): Promise<void>
  /** @returns `pending`: everything is deleted here, and the host could not be asked to end its part; it is asked again once a day */
  signOut(acting: Acting, what: SignOut): Promise<'done' | 'pending'>
}

export interface AccountOptions {
  context: PeopleContext
  host: PeopleHost
  /** As everybody sees it. */
  gitHost: Pick<GitHost, 'segment' | 'repository'>
  credentials: HostCredentials
  /** The record of a viewer, as it was read for the request. */
  recordOf(viewer: PersonViewer): Promise<PersonRecord | null>
  /** Whether this deployment serves a repository. */
  isServed(repository: { host: string; owner: string; repository: string }): boolean
}

export function createAccount(options: AccountOptions): Account {
  const { context, host, credentials } = options
  const { records, audit, clock } = context

  async function requireRecord(viewer: PersonViewer): Promise<PersonRecord> {
    const record = await options.recordOf(viewer)
    if (record === null) throw new ServiceError('auth.required')
    return record
  }

  return {
    async me(viewer) {
      const account = viewer.kind === 'person' ? (await options.recordOf(viewer))?.host : null
      if (!account) return { user: null }
      const { kind, login, name, avatar } = account
      return { user: { host: kind, login, name, avatar } }
    },

    async repositories({ viewer }) {
      const answer = await credentials.ask(viewer.key, access => host.installations(access), await options.recordOf(viewer))
      const { items, truncated } = requirePersonal(answer)
      return { installUrl: host.installUrl, installations: items.map(installationItem), truncated }
    },

    async tokens({ viewer }) {
      const { tokens } = await requireRecord(viewer)
      return { items: activeTokens(tokens, clock.now()).map(tokenItem), limit: TOKENS_PER_PERSON }
    },

    async createToken({ viewer, origin }, request) {
      const repository = await requirePrivate(options, viewer, request.address)
      const { label, expiresInDays } = request
      const created = await createAgentToken(context, viewer.key, { repository, label, expiresInDays })
      if (created === null) throw new ServiceError('auth.required')
      const { id, address } = created.item
      audit.note('token.create', { origin, person: viewer.key, id, address, repositoryId: repository.id })
      return created
    },

    async deleteToken({ viewer, origin }, id) {
      const { address, repoId } = await deleteAgentToken(context, viewer.key, id)
      audit.note('token.delete', { origin, person: viewer.key, id, address, repositoryId: repoId })
    },

    async sessions({ viewer }) {
      const { sessions } = await requireRecord(viewer)
      return activeSessions(sessions, clock.now()).map(({ id, createdAt, seenAt, browser = null }) => {
        return { id, createdAt, seenAt, isCurrent: id === viewer.sessionId, browser }
      })
    },

    async endSession({ viewer, origin }, id) {
      if (await endSession(context, viewer.key, id)) audit.note('session.end', { origin, person: viewer.key, id })
      await releaseCredential(options, viewer.key)
    },

    async signOut({ viewer, origin }, what) {
      const person = viewer.key
      if (what === 'everything') {
        const end = await forget(options, person)
        audit.note('forget', { origin, person, ...(end === 'pending' ? { reason: 'the host could not be asked' } : {}) })
        return end
      }
      if (what === 'session') await endSession(context, person, viewer.sessionId)
      else await records.people.update([person], record => record && { ...record, sessions: [] })
      await releaseCredential(options, person)
      audit.note('signout', { origin, person, id: viewer.sessionId, reason: what })
      return 'done'
    },
  }
}

/** The repository of a new token, which the person sees and not everybody. @throws ServiceError `token.*`, `mount.*`, `auth.required` */
async function requirePrivate(
  { gitHost, host, credentials, isServed, recordOf }: AccountOptions,
  viewer: PersonViewer,
  text: string,
): Promise<HostRepository> {
  const { owner, repository: name, ref, path } = parseTokenAddress(text, gitHost.segment)
  if (ref !== null || path !== '') throw new ServiceError('token.not_a_repository')
  if (!isServed({ host: gitHost.segment, owner, repository: name })) throw new ServiceError('mount.not_allowed')
  const shown = await gitHost.repository(owner, name)
  if (shown.status === 'ok' && shown.value.visibility === 'public') throw new ServiceError('token.public_repository')
  const record = await recordOf(viewer)
  const seen = requirePersonal(await credentials.ask(viewer.key, access => host.repository(access, owner, name), record))
  if (seen.visibility === 'public') throw new ServiceError('token.public_repository')
  if (!isServed({ host: gitHost.segment, owner: seen.owner, repository: seen.name })) throw new ServiceError('mount.not_allowed')
  return seen
}

function parseTokenAddress(text: string, segment: string) {
  try {
    if (text.startsWith('/')) return parseAddress(text, [segment])
  } catch (cause) {
    throw new ServiceError('token.invalid', { cause, message: NO_REPOSITORY })
  }
  throw new ServiceError('token.invalid', { message: NO_REPOSITORY })
}

const NO_REPOSITORY = 'the address does not name a repository of the git host; it needs /gh/<owner>/<repository>'

/** @throws ServiceError `auth.required` when the host has ended the person's sign-in, `mount.*` */
export function requirePersonal<Value>(answer: PersonAnswer<Value>): Value {
  switch (answer.status) {
    case 'ok':
      return answer.value
    case 'signed_out':
      throw new ServiceError('auth.required')
    case 'missing':
      throw new ServiceError('mount.repo_not_found')
    default:
      throw troubleError(answer)
  }
}

function troubleError({ status, retryAfterSeconds }: Extract<HostAnswer<never>, { retryAfterSeconds: unknown }>): ServiceError {
  const code = status === 'rate_limited' ? 'mount.rate_limited' : 'mount.unavailable'
  return new ServiceError(code, retryAfterSeconds === null ? {} : { retryAfter: retryAfterSeconds })
}

function installationItem({ account, manageUrl, selection, repositories, truncated }: HostInstallation) {
  const items = repositories.map(({ host, owner, name, description, visibility }) => {
    return { address: `/${host}/${owner}/${name}`, owner, name, description, visibility }
  })
  return { account, manageUrl, selection, repositories: items, truncated }
}

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { HOST_NAMES } from '#core/address.ts'
import { mapFew } from '#core/concurrency/map-few.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import {
  type CredentialAnswer,
  type HostInstallation,
  type HostInstallations,
  type HostPerson,
  INSTALLATION_BOUNDS,
  type PeopleHost,
  type PersonAccess,
  type PersonAnswer,
} from '#core/ports/people-host.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type ApiAnswer, failureOf, type HostFailure, type Refused, UNAVAILABLE } from './answers.ts'
import { ApiClient, type ApiClientOptions, type AskOptions, type Question } from './api-client.ts'
import type { GitHubApp } from './app-tokens.ts'
import { ADDRESS_REFUSED } from './ask-with-credential.ts'
import type { Warn } from './daily-warnings.ts'
import { isDisabled, mapRepository, textOf, webAddressOf } from './map-repository.ts'
import { createSignIn, type SignIn } from './sign-in.ts'
import type { HostChange } from './webhook.ts'

export interface PeopleOptions extends Pick<ApiClientOptions, 'version' | 'clock' | 'closing' | 'answerMs' | 'retryWithinMs'> {
  app: GitHubApp
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  /** Without a trailing slash. */
  apiUrl: string
  isEnterprise: boolean
  patienceMs: number
  warn: Warn
  /** Told of a repository that a person sees as public, which other questions may still call missing. */
  onShownPublic(repository: HostRepository): void
}

/** People who sign in, and what each of them may see. Nothing of it is shared with other people or with other processes. */
export interface GitHubPeople extends PeopleHost {
  /** Drops what people saw of what changed. */
  applyChange(change: HostChange): void
  /** Drops everything that people saw. */
  forgetAll(): void
}

/** A person who lost access, or a repository that was hidden, is answered so within this time. */
const SEEN_SECONDS = 30
/** A person who was given access is answered so within this time. */
const UNSEEN_SECONDS = 10
const SEEN_BYTES = 16 * 1024 * 1024
/** API clients in memory, one for each credential, with a quota and a pause of its own. An evicted one is created again. */
const CLIENTS = 2_000
const MISSING = { status: 'missing' } as const
const SIGNED_OUT = { status: 'signed_out' } as const
const KEPT_OUT = { status: 'kept_out' } as const

type LookQuestion = Omit<Question, 'options'>

interface Seen {
  repository: HostRepository
  etag: string | null
}

const PersonBody = z.object({
  id: z.int().positive(),
  login: z.string().regex(HOST_NAMES.gh.owner),
  name: z.string().nullish(),
  avatar_url: z.string(),
})

export function createPeople(options: PeopleOptions): GitHubPeople {
  return new AppPeople(options)
}

class AppPeople implements GitHubPeople {
  readonly installUrl: string | null
  readonly #options: PeopleOptions
  readonly #signIn: SignIn
  readonly #seen: AnswerCache<Seen>
  /** By the key of the credential. */
  readonly #clients = new LRUCache<string, ApiClient>(entriesAtMost(CLIENTS))

  constructor(options: PeopleOptions) {
    const { app, url, isEnterprise, patienceMs, clock } = options
    const apps = isEnterprise ? 'github-apps' : 'apps'
    this.installUrl = app.slug === null ? null : `${url}/${apps}/${app.slug}/installations/new`
    this.#options = options
    this.#signIn = createSignIn(options)
    this.#seen = new AnswerCache({ maxBytes: SEEN_BYTES, patienceMs, missingSeconds: UNSEEN_SECONDS, clock })
  }

  signInUrl(request: { state: string; challenge: string; redirectUri: string }): string {
    return this.#signIn.url(request)
  }

  exchange({ code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string }): Promise<CredentialAnswer> {
    return this.#signIn.credential({ code, code_verifier: verifier, redirect_uri: redirectUri })
  }

  refresh(refreshToken: string): Promise<CredentialAnswer> {
    return this.#signIn.credential({ grant_type: 'refresh_token', refresh_token: refreshToken })
  }

  async person(access: PersonAccess): Promise<PersonAnswer<HostPerson>> {
    const answer = await this.#ask(access, { url: '/user', parameters: {} })
    if (answer.status === 'kept_out') return UNAVAILABLE
    if (answer.status !== 'ok') return answer.status === 'missing' || answer.status === 'signed_out' ? answer : failureOf(answer)
    const body = PersonBody.safeParse(answer.data).data
    if (body === undefined) return UNAVAILABLE
    const { id, login, name, avatar_url } = body
    const avatar = webAddressOf(avatar_url) ?? `${this.#options.url}/${login}.png`
    return { status: 'ok', value: { id: `gh-${id}`, login, name: textOf(name), avatar } }
  }

  async repository(access: PersonAccess, owner: string, name: string): Promise<PersonAnswer<HostRepository>> {
    if (!HOST_NAMES.gh.owner.test(owner) || !HOST_NAMES.gh.repository.test(name)) return MISSING
    const question = { url: '/repos/{owner}/{repo}', parameters: { owner, repo: name } }
    return await this.#find(access, `${owner}/${name}`, question)
  }

  async repositoryById(access: PersonAccess, id: string): Promise<PersonAnswer<HostRepository>> {
    return await this.#find(access, id, { url: '/repositories/{id}', parameters: { id: id.slice('gh-'.length) } })
  }

  /** @param subject the name or the id of the repository that the question asks for */
  async #find(access: PersonAccess, subject: string, question: LookQuestion): Promise<PersonAnswer<HostRepository>> {
    const key = `${credentialKey(access)} ${subject}`.toLowerCase()
    // While the host cannot be asked, private repositories are not shown: the person may have lost access since the last answer.
    const times = { freshSeconds: SEEN_SECONDS, staleSeconds: SEEN_SECONDS }
    try {
      const answer = await this.#seen.get(key, times, known => this.#look(access, question, known))
      return answer.status === 'ok' ? { status: 'ok', value: answer.value.repository } : answer
    } catch (error) {
      if (error instanceof SignedOut) return SIGNED_OUT
      throw error
    }
  }

  installations(access: PersonAccess): Promise<PersonAnswer<HostInstallations>> {
    return listInstallations((url, parameters) => this.#ask(access, { url, parameters }))
  }

  async revoke(access: PersonAccess): Promise<void> {
    this.#drop(access)
    await this.#signIn.end('token', access)
  }

  async forget(access: PersonAccess): Promise<PersonAnswer<null>> {
    this.#drop(access)
    const ending = await this.#signIn.end('grant', access)
    if (ending === 'unavailable') return UNAVAILABLE
    return ending === 'ended' ? { status: 'ok', value: null } : { status: 'signed_out' }
  }

  applyChange({ repositories, accounts, people }: HostChange): void {
    // The message names a person by the login, and what was seen by another key: all of it is asked again.
    if (people) this.forgetAll()
    const ids = new Set(repositories.map(({ id }) => id))
    const names = new Set(repositories.map(({ fullName }) => fullName.toLowerCase()))
    const logins = new Set(accounts.map(login => login.toLowerCase()))
    this.#seen.dropWhere((key, answer) => {
      const name = key.slice(key.lastIndexOf(' ') + 1)
      const isNamed = names.has(name) || ids.has(name) || logins.has(name.slice(0, name.indexOf('/')))
      return isNamed || (answer?.status === 'ok' && isOf(answer.value.repository, ids, logins))
    })
  }

  forgetAll(): void {
    this.#seen.dropWhere(() => true)
  }

  async #look(access: PersonAccess, question: LookQuestion, known: Seen | null): Promise<CachedAnswer<Seen> | HostFailure> {
    const options = known?.etag ? { etag: known.etag } : {}
    const answer = await this.#ask(access, question, options)
    if (answer.status === 'unchanged') return known === null ? UNAVAILABLE : { status: 'ok', value: known }
    if (answer.status === 'missing') return MISSING
    // Thrown, since it is an answer about the person, which is not kept with those about the repository.
    if (answer.status === 'signed_out') throw new SignedOut()
    if (answer.status === 'kept_out') return UNAVAILABLE
    if (answer.status !== 'ok') return failureOf(answer)
    const repository = mapRepository(answer.data)
    if (repository === null) return UNAVAILABLE
    if (isDisabled(answer.data)) return MISSING
    if (repository.visibility === 'public') this.#options.onShownPublic(repository)
    return { status: 'ok', value: { repository, etag: answer.etag } }
  }

  /** Asks with the credential of the person alone: a refusal is never asked again without it. */
  async #ask(access: PersonAccess, question: LookQuestion, options: AskOptions = {}): Promise<AnswerToPerson> {
    // The quota is the person's own, so no part of it is reserved for others.
    const answer = await this.#client(access).get({ ...question, options: { subject: 'known', ...options } })
    return answer.status === 'refused' ? this.#meaningOf(access, answer) : answer
  }

  #meaningOf(access: PersonAccess, { of, message }: Refused): HostFailure | typeof MISSING | typeof SIGNED_OUT | typeof KEPT_OUT {
    // The person may see it, but not from this server: access has not ended.
    if (of === 'address') {
      this.#options.warn(...ADDRESS_REFUSED)
      return KEPT_OUT
    }
    // A rule of the organization, such as a single sign-on, or a suspended installation.
    if (of === 'account' || SUSPENDED.test(message)) return MISSING
    if (of === 'version' || TOO_MANY.test(message)) return UNAVAILABLE
    this.#drop(access)
    return SIGNED_OUT
  }

  #drop(access: PersonAccess): void {
    const key = credentialKey(access)
    this.#clients.delete(key)
    this.#seen.dropWhere(one => one.startsWith(`${key} `))
  }

  #client(access: PersonAccess): ApiClient {
    const key = credentialKey(access)
    const found = this.#clients.get(key)
    if (found) return found
    const { apiUrl, version, clock, closing, warn, answerMs, retryWithinMs } = this.#options
    const token = access.accessToken
    const made = new ApiClient({ apiUrl, version, clock, closing, warn, answerMs, retryWithinMs, token })
    this.#clients.set(key, made)
    return made
  }
}

/** The host no longer accepts the credential. */
class SignedOut extends Error {}

const SUSPENDED = /suspended/i
const TOO_MANY = /login attempts/i

/** What was seen is kept for each credential: another one of the same person may reach less. In lower case, without the token. */
function credentialKey({ key, accessToken }: PersonAccess): string {
  return `${createHash('sha256').update(key).digest('hex').slice(0, 24)}.${createHash('sha256').update(accessToken).digest('hex').slice(0, 24)}`
}

function isOf({ id, owner }: HostRepository, ids: ReadonlySet<string>, logins: ReadonlySet<string>): boolean {
  return ids.has(id) || logins.has(owner.toLowerCase())
}

/** An answer to a question with the credential of one person. `kept_out`: the account refuses the address of this server. */
type AnswerToPerson = ApiAnswer | { status: 'missing' } | { status: 'signed_out' } | KeptOut
type KeptOut = { status: 'kept_out' }

/** Asks with the credential of one person. */
type AskPerson = (url: string, parameters: Readonly<Record<string, string | number>>) => Promise<AnswerToPerson>

const PAGE = 100
/** An installation with such an answer is left out, and the others are listed. */
const PASSED_OVER: ReadonlySet<string> = new Set(['ok', 'missing', 'kept_out'])

const InstallationBody = z.object({
  id: z.int().positive(),
  account: z.object({ login: z.string(), type: z.string(), avatar_url: z.string() }),
  html_url: z.string().optional(),
  repository_selection: z.enum(['all', 'selected']),
  suspended_at: z.string().nullish(),
})
type InstallationBody = z.infer<typeof InstallationBody>
/** The installation of an enterprise has an account without a login; it owns no repositories. */
const InstallationsPage = z.object({ total_count: z.int().min(0), installations: z.array(z.unknown()) })
const RepositoriesPage = z.object({ total_count: z.int().min(0), repositories: z.array(z.unknown()) })

interface ListedPage {
  total: number
  repositories: HostRepository[]
  /** Repositories on the page, closed ones too. */
  listed: number
}

/** What the person and the App both reach, within `INSTALLATION_BOUNDS`. Suspended installations are left out. */
async function listInstallations(ask: AskPerson): Promise<PersonAnswer<HostInstallations>> {
  const answer = await ask('/user/installations', { per_page: PAGE })
  // The list itself is always there: without it, nothing is known of the person.
  if (answer.status === 'missing' || answer.status === 'kept_out') return UNAVAILABLE
  if (answer.status !== 'ok') return withoutValue(answer)
  const page = InstallationsPage.safeParse(answer.data).data
  if (page === undefined) return UNAVAILABLE
  const reached = page.installations
    .flatMap(one => InstallationBody.safeParse(one).data ?? [])
    .filter(({ suspended_at }) => !suspended_at)
  const listed = reached.slice(0, INSTALLATION_BOUNDS.installations)
  const firsts = await mapFew(listed, ({ id }) => askPage(ask, id, 1))
  const failed = firsts.find(first => !PASSED_OVER.has(first.status))
  if (failed) return failed as PersonAnswer<never>

  const items: HostInstallation[] = []
  let left: number = INSTALLATION_BOUNDS.repositories
  for (const [index, installation] of listed.entries()) {
    const first = firsts[index]
    // It was removed or suspended since the list was made, or its account refuses the address of this server.
    if (first?.status !== 'ok') continue
    const found = await readRest(ask, installation, first.value, left)
    if (found.status !== 'ok') return found
    left -= found.value.repositories.length
    items.push(found.value)
  }
  const isKeptOut = firsts.some(first => first.status === 'kept_out')
  const isCut = isKeptOut || reached.length > listed.length || page.total_count > page.installations.length
  return { status: 'ok', value: { items, truncated: isCut } }
}

/** The installation with at most `left` repositories. */
async function readRest(
  ask: AskPerson,
  installation: InstallationBody,
  first: ListedPage,
  left: number,
): Promise<PersonAnswer<HostInstallation>> {
  const repositories = [...first.repositories]
  let seen = first.listed
  for (let page = 2; seen < first.total && repositories.length < left; page++) {
    const next = await askPage(ask, installation.id, page)
    if (next.status === 'missing' || next.status === 'kept_out') break
    if (next.status !== 'ok') return next
    if (next.value.listed === 0) break
    repositories.push(...next.value.repositories)
    seen += next.value.listed
  }
  const { account, html_url, repository_selection } = installation
  return {
    status: 'ok',
    value: {
      account: {
        login: account.login,
        kind: account.type === 'Organization' ? 'organization' : 'user',
        avatar: webAddressOf(account.avatar_url) ?? '',
      },
      manageUrl: html_url === undefined ? null : webAddressOf(html_url),
      selection: repository_selection,
      repositories: repositories.slice(0, left),
      truncated: seen < first.total || repositories.length > left,
    },
  }
}

async function askPage(ask: AskPerson, id: number, page: number): Promise<PersonAnswer<ListedPage> | KeptOut> {
  const url = '/user/installations/{installation_id}/repositories'
  const answer = await ask(url, { installation_id: id, per_page: PAGE, page })
  if (answer.status === 'kept_out') return answer
  if (answer.status !== 'ok') return withoutValue(answer)
  const body = RepositoriesPage.safeParse(answer.data).data
  if (body === undefined) return UNAVAILABLE
  const repositories = body.repositories.flatMap(one => (isDisabled(one) ? [] : (mapRepository(one) ?? [])))
  return { status: 'ok', value: { total: body.total_count, repositories, listed: body.repositories.length } }
}

function withoutValue(answer: Exclude<AnswerToPerson, KeptOut>): PersonAnswer<never> {
  if (answer.status === 'missing') return { status: 'missing' }
  return answer.status === 'signed_out' ? answer : failureOf(answer as ApiAnswer)
}

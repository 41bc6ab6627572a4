import { z } from 'zod'
import { HOST_NAMES } from '#core/address.ts'
import type {
  AccountDirectory,
  HostAccount,
  HostAnswer,
  HostRepository,
  ListedPage,
  ListedRepository,
} from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { failureOf, type HostFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import type { AskOptions } from './api-client.ts'
import type { BlockedRepositories } from './blocked.ts'
import { isShown, textOf, webAddressOf } from './map-repository.ts'
import type { Subject } from './quota.ts'

export interface AccountsOptions {
  api: GitHubApi
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  clock: Clock
  patienceMs: number
  /** The public repository, as shown at most a minute ago. */
  shown(owner: string, name: string): Promise<HostAnswer<HostRepository>>
  /** The listings of the host still name blocked repositories. */
  blocked: Pick<BlockedRepositories, 'without'>
}

interface Known<Value> {
  value: Value
  etag: string | null
}

interface KnownPage extends Known<ListedPage> {
  /** Of the account, in lower case. */
  login: string
}

const ACCOUNT = { freshSeconds: 300, staleSeconds: 600 }
/** A repository that the host hides leaves the listing here within `freshSeconds`. */
const LISTING = { freshSeconds: 60, staleSeconds: 600 }
const PAGE_SIZE = 30

const MISSING = { status: 'missing' } as const

export interface Accounts extends AccountDirectory {
  /** Drops the listings of these accounts. @param logins in lower case */
  forgetListings(logins: ReadonlySet<string>): void
  /** Drops everything known of these accounts. @param logins in lower case */
  forget(logins: ReadonlySet<string>): void
  /** Has everything asked again. */
  expireAll(): void
}

/** Accounts and their public repositories, whatever the credential may see. */
export function createAccounts(options: AccountsOptions): Accounts {
  return new GitHubAccounts(options)
}

class GitHubAccounts implements Accounts {
  readonly #options: AccountsOptions
  readonly #accounts: AnswerCache<Known<HostAccount>>
  readonly #pages: AnswerCache<KnownPage>

  constructor(options: AccountsOptions) {
    const { patienceMs, clock } = options
    this.#options = options
    this.#accounts = new AnswerCache<Known<HostAccount>>({ patienceMs, clock })
    this.#pages = new AnswerCache<KnownPage>({ patienceMs, clock })
  }

  async account(login: string): Promise<HostAnswer<HostAccount>> {
    const answer = await this.#accounts.get(login.toLowerCase(), ACCOUNT, known => this.#askAccount(login, known))
    return answer.status === 'ok' ? { status: 'ok', value: answer.value.value } : answer
  }

  async repositories({ id, login, publicRepositories }: HostAccount, page: number): Promise<HostAnswer<ListedPage>> {
    if (page > Math.max(1, Math.ceil(publicRepositories / PAGE_SIZE)))
      return { status: 'ok', value: { items: [], hasNext: false } }
    const answer = await this.#pages.get(`${id} ${page}`, LISTING, known => this.#askPage(login, page, known))
    if (answer.status !== 'ok') return answer
    const { items, hasNext } = answer.value.value
    return { status: 'ok', value: { items: await this.#options.blocked.without(items), hasNext } }
  }

  shown(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    return this.#options.shown(owner, name)
  }

  forgetListings(logins: ReadonlySet<string>): void {
    // The account of a page that is being asked for, or is missing, is unknown, so that page is dropped as well.
    this.#pages.dropWhere((_, answer) => answer?.status !== 'ok' || logins.has(answer.value.login))
  }

  forget(logins: ReadonlySet<string>): void {
    this.#accounts.dropWhere(key => logins.has(key))
    this.forgetListings(logins)
  }

  expireAll(): void {
    this.#accounts.expireWhere(() => true)
    this.#pages.expireWhere(() => true)
  }

  async #askAccount(login: string, known: Known<HostAccount> | null): Promise<CachedAnswer<Known<HostAccount>> | HostFailure> {
    const { api, url } = this.#options
    const answer = await api.get('/users/{username}', { username: login }, askOptionsOf(known, 'account'))
    if (answer.status === 'unchanged' && known) return { status: 'ok', value: known }
    if (answer.status === 'missing') return MISSING
    if (answer.status !== 'ok') return failureOf(answer)
    const account = readAccount(answer.data, url)
    if (account === null) return UNAVAILABLE
    return account.kind === 'user'
      ? { status: 'ok', value: { value: account, etag: answer.etag } }
      : this.#describeOrganization(account, known)
  }

  /** Adds the description, which is in another answer. So no etag covers the whole account. */
  async #describeOrganization(
    account: HostAccount,
    known: Known<HostAccount> | null,
  ): Promise<CachedAnswer<Known<HostAccount>> | HostFailure> {
    const options = askOptionsOf(known && { etag: null }, 'shown')
    const described = await this.#options.api.get('/orgs/{org}', { org: account.login }, options)
    if (described.status !== 'ok' && described.status !== 'missing') return failureOf(described)
    const bio = described.status === 'ok' ? readOrganizationText(described.data) : null
    return { status: 'ok', value: { value: { ...account, bio }, etag: null } }
  }

  async #askPage(login: string, page: number, known: KnownPage | null): Promise<CachedAnswer<KnownPage> | HostFailure> {
    const parameters = { username: login, type: 'owner', sort: 'pushed', direction: 'desc', per_page: PAGE_SIZE, page }
    // A large account has a hundred pages, so only the first one counts as known.
    const options = askOptionsOf(known, 'page', page > 1 ? 'page' : 'known')
    const answer = await this.#options.api.get('/users/{username}/repos', parameters, options)
    const asked = { login: login.toLowerCase() }
    if (answer.status === 'unchanged' && known) return { status: 'ok', value: { ...known, ...asked } }
    if (answer.status === 'missing') return MISSING
    if (answer.status !== 'ok') return failureOf(answer)
    const items = readListing(answer.data)
    if (items === null) return UNAVAILABLE
    const hasNext = /;\s*rel="next"/.test(answer.link ?? '')
    return { status: 'ok', value: { value: { items, hasNext }, ...asked, etag: answer.etag } }
  }
}

/** @param known the cached answer. @param first the subject without one. @param again the subject with one */
function askOptionsOf(known: { etag: string | null } | null, first: Subject, again: Subject = 'known'): AskOptions {
  return { subject: known === null ? first : again, ...(known?.etag ? { etag: known.etag } : {}) }
}

const Names = HOST_NAMES.gh

const AccountBody = z.object({
  id: z.int().positive(),
  login: z.string().regex(Names.owner),
  type: z.string(),
  name: z.string().nullish(),
  bio: z.string().nullish(),
  avatar_url: z.string(),
  public_repos: z.int().min(0),
})

/** Parses an account of the API; `null` when the body does not describe one. @param webUrl origin of the host's pages */
function readAccount(body: unknown, webUrl: string): HostAccount | null {
  const parsed = AccountBody.safeParse(body)
  if (!parsed.success) return null
  const { id, login, type, name, bio, avatar_url, public_repos } = parsed.data
  return {
    id: `gh-${id}`,
    host: 'gh',
    login,
    name: textOf(name),
    bio: textOf(bio),
    kind: type === 'Organization' ? 'organization' : 'user',
    avatar: webAddressOf(avatar_url),
    url: `${webUrl}/${login}`,
    publicRepositories: public_repos,
  }
}

const OrganizationBody = z.object({ description: z.string().nullish() })

/** The description of an organization; `null` when it is blank. */
function readOrganizationText(body: unknown): string | null {
  return textOf(OrganizationBody.safeParse(body).data?.description)
}

const ListedBody = z.object({
  id: z.int().positive(),
  name: z.string().regex(Names.repository),
  owner: z.object({ login: z.string().regex(Names.owner) }),
  description: z.string().nullish(),
  private: z.boolean(),
  visibility: z.string().optional(),
  disabled: z.boolean().optional(),
  fork: z.boolean(),
  archived: z.boolean().optional(),
  stargazers_count: z.int().min(0).optional(),
  pushed_at: z.iso.datetime({ offset: true }).nullish(),
})

/** The public repositories of a listing, in its order; `null` when the body is not a listing. */
function readListing(body: unknown): ListedRepository[] | null {
  const parsed = z.array(z.unknown()).safeParse(body)
  if (!parsed.success) return null
  return parsed.data.flatMap(one => {
    const repository = ListedBody.safeParse(one).data
    if (!repository || !isShown(repository)) return []
    const { id, name, owner, description, fork, archived = false, stargazers_count: stars = 0, pushed_at } = repository
    const pushedAt = pushed_at ? new Date(pushed_at).toISOString() : null
    return [{ id: `gh-${id}`, owner: owner.login, name, description: textOf(description), fork, archived, stars, pushedAt }]
  })
}

import type { AccountDirectory, HostAccount, HostAnswer, HostRepository, ListedPage } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type Kept } from './answer-cache.ts'
import { type Trouble, troubleOf, UNAVAILABLE } from './answers.ts'
import type { AskOptions, GitHubApi } from './api.ts'
import { readAccount, readListing, readOrganizationText } from './described-accounts.ts'

export interface AccountsOptions {
  api: GitHubApi
  /** Where people look, without a slash at its end. */
  url: string
  clock: Clock
  patienceMs: number
  /** As the host shows it to everyone, at most a minute ago. */
  shown(owner: string, name: string): Promise<HostAnswer<HostRepository>>
  /** Whether the host was seen to withhold the repository: its listings have it all the same. */
  isBlocked(owner: string, name: string): boolean
}

interface Known<Value> {
  value: Value
  etag: string | null
}

const ACCOUNT = { freshSeconds: 300, staleSeconds: 600 }
/** What the host stops to show leaves its listings within so long. */
const LISTING = { freshSeconds: 60, staleSeconds: 600 }
const PAGE_SIZE = 30
const HELD_ACCOUNTS = 2_000
const HELD_PAGES = 2_000

const MISSING = { status: 'missing' } as const

export interface Accounts extends AccountDirectory {
  /** What these accounts list has changed. @param logins in lower case */
  forgetListings(logins: ReadonlySet<string>): void
}

/** Accounts and what they list. All of it is public, whatever the credential may see. */
export function createAccounts({ api, url, clock, patienceMs, shown, isBlocked }: AccountsOptions): Accounts {
  const accounts = new AnswerCache<Known<HostAccount>>({ capacity: HELD_ACCOUNTS, patienceMs, clock })
  const pages = new AnswerCache<Known<ListedPage>>({ capacity: HELD_PAGES, patienceMs, clock })

  async function askAccount(login: string, known: Known<HostAccount> | null): Promise<Kept<Known<HostAccount>> | Trouble> {
    const answer = await api.get('/users/{username}', { username: login }, again(known))
    if (answer.status === 'unchanged' && known) return { status: 'ok', value: known }
    if (answer.status === 'missing') return MISSING
    if (answer.status !== 'ok') return troubleOf(answer)
    const account = readAccount(answer.data, url)
    if (account === null) return UNAVAILABLE
    if (account.kind === 'user') return { status: 'ok', value: { value: account, etag: answer.etag } }
    // What an organisation says of itself stands elsewhere, so the tag of this answer does not cover it.
    const described = await api.get('/orgs/{org}', { org: account.login }, again(known && { ...known, etag: null }))
    if (described.status !== 'ok' && described.status !== 'missing') return troubleOf(described)
    const bio = described.status === 'ok' ? readOrganizationText(described.data) : null
    return { status: 'ok', value: { value: { ...account, bio }, etag: null } }
  }

  async function askPage(
    login: string,
    page: number,
    known: Known<ListedPage> | null,
  ): Promise<Kept<Known<ListedPage>> | Trouble> {
    const answer = await api.get(
      '/users/{username}/repos',
      { username: login, type: 'owner', sort: 'pushed', direction: 'desc', per_page: PAGE_SIZE, page },
      again(known),
    )
    if (answer.status === 'unchanged' && known) return { status: 'ok', value: known }
    if (answer.status === 'missing') return MISSING
    if (answer.status !== 'ok') return troubleOf(answer)
    const items = readListing(answer.data)
    if (items === null) return UNAVAILABLE
    return { status: 'ok', value: { value: { items, hasNext: /;\s*rel="next"/.test(answer.link ?? '') }, etag: answer.etag } }
  }

  return {
    async account(login) {
      const answer = await accounts.get(login.toLowerCase(), ACCOUNT, known => askAccount(login, known))
      return answer.status === 'ok' ? { status: 'ok', value: answer.value.value } : answer
    },

    async repositories({ id, login }, page) {
      const answer = await pages.get(`${id} ${page}`, LISTING, known => askPage(login, page, known))
      if (answer.status !== 'ok') return answer
      const { items, hasNext } = answer.value.value
      return { status: 'ok', value: { items: items.filter(({ owner, name }) => !isBlocked(owner, name)), hasNext } }
    },

    shown,

    forgetListings(logins) {
      const isOfAccount = ({ owner }: { owner: string }) => logins.has(owner.toLowerCase())
      // Of a page that is being asked for nobody knows yet whose it is.
      pages.dropWhere((_, answer) => answer === null || (answer.status === 'ok' && answer.value.value.items.some(isOfAccount)))
    },
  }
}

/** How a question is asked whose last answer is known. */
function again(known: { etag: string | null } | null): AskOptions {
  return { isAgain: known !== null, ...(known?.etag ? { etag: known.etag } : {}) }
}

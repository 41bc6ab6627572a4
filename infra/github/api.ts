import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type ApiAnswer, type HostFailure, type Refused, UNAVAILABLE } from './answers.ts'
import { ApiClient, type AskOptions, type Question } from './api-client.ts'
import { askWithCredential, isRefused } from './ask-with-credential.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import type { Subject } from './quota.ts'
import type { SharedCache } from './shared-cache.ts'
import { createTokenScope, type TokenScope } from './token-scope.ts'

/** GitHub's API, asked with the operator's token where GitHub accepts it, and without where it does not. */
export interface GitHubApi {
  /** @param url template below the API's base: `/repos/{owner}/{repo}` */
  get(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<ApiAnswer>
  /** Why a question may not be asked now; `null` when it may. */
  refusal(subject: Subject): HostFailure | null
  /** Whether the token may see private repositories. `true` until an answer of the host says otherwise. */
  readonly maySeePrivate: boolean
  /** How old the knowledge may be that the token does not see private repositories, in seconds. */
  readonly scopeSeconds: number
  /** See `GitHost.quota`. */
  quota(): HostQuota | null
  /** Asks what the token sees, and says it in a sentence; `null` without a token, or when the host does not answer. */
  describeToken(): Promise<string | null>
}

export interface GitHubApiOptions {
  /** Without a trailing slash. */
  apiUrl: string
  /** Whether it is the API of an Enterprise Server. */
  isEnterprise: boolean
  credential: Credential
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  warn: Warn
  /** What other processes asked with the same token. Default: this process shares nothing. */
  shared?: SharedCache | null
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number
  /** A failed request is retried only if it failed within this time. Default: 1 s. */
  retryWithinMs?: number
}

/**
 * The newest version. What changed since 2022-11-28 is in answers that this driver does not ask for. Enterprise Servers learn of versions
 * late, and refuse those that they do not know.
 */
const API_VERSION = '2026-03-10'
const ENTERPRISE_API_VERSION = '2022-11-28'

/** @param isEnterprise whether it is the API of an Enterprise Server */
export function apiVersion(isEnterprise: boolean): string {
  return isEnterprise ? ENTERPRISE_API_VERSION : API_VERSION
}

export function createGitHubApi(options: GitHubApiOptions): GitHubApi {
  return new CredentialedApi(options)
}

class CredentialedApi implements GitHubApi {
  readonly #options: GitHubApiOptions
  readonly #withToken: ApiClient
  readonly #withoutToken: ApiClient
  readonly #scope: TokenScope

  constructor(options: GitHubApiOptions) {
    const { apiUrl, isEnterprise, credential, clock, closing, warn, answerMs, retryWithinMs } = options
    this.#options = options
    const version = apiVersion(isEnterprise)
    const common = { apiUrl, version, clock, closing, warn, answerMs, retryWithinMs }
    this.#withoutToken = new ApiClient({ ...common, token: null })
    this.#withToken = new ApiClient({
      ...common,
      token: credential.token,
      onHeaders: headers => this.#scope.note(headers),
    })
    this.#scope = createTokenScope({
      token: credential.token,
      clock,
      get: (url, parameters) => this.#getWithToken(url, parameters),
      shared: options.shared ?? null,
    })
  }

  get maySeePrivate(): boolean {
    return this.#scope.maySeePrivate()
  }

  get scopeSeconds(): number {
    return this.#scope.seconds
  }

  quota(): HostQuota | null {
    return this.#main.quota()
  }

  refusal(subject: Subject): HostFailure | null {
    return this.#main.refusal(subject)
  }

  get(url: string, parameters: Question['parameters'], options: AskOptions = {}): Promise<ApiAnswer> {
    return this.#ask(parameters, options, client => client.get({ url, parameters, options }))
  }

  describeToken(): Promise<string | null> {
    return this.#scope.describe()
  }

  /** The client that most questions use now. */
  get #main(): ApiClient {
    return this.#options.credential.useFor(null) === 'never' ? this.#withoutToken : this.#withToken
  }

  /** See `askWithCredential`. */
  async #ask<Answer extends { status: string }>(
    parameters: Question['parameters'],
    { subject = 'shown' }: AskOptions,
    ask: (client: ApiClient) => Promise<Answer | Refused>,
  ): Promise<Answer | HostFailure> {
    const answer = await askWithCredential(this.#options, {
      account: accountOf(parameters),
      mayAsk: () => this.#withToken.refusal(subject) === null,
      ask: withToken => ask(withToken ? this.#withToken : this.#withoutToken),
    })
    return isRefused(answer) ? UNAVAILABLE : answer
  }

  /** Asks with the token or not at all: the answer is about the token itself, for example what it may see. */
  async #getWithToken(url: string, parameters: Question['parameters']): Promise<ApiAnswer> {
    if (this.#options.credential.useFor(null) === 'never') return UNAVAILABLE
    const options = { subject: 'known' } as const
    return this.#ask(parameters, options, client =>
      client === this.#withToken ? client.get({ url, parameters, options }) : Promise.resolve(UNAVAILABLE),
    )
  }
}

/** The account in whose repositories the question is; `null` when the question does not name it. */
function accountOf({ owner, username, org }: Question['parameters']): string | null {
  const account = owner ?? username ?? org
  return account === undefined ? null : String(account)
}

import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type ApiAnswer, type Refused, type Trouble, troubleOf, UNAVAILABLE } from './answers.ts'
import { ApiClient, type AskOptions, type Headers, type Place, type Question } from './api-client.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import type { Subject } from './quota.ts'
import { noteRefused } from './token-refusals.ts'
import { createTokenSight, type TokenSight } from './token-sight.ts'

/** GitHub's API, asked with the operator's token where GitHub accepts it, and without where it does not. */
export interface GitHubApi {
  /** @param url template below the API's base: `/repos/{owner}/{repo}` */
  get(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<ApiAnswer>
  /** The target of the API's redirect, as an absolute URL. @param url as for `get` */
  locate(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<Place | Trouble>
  /** Why a question may not be asked now; `null` when it may. */
  refusal(subject: Subject): Trouble | null
  /** Whether the token may see private repositories. `true` until an answer of the host says otherwise. */
  readonly maySeePrivate: boolean
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

export function createGitHubApi(options: GitHubApiOptions): GitHubApi {
  return new CredentialedApi(options)
}

class CredentialedApi implements GitHubApi {
  readonly #options: GitHubApiOptions
  readonly #withToken: ApiClient
  readonly #withoutToken: ApiClient
  readonly #sight: TokenSight

  constructor(options: GitHubApiOptions) {
    const { apiUrl, isEnterprise, credential, clock, closing, answerMs, retryWithinMs } = options
    this.#options = options
    const version = isEnterprise ? ENTERPRISE_API_VERSION : API_VERSION
    const common = { apiUrl, version, clock, closing, answerMs, retryWithinMs }
    const onHeaders = (headers: Headers) => this.#noteRetirement(headers)
    this.#withoutToken = new ApiClient({ ...common, token: null, onHeaders })
    this.#withToken = new ApiClient({
      ...common,
      token: credential.token,
      onHeaders: headers => {
        onHeaders(headers)
        this.#sight.note(headers)
      },
    })
    this.#sight = createTokenSight({
      token: credential.token,
      clock,
      get: (url, parameters) => this.#getWithToken(url, parameters),
    })
  }

  get maySeePrivate(): boolean {
    return this.#sight.maySeePrivate()
  }

  quota(): HostQuota | null {
    return this.#main.quota()
  }

  refusal(subject: Subject): Trouble | null {
    return this.#main.refusal(subject)
  }

  get(url: string, parameters: Question['parameters'], options: AskOptions = {}): Promise<ApiAnswer> {
    return this.#ask(parameters, client => client.get({ url, parameters, options }))
  }

  async locate(url: string, parameters: Question['parameters'], options: AskOptions = {}): Promise<Place | Trouble> {
    const answer = await this.#ask(parameters, client => client.locate({ url, parameters, options }))
    return 'url' in answer ? answer : troubleOf(answer)
  }

  describeToken(): Promise<string | null> {
    return this.#sight.describe()
  }

  get #main(): ApiClient {
    return this.#options.credential.token === null ? this.#withoutToken : this.#withToken
  }

  /** With the token; again without it where the host refuses the token. */
  async #ask<Answer>(
    parameters: Question['parameters'],
    ask: (client: ApiClient) => Promise<Answer | Refused>,
  ): Promise<Exclude<Answer, Refused> | Trouble> {
    const { credential, warn } = this.#options
    const account = accountOf(parameters)
    if (credential.mayAsk(account)) {
      const answer = await ask(this.#withToken)
      if (!isRefused(answer)) {
        if (isAnswer(answer)) credential.noteValid()
        return answer as Exclude<Answer, Refused>
      }
      noteRefused(answer, account, true, { credential, warn })
      if (answer.of === 'version') return UNAVAILABLE
    }
    const answer = await ask(this.#withoutToken)
    if (!isRefused(answer)) return answer as Exclude<Answer, Refused>
    noteRefused(answer, account, false, { credential, warn })
    return UNAVAILABLE
  }

  /** Only with the token: the answer is about the token. */
  async #getWithToken(url: string, parameters: Question['parameters']): Promise<ApiAnswer | Refused> {
    const { credential, warn } = this.#options
    if (!credential.mayAsk(null)) return UNAVAILABLE
    const answer = await this.#withToken.get({ url, parameters, options: {} })
    if (isRefused(answer) && answer.of !== 'account') noteRefused(answer, null, true, { credential, warn })
    return answer
  }

  /** GitHub announces in every answer that it is about to retire the version. */
  #noteRetirement({ deprecation, sunset }: Headers): void {
    if (deprecation === undefined && sunset === undefined) return
    const end = sunset === undefined ? 'soon' : `on ${String(sunset).slice(0, 40)}`
    this.#options.warn('retirement', `GitHub stops answering this version of its API ${end}: update Mountglass before`)
  }
}

function isRefused(answer: unknown): answer is Refused {
  return (answer as { status?: unknown }).status === 'refused'
}

/** Whether the host answered, and knows the token. */
function isAnswer(answer: unknown): boolean {
  const { status } = answer as { status?: unknown }
  return status !== 'unavailable' && status !== 'rate_limited'
}

/** The account in whose repositories the question is; `null` when the question does not name it. */
function accountOf({ owner, username, org }: Question['parameters']): string | null {
  const account = owner ?? username ?? org
  return account === undefined ? null : String(account)
}

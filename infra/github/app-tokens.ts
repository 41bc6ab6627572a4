import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import { type ApiAnswer, failureOf, type Refused, UNAVAILABLE } from './answers.ts'
import { ApiClient, type ApiClientOptions } from './api-client.ts'
import { ADDRESS_REFUSED } from './ask-with-credential.ts'
import type { Warn } from './daily-warnings.ts'

/** Tokens that read one private repository each. */
export interface RepositoryTokens {
  /**
   * A token for this repository alone, which may be used for at least ten minutes. `missing`: the App is not installed on it, or its installation is
   * suspended. It belongs to the id: a repository that takes over the name has another one.
   */
  token(repository: TokenSubject): Promise<HostAnswer<string>>
  /** Has new tokens made for the repositories. */
  forget(ids: Iterable<string>): void
}

export type TokenSubject = Pick<HostRepository, 'id' | 'owner' | 'name'>

export interface AppTokensOptions
  extends Pick<ApiClientOptions, 'apiUrl' | 'version' | 'clock' | 'closing' | 'answerMs' | 'retryWithinMs'> {
  app: GitHubApp
  warn: Warn
}

/** A cached token is used until this time before it expires, so that it outlives the job. GitHub's installation tokens live an hour. */
const LEFT_SECONDS = 600
/** An App that was installed a moment ago is noticed after this time. */
const MISSING_SECONDS = 10
/** A token has some 600 characters. */
const TOKENS = 10_000
const MISSING = { status: 'missing' } as const

interface Kept {
  answer: { status: 'ok'; value: string } | typeof MISSING
  /** In milliseconds since 1970. */
  until: number
}

const InstallationBody = z.object({ id: z.int().positive(), suspended_at: z.string().nullish() })
const TokenBody = z.object({ token: z.string().min(1).max(4096), expires_at: z.iso.datetime({ offset: true }) })

/** Installation access tokens of the GitHub App, for one repository each, cached in the memory of this process. */
export function createAppTokens(options: AppTokensOptions): RepositoryTokens {
  const { app, apiUrl, version, clock, closing, answerMs, retryWithinMs, warn } = options
  const client = new ApiClient({
    apiUrl,
    version,
    clock,
    closing,
    answerMs,
    retryWithinMs,
    token: null,
    warn,
    connect: async octokit => {
      // Loaded by the first private repository: most deployments read none. It signs the JWT of the App, and corrects it where clocks differ.
      const [{ Octokit }, { createAppAuth }] = await Promise.all([import('@octokit/core'), import('@octokit/auth-app')])
      const { id, privateKey, clientId, clientSecret } = app
      return new Octokit({ ...octokit, authStrategy: createAppAuth, auth: { appId: id, privateKey, clientId, clientSecret } })
    },
  })
  const kept = new LRUCache<string, Kept>(entriesAtMost(TOKENS))
  const making = createSingleFlight<HostAnswer<string>>()

  async function make(repository: TokenSubject): Promise<HostAnswer<string>> {
    const { owner, name } = repository
    const found = await client.get({
      url: '/repos/{owner}/{repo}/installation',
      parameters: { owner, repo: name },
      options: { subject: 'known' },
    })
    if (found.status !== 'ok') return withoutToken(found, warn)
    const installation = InstallationBody.safeParse(found.data).data
    if (installation === undefined) return UNAVAILABLE
    if (installation.suspended_at) return MISSING
    const made = await client.get({
      method: 'POST',
      url: '/app/installations/{installation_id}/access_tokens',
      parameters: {
        installation_id: installation.id,
        repository_ids: [Number(repository.id.slice('gh-'.length))],
        permissions: { contents: 'read', metadata: 'read' },
      },
      options: { subject: 'known' },
    })
    if (made.status !== 'ok') return withoutToken(made, warn)
    const token = TokenBody.safeParse(made.data).data
    if (token === undefined) return UNAVAILABLE
    return keep(repository.id, { status: 'ok', value: token.token }, Date.parse(token.expires_at) - LEFT_SECONDS * 1000)
  }

  function keep(id: string, answer: Kept['answer'], until: number): HostAnswer<string> {
    kept.set(id, { answer, until })
    return answer
  }

  const now = () => clock.now().getTime()

  return {
    async token(repository) {
      const known = kept.get(repository.id)
      if (known && now() < known.until) return known.answer
      return making.run(repository.id, async isForgotten => {
        const answer = await make(repository)
        if (isForgotten()) kept.delete(repository.id)
        else if (answer.status === 'missing') keep(repository.id, MISSING, now() + MISSING_SECONDS * 1000)
        return answer
      })
    },
    forget(ids) {
      for (const id of ids) {
        kept.delete(id)
        making.forget(id)
      }
    },
  }
}

function withoutToken(answer: ApiAnswer | Refused, warn: Warn): HostAnswer<never> {
  switch (answer.status) {
    case 'missing':
    // The installation does not reach the repository.
    case 'no_commit':
      return MISSING
    case 'refused':
      // The installation is suspended.
      if (answer.of === 'account') return MISSING
      if (answer.of === 'address') {
        warn(...ADDRESS_REFUSED)
        return UNAVAILABLE
      }
      warn(
        `app ${answer.of}`,
        'GitHub refuses the key of the App, so no private repository is read: correct MOUNTGLASS_GITHUB_APP_ID and _PRIVATE_KEY',
      )
      return UNAVAILABLE
    default:
      return failureOf(answer)
  }
}

/** Tokens that the process that started this one gave to it: each is for the repository of one job. */
export interface GivenTokens extends RepositoryTokens {
  give(repositoryId: string, token: string | null): void
}

export function createGivenTokens(): GivenTokens {
  let given: { id: string; token: string } | null = null
  return {
    give(id, token) {
      given = token === null ? null : { id, token }
    },
    async token({ id }) {
      return given?.id === id ? { status: 'ok', value: given.token } : MISSING
    },
    forget() {},
  }
}

/** A GitHub App, as its owner registered it. */
export interface GitHubApp {
  id: string
  clientId: string
  clientSecret: string
  /** PKCS#8 PEM. */
  privateKey: string
  /** Name in URLs; `null`: unknown. */
  slug: string | null
}

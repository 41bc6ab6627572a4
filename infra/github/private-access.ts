import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entriesAtMost } from '#core/memory.ts'
import type { HostAnswer } from '#core/ports/git-host.ts'
import { type Remote, RemoteRefusal } from '../git/upload-pack.ts'
import { type ApiAnswer, Paused, type Refused, readGitFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { ApiClient, type ApiClientOptions, type AskOptions, type Question } from './api-client.ts'
import type { RepositoryTokens, TokenSubject } from './app-tokens.ts'
import type { Warn } from './daily-warnings.ts'
import type { CredentialPauses, GitPauses } from './git-pauses.ts'
import type { GitRemotes } from './git-remotes.ts'
import { ADDRESS_REFUSED } from './token-refusals.ts'

export interface PrivateAccessOptions
  extends Pick<ApiClientOptions, 'apiUrl' | 'version' | 'clock' | 'closing' | 'answerMs' | 'retryWithinMs'> {
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  tokens: RepositoryTokens
  warn: Warn
  pauses: GitPauses
}

/** GitHub's API and git, asked about one private repository at a time, with a token for it alone: never with the operator's, and never without one. */
export interface PrivateAccess {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate' | 'scopeSeconds'>
  remotes: GitRemotes
}

/** What asks with one token: with a quota and pauses of its own. */
interface TokenClient {
  api: ApiClient
  git: CredentialPauses
}

const CLIENTS = 1_000
const MISSING = { status: 'missing', message: 'no credential reads it' } as const

export function createPrivateAccess(options: PrivateAccessOptions): PrivateAccess {
  const { url, tokens, warn, pauses, apiUrl, version, clock, closing, answerMs, retryWithinMs } = options
  /** By the digest of the token. */
  const clients = new LRUCache<string, TokenClient>(entriesAtMost(CLIENTS))

  function clientOf(token: string): TokenClient {
    const key = createHash('sha256').update(token).digest('base64')
    const known = clients.get(key)
    if (known) return known
    const api = new ApiClient({ apiUrl, version, clock, closing, warn, answerMs, retryWithinMs, token })
    const made = { api, git: pauses.ofCredential() }
    clients.set(key, made)
    return made
  }

  /** Asks with the token, and once more with a new one when the host refuses it. `missing` also where it refuses the repository to the App. */
  async function ask(of: AskOptions['of'], question: (client: ApiClient) => Promise<ApiAnswer | Refused>): Promise<ApiAnswer> {
    if (of === undefined) return UNAVAILABLE
    const answer = await askOnce(of)
    if (!isRefusedToken(answer)) return unrefused(answer, warn)
    tokens.forget([of.id])
    return unrefused(await askOnce(of), warn)

    async function askOnce(repository: TokenSubject): Promise<ApiAnswer | Refused> {
      const token = await tokens.token(repository)
      return token.status === 'ok' ? question(clientOf(token.value).api) : withoutToken(token)
    }
  }

  return {
    api: {
      // No answer proves that a private repository is public.
      maySeePrivate: true,
      scopeSeconds: 0,
      get: (path, parameters, asked = {}) => ask(asked.of, client => client.get(questionOf(path, parameters, asked))),
    },
    remotes: {
      async ask(repository, question) {
        const of = subjectOf(repository)
        const remote = `${url}/${of.owner}/${of.name}.git`
        for (let isAgain = false; ; isAgain = true) {
          const token = await tokens.token(of)
          if (token.status !== 'ok') throw token.status === 'missing' ? notFound() : new Paused(token)
          try {
            return (await clientOf(token.value).git.ask(remoteAt(remote, token.value), question)).value
          } catch (error) {
            const failure = readGitFailure(error, false)
            if (failure.status !== 'refused') throw error
            if (failure.of === 'address') {
              warn(...ADDRESS_REFUSED)
              throw error
            }
            if (failure.of !== 'token' || isAgain) throw notFound(error)
            tokens.forget([of.id])
          }
        }
      },
    },
  }
}

function questionOf(url: string, parameters: Question['parameters'], options: AskOptions): Question {
  // The quota is that of the installation, which no stranger can spend.
  return { url, parameters, options: { ...options, subject: 'known' } }
}

function subjectOf({ id, owner, name }: { id?: string; owner: string; name: string }): TokenSubject {
  if (id === undefined) throw new Error('a private repository is asked about without its id')
  return { id, owner, name }
}

function remoteAt(url: string, token: string): Remote {
  return { url, authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
}

/** As git answers about a repository that does not exist. */
function notFound(cause?: unknown): RemoteRefusal {
  return Object.assign(new RemoteRefusal(404, 'not found', null), cause === undefined ? {} : { cause })
}

function withoutToken(answer: Exclude<HostAnswer<string>, { status: 'ok' }>): ApiAnswer {
  return answer.status === 'missing' ? MISSING : answer
}

function isRefusedToken(answer: ApiAnswer | Refused): boolean {
  return answer.status === 'refused' && answer.of === 'token'
}

function unrefused(answer: ApiAnswer | Refused, warn: Warn): ApiAnswer {
  if (answer.status !== 'refused') return answer
  const { of } = answer
  if (of === 'address') warn(...ADDRESS_REFUSED)
  return of === 'version' || of === 'address' ? UNAVAILABLE : MISSING
}

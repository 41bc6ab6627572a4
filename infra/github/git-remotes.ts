import type { Remote } from '../git/upload-pack.ts'
import { readGitFailure } from './answers.ts'
import { askWithCredential } from './ask-with-credential.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import type { GitPauses } from './git-pauses.ts'

export interface GitRemotesOptions {
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  credential: Credential
  warn: Warn
  pauses: GitPauses
}

/** All questions to GitHub's git: with the operator's token where the host accepts it, and with the pauses that the host asks for. */
export interface GitRemotes {
  /**
   * Asks, and asks again without the token when the host refuses it.
   *
   * @param repository its names have been validated. With the id where it is known
   * @param ask may run twice. Its error tells how the host answered
   * @throws Paused, or what `ask` throws
   */
  ask<Value>(
    repository: { owner: string; name: string; id?: string },
    ask: (remote: Remote) => Promise<Value>,
    options?: AskOptions,
  ): Promise<Value>
}

export interface AskOptions {
  /** Default: false. */
  isAnonymous?: boolean
}

export function createGitRemotes({ url, credential, warn, pauses }: GitRemotesOptions): GitRemotes {
  const { token } = credential
  const authorization = token === null ? null : `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const withToken = pauses.ofCredential()
  const withoutToken = pauses.ofCredential()

  return {
    async ask({ owner, name }, ask, { isAnonymous = false } = {}) {
      const remote = `${url}/${owner}/${name}.git`
      const askOnce = async (isWithToken: boolean) => {
        const [side, header] = isWithToken ? [withToken, authorization] : [withoutToken, null]
        try {
          const { value, isSent } = await side.ask({ url: remote, authorization: header }, ask)
          return { status: isSent ? 'ok' : 'remembered', value } as const
        } catch (error) {
          const failure = readGitFailure(error, !isWithToken)
          return failure.status === 'refused' ? { ...failure, error } : ({ status: 'failed', error } as const)
        }
      }
      const question = { account: owner, mayAsk: () => withToken.refusal() === null, ask: askOnce }
      const answer = isAnonymous ? await askOnce(false) : await askWithCredential({ credential, warn }, question)
      if ('value' in answer) return answer.value
      throw answer.error
    },
  }
}

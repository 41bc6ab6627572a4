import type { Clock } from '#core/ports/system.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
import { Paused, type Refused, readGitFailure } from './answers.ts'
import { askWithCredential } from './ask-with-credential.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import { Pause } from './pause.ts'

/** An outage may be about one repository after all, so the others are not kept from it for longer. */
const LONGEST_OUTAGE_SECONDS = 60

export interface GitRemotesOptions {
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  credential: Credential
  warn: Warn
  clock: Clock
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

export function createGitRemotes({ url, credential, warn, clock }: GitRemotesOptions): GitRemotes {
  const { token } = credential
  const authorization = token === null ? null : `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const pauses = { withToken: new Pause(clock), withoutToken: new Pause(clock) }

  /** Notes what an error says about the host. Returns it, as a refusal where it is one. */
  function read(error: unknown, pause: Pause, isAnonymous: boolean): Failed | Refused {
    const failure = readGitFailure(error, isAnonymous)
    if (failure.status === 'rate_limited') pause.begin(failure)
    // Without seconds to wait, it may be about this repository alone.
    const outageSeconds = failure.status === 'unavailable' ? (failure.retryAfterSeconds ?? 0) : 0
    if (failure.status === 'unavailable' && outageSeconds > 0) {
      pause.begin({ ...failure, retryAfterSeconds: Math.min(outageSeconds, LONGEST_OUTAGE_SECONDS) })
    }
    return failure.status === 'refused' ? { ...failure, error } : { status: 'failed', error }
  }

  return {
    async ask({ owner, name }, ask, { isAnonymous = false } = {}) {
      const remote = `${url}/${owner}/${name}.git`
      const askOnce = async (withToken: boolean) => {
        const pause = withToken ? pauses.withToken : pauses.withoutToken
        const trouble = pause.refusal()
        if (trouble !== null) return { status: 'failed', error: new Paused(trouble) } as const
        let isSent = false
        const asked: Remote = {
          url: remote,
          get authorization() {
            isSent = true
            return withToken ? authorization : null
          },
        }
        try {
          const value = await ask(asked)
          // What is answered from memory says nothing about the host.
          if (isSent) pause.noteAnswered()
          return { status: isSent ? 'ok' : 'remembered', value } as const
        } catch (error) {
          return read(error, pause, !withToken)
        }
      }
      const question = { account: owner, mayAsk: () => pauses.withToken.refusal() === null, ask: askOnce }
      const answer = isAnonymous ? await askOnce(false) : await askWithCredential({ credential, warn }, question)
      if ('value' in answer) return answer.value
      throw answer.error
    },
  }
}

interface Failed {
  status: 'failed'
  error: unknown
}

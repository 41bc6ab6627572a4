import { ReadError } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
import { Paused, readGitFailure } from './answers.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import { Pause } from './pause.ts'
import { noteRefused } from './token-refusals.ts'

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
   * @param repository its names have been validated
   * @param ask may run twice. Its error, or the cause of its `ReadError`, tells how the host answered
   * @throws Paused, or what `ask` throws
   */
  ask<Value>(
    repository: { owner: string; name: string },
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

  /** @returns whether to ask again without the token */
  function note(error: unknown, owner: string, withToken: boolean): boolean {
    const failure = readGitFailure(error instanceof ReadError ? error.cause : error, !withToken)
    const pause = withToken ? pauses.withToken : pauses.withoutToken
    switch (failure.status) {
      case 'rate_limited':
        pause.begin(failure)
        return false
      case 'unavailable':
        // Without seconds, it may be about this repository alone.
        if (failure.retryAfterSeconds !== null) {
          const retryAfterSeconds = Math.min(failure.retryAfterSeconds, LONGEST_OUTAGE_SECONDS)
          pause.begin({ status: failure.status, retryAfterSeconds })
        }
        return false
      case 'refused':
        noteRefused(failure, owner, withToken, { credential, warn })
        return withToken
      default:
        return false
    }
  }

  return {
    async ask({ owner, name }, ask, { isAnonymous = false } = {}) {
      const remote = `${url}/${owner}/${name}.git`
      const askOnce = async (withToken: boolean) => {
        const pause = withToken ? pauses.withToken : pauses.withoutToken
        const trouble = pause.refusal()
        if (trouble !== null) throw new Paused(trouble)
        const value = await ask({ url: remote, authorization: withToken ? authorization : null })
        pause.noteAnswered()
        if (withToken) credential.noteValid()
        return value
      }
      const withToken = !isAnonymous && credential.mayAsk(owner)
      try {
        return await askOnce(withToken)
      } catch (error) {
        if (error instanceof Paused || !note(error, owner, withToken)) throw error
      }
      try {
        return await askOnce(false)
      } catch (error) {
        if (!(error instanceof Paused)) note(error, owner, false)
        throw error
      }
    },
  }
}

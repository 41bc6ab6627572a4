import { visibleLine } from '#core/hidden-text.ts'
import type { Refused } from './answers.ts'

/** Longest part of a host's message in a warning, in UTF-16 units. */
const MESSAGE_LENGTH = 300

/** What happened to a question that the host refused. */
export type Outcome =
  /** The token itself was refused. */
  | { of: 'token' }
  /** What is refused with the token is answered without it. */
  | { of: 'account'; account: string | null }
  /** Refused without the token, too. */
  | { of: 'everybody'; account: string | null }
  | { of: 'version' }

/** The warning for the operator, with its key for `Warn`. @param message of the host, untrusted */
export function warningOf(outcome: Outcome, { message }: Refused): [key: string, text: string] {
  const [key, text] = subjectOf(outcome)
  return [key, `${text}. GitHub says: ${visibleLine(message).replace(QUERY, '$1').slice(0, MESSAGE_LENGTH)}`]
}

/** An address for single sign-on holds a secret behind its path. */
const QUERY = /(https?:\/\/[^\s?#]*)[?#]\S*/g

function subjectOf(outcome: Outcome): [key: string, text: string] {
  switch (outcome.of) {
    case 'version':
      return ['version', 'GitHub does not answer this version of its API, so nothing of it can be opened: update Mountglass']
    case 'everybody':
      return ['everybody', `GitHub refuses questions about ${outcome.account ?? 'an account'}, also without a token`]
    case 'account': {
      const account = outcome.account ?? 'an account'
      return [`account ${account}`, `${account} refuses MOUNTGLASS_GITHUB_TOKEN, so its public repositories are read without it`]
    }
    case 'token':
      return [
        'token',
        'GitHub refuses MOUNTGLASS_GITHUB_TOKEN, so only 60 questions an hour are left: set a valid token, or remove the setting',
      ]
  }
}

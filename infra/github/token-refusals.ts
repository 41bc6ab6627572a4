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

/** The warning for the operator, as `Warn` takes it. @param message of the host, untrusted */
export function warningOf(outcome: Outcome, { message }: Refused): [key: string, text: string, account?: string] {
  const text = `${textOf(outcome)}. GitHub says: ${visibleLine(message.slice(0, 4 * MESSAGE_LENGTH))
    .replace(QUERY, '$1')
    .slice(0, MESSAGE_LENGTH)}`
  return 'account' in outcome ? [outcome.of, text, outcome.account ?? ''] : [outcome.of, text]
}

/** An address for single sign-on holds a secret behind its path. */
const QUERY = /(https?:\/\/[^\s?#]*)[?#]\S*/g

function textOf(outcome: Outcome): string {
  switch (outcome.of) {
    case 'version':
      return 'GitHub does not answer this version of its API, so nothing of it can be opened: update Mountglass'
    case 'everybody':
      return `GitHub refuses questions about ${outcome.account ?? 'an account'}, also without a token`
    case 'account':
      return `${outcome.account ?? 'an account'} refuses MOUNTGLASS_GITHUB_TOKEN, so its public repositories are read without it`
    case 'token':
      return 'GitHub refuses MOUNTGLASS_GITHUB_TOKEN, so only 60 questions an hour are left: set a valid token, or remove the setting'
  }
}

import { visibleLine } from '#core/hidden-text.ts'
import type { Refused } from './answers.ts'

/** Longest part of a host's message in a warning, in UTF-16 units. */
const MESSAGE_LENGTH = 300

const NOT_ON_LIST = 'refuses the address of this server: ask its owners to add it'

/** What happened to a question that the host refused. */
export type Outcome =
  /** The token itself was refused. */
  | { of: 'token' }
  /** What is refused with the token is answered without it. */
  | { of: 'account'; account: string | null }
  /** Refused without the token, too. */
  | { of: 'everybody'; account: string | null }
  /** The account refuses the address of this server. `shown`: the account, if its repository is public; the log names no other one. */
  | { of: 'address'; shown: string | null }
  | { of: 'version' }

/** The warning for the operator, as `Warn` takes it. @param message of the host, untrusted */
export function warningOf(
  outcome: Outcome,
  { message }: Pick<Refused, 'message'>,
): [key: string, text: string, account?: string] {
  // GitHub's words name the account.
  if (outcome.of === 'address' && outcome.shown === null) return [outcome.of, textOf(outcome)]
  const text = `${textOf(outcome)}. GitHub says: ${visibleLine(message.slice(0, 4 * MESSAGE_LENGTH))
    .replace(QUERY, '$1')
    .slice(0, MESSAGE_LENGTH)}`
  const account = 'shown' in outcome ? outcome.shown : 'account' in outcome ? outcome.account : undefined
  return account === undefined ? [outcome.of, text] : [outcome.of, text, account ?? '']
}

/** The warning where a private repository is asked about, or a person asks: without the name of the account. */
export const ADDRESS_REFUSED = warningOf({ of: 'address', shown: null }, { message: '' })

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
    case 'address':
      return outcome.shown === null
        ? `the IP allow list of an organization ${NOT_ON_LIST}. What people and the App see there is unavailable until then`
        : `the IP allow list of ${outcome.shown} ${NOT_ON_LIST}. Until then its public repositories are read without MOUNTGLASS_GITHUB_TOKEN`
    case 'token':
      return 'GitHub refuses MOUNTGLASS_GITHUB_TOKEN, so only 60 questions an hour are left: set a valid token, or remove the setting'
  }
}

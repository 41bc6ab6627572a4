import { visibleLine } from '#core/hidden-text.ts'
import type { Refused } from './answers.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'

/** Longest part of a host's message in a warning, in UTF-16 units. */
const MESSAGE_LENGTH = 300

/**
 * Notes a refusal of the host and warns the operator.
 *
 * @param account in whose repositories the question was; `null`: in no account's
 * @param withToken whether the question carried the token
 */
export function noteRefused(
  { of, message }: Refused,
  account: string | null,
  withToken: boolean,
  { credential, warn }: { credential: Credential; warn: Warn },
): void {
  const [key, text] = warningOf(of, account, withToken)
  if (withToken && of === 'token') credential.noteInvalid()
  if (withToken && of === 'account' && account !== null) credential.noteKeptOut(account)
  warn(key, `${text}. GitHub says: ${visibleLine(message).slice(0, MESSAGE_LENGTH)}`)
}

/** The subject of the warning, and its text. */
function warningOf(of: Refused['of'], account: string | null, withToken: boolean): [key: string, text: string] {
  if (of === 'version')
    return ['version', 'GitHub does not answer this version of its API, so nothing of it can be opened: update Mountglass']
  if (!withToken) return [`open ${account}`, `${account ?? 'GitHub'} cannot be read without a token`]
  if (of === 'account')
    return [
      `account ${account}`,
      `${account ?? 'an account'} refuses MOUNTGLASS_GITHUB_TOKEN, so its public repositories are read without it`,
    ]
  return [
    'token',
    'GitHub refuses MOUNTGLASS_GITHUB_TOKEN, so only 60 questions an hour are left: set a valid token, or remove the setting',
  ]
}

import { visibleLine } from '#core/hidden-text.ts'
import type { Refused } from './answers.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'

export interface CredentialUse {
  credential: Credential
  warn: Warn
}

export interface CredentialedQuestion<Answer> {
  /** In whose repositories the question is; `null`: in no account's. */
  account: string | null
  /** Whether the host may be asked with the token now: it has not asked for a pause. */
  mayAsk(): boolean
  ask(withToken: boolean): Promise<Answer | Refused>
}

/** Answers that only a host gives that knows the token. */
const KNOWS_TOKEN: ReadonlySet<string> = new Set(['ok', 'unchanged', 'missing'])
const SHOWS: ReadonlySet<string> = new Set(['ok', 'unchanged'])
/** Refusals after which the account is asked without the token for a while. */
const KEEPS_OUT: ReadonlySet<Refused['of'] | undefined> = new Set<Refused['of']>(['account', 'address'])

/**
 * Asks with the token where the host accepts it, and without it where it does not. Notes what the answers tell of the token.
 *
 * @returns the answer; `Refused` when the host refuses the question without the token, too
 */
export async function askWithCredential<Answer extends { status: string }>(
  { credential, warn }: CredentialUse,
  { account, mayAsk, ask }: CredentialedQuestion<Answer>,
): Promise<Answer | Refused> {
  const first = credential.firstAnswer()
  if (first !== null) await first
  const use = credential.useFor(account)
  const answerWithToken = use === 'always' || (use === 'attempt' && mayAsk()) ? await askWithToken() : null
  if (answerWithToken !== null && !(isRefused(answerWithToken) && answerWithToken.of !== 'version')) return answerWithToken
  const answer = await ask(false)
  if (isRefused(answer)) return warnOf(refusedToEverybody(answer, account), answer)
  // If the question fails without the token too, the refusal may be about this repository alone, for example because it is private.
  const isShown = account !== null && SHOWS.has(answer.status)
  if (answerWithToken?.of === 'address') warnOf({ of: 'address', shown: isShown ? account : null }, answerWithToken)
  if (answerWithToken?.of === 'account' && isShown) warnOf({ of: 'account', account }, answerWithToken)
  if (isShown && KEEPS_OUT.has(answerWithToken?.of)) credential.noteKeptOut(account)
  return answer

  async function askWithToken(): Promise<Answer | Refused> {
    const end = credential.begin()
    try {
      const answer = await ask(true)
      if (!isRefused(answer)) {
        if (KNOWS_TOKEN.has(answer.status)) credential.noteValid()
      } else if (answer.of === 'version') warnOf({ of: 'version' }, answer)
      else if (answer.of === 'token') {
        credential.noteInvalid()
        warnOf({ of: 'token' }, answer)
      }
      return answer
    } finally {
      // Those that wait for the first answer see what it told.
      end()
    }
  }

  function warnOf(outcome: Outcome, refused: Refused): Refused {
    warn(...warningOf(outcome, refused))
    return refused
  }
}

function refusedToEverybody({ of }: Refused, account: string | null): Outcome {
  if (of === 'version') return { of }
  return of === 'address' ? { of, shown: null } : { of: 'everybody', account }
}

export function isRefused(answer: { status: string }): answer is Refused {
  return answer.status === 'refused'
}

/** Longest part of a host's message in a warning, in UTF-16 units. */
const MESSAGE_LENGTH = 300

const NOT_ON_LIST = 'refuses the address of this server: ask its owners to add it'

/** What happened to a question that the host refused. */
type Outcome =
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
function warningOf(outcome: Outcome, { message }: Pick<Refused, 'message'>): [key: string, text: string, account?: string] {
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

import type { Refused } from './answers.ts'
import type { Credential } from './credential.ts'
import type { Warn } from './daily-warnings.ts'
import { type Outcome, warningOf } from './token-refusals.ts'

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

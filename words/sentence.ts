import { scrubbed } from './scrubbed.ts'
import { t } from './t.ts'

/** An error whose message tells a person what to do. */
export class SentenceError extends Error {}

/** The message of an error for a person, without credentials. */
export function messageIn(error: unknown): string {
  return scrubbed((error as Partial<Error> | null)?.message ?? String(error))
}

/** What ended a command, in one line. An error that is no SentenceError was not foreseen. */
export function failureIn(error: unknown): string {
  if (error instanceof SentenceError) return firstLine(messageIn(error))
  const { message, code } = (error instanceof AggregateError ? (error.errors[0] ?? error) : (error ?? {})) as {
    message?: string
    code?: unknown
  }
  return t('problem.unexpected', { reason: firstLine(message || String(code ?? error)) })
}

/** Programs such as git say more than one. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

import { z } from 'zod'

/** The id of a commit: 40 lower-case hex digits. */
export type CommitSha = string & { readonly __commitSha: true }
export const CommitSha = z.custom<CommitSha>(value => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value))

/** Whether the text is a commit id, in upper or lower case. */
export function isCommitSha(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text)
}

/** Whether the text looks like a commit id that was cut, as pages and tools show it. */
export function isShortenedSha(text: string): boolean {
  return /^[0-9a-f]{7,39}$/i.test(text)
}

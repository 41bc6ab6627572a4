import { z } from 'zod'

/** The name of a commit: 40 lower-case hex digits. */
export type CommitSha = string & { readonly __commitSha: true }
export const CommitSha = z.custom<CommitSha>(value => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value))

/** Whether the text names a commit, in either case of its letters. */
export function isCommitSha(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text)
}

/** A failure of a navigation: of a sign-in, or of a form. */
export interface Failure {
  status: number
  /** `sign_in.failed`, `sign_in.unavailable`, `forget.pending`, or a code of `core/errors.ts`. */
  code: string
  message: string
  retryAfterSeconds: number | null
}

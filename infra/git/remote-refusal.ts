import { visibleLine } from '#core/hidden-text.ts'

/** Longest part of a host's refusal that is read. */
export const REFUSAL_BYTES = 1024
/** Longest part of a host's message that is quoted, in UTF-16 units. */
const MESSAGE_LENGTH = 500

/** The host answered with an HTTP error, with something other than a result of git, or with an error of git. */
export class RemoteRefusal extends Error {
  /** 200 for an error within a result of git. */
  readonly status: number
  /** Body of a plain-text answer, or the error of git; untrusted, at most 1 KiB. `null` for any other content type. */
  readonly text: string | null
  /** Header `retry-after`, untrusted. */
  readonly retryAfter: string | null

  constructor(status: number, text: string | null, retryAfter: string | null = null) {
    super(`git-upload-pack: the host answers ${status}${text === null ? '' : `: ${JSON.stringify(text.slice(0, 120))}`}`)
    this.name = 'RemoteRefusal'
    this.status = status
    this.text = text
    this.retryAfter = retryAfter
  }

  /** An error within a result of git: of an error packet, or of the band for errors. */
  static ofGit(text: string): RemoteRefusal {
    const refusal = new RemoteRefusal(200, text.slice(0, REFUSAL_BYTES).trim())
    refusal.message = `git-upload-pack: ${visibleLine(text.slice(0, MESSAGE_LENGTH))}`
    return refusal
  }
}

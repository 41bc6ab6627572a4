/** A failed request to the object store. The message has no credentials; those of the SDK quote the signed text. */
export class StoreError extends Error {
  /** HTTP status; `null` when there was no answer. */
  readonly status: number | null
  /** Code of the server, the SDK or the system. */
  readonly code: string
  /** Whether a retry may help. A write may have been done nonetheless. */
  readonly isTransient: boolean

  /** @param request for the message: `GET pub/0a1/…` */
  constructor(request: string, { status, code, isTransient }: Pick<StoreError, 'status' | 'code' | 'isTransient'>) {
    super(
      status === null
        ? `no answer of the object store to ${request}: ${code}`
        : `the object store answered ${status} ${code} to ${request}`,
    )
    this.name = 'StoreError'
    this.status = status
    this.code = code
    this.isTransient = isTransient
  }
}

const TRANSIENT_STATUS = [408, 429]
/** Transient, although the status is that of a client error. */
const TRANSIENT_CODES = ['RequestTimeout', 'RequestTimeTooSkewed', 'ExpiredToken']
/** Errors before the request was sent. */
const FINAL_CODES = ['CredentialsProviderError', 'TokenProviderError']

/**
 * Converts an error of the SDK, of the network or of this driver.
 *
 * @param request for the message: `GET pub/0a1/…`
 */
export function toStoreError(request: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown
  const { name = 'Error', code, $metadata } = thrown as { name?: string; code?: unknown; $metadata?: { httpStatusCode?: number } }
  // Errors of the connection have a code, even if it broke after a status had arrived.
  if (typeof code === 'string') return new StoreError(request, { status: null, code: clean(code), isTransient: true })
  const status = $metadata?.httpStatusCode ?? null
  const isTransient =
    status === null
      ? !FINAL_CODES.includes(name)
      : status >= 500 || TRANSIENT_STATUS.includes(status) || TRANSIENT_CODES.includes(name)
  return new StoreError(request, { status, code: clean(name), isTransient })
}

/** Servers may answer any text as a code. */
function clean(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '').slice(0, 60)
}

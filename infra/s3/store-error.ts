/** A request that the object store did not do. The message has no credentials: those of the SDK quote what was signed. */
export class StoreError extends Error {
  /** Of HTTP; `null` when there was no answer. */
  readonly status: number | null
  /** The name that the server, the SDK or the system gave it. */
  readonly code: string
  /** Asking again may help. A write may have been done all the same. */
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
/** With a status that otherwise says that asking again is no use. */
const TRANSIENT_CODES = ['RequestTimeout', 'RequestTimeTooSkewed', 'ExpiredToken']
/** Said before anything was sent. */
const FINAL_CODES = ['CredentialsProviderError', 'TokenProviderError']

/**
 * What went wrong, of whatever the SDK throws.
 *
 * @param request for the message: `GET pub/0a1/…`
 */
export function toStoreError(request: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown
  const { name = 'Error', code, $metadata } = thrown as { name?: string; code?: unknown; $metadata?: { httpStatusCode?: number } }
  // Of the connection, also when it broke in the middle of an answer that had a status.
  if (typeof code === 'string') return new StoreError(request, { status: null, code: clean(code), isTransient: true })
  const status = $metadata?.httpStatusCode ?? null
  const isTransient =
    status === null
      ? !FINAL_CODES.includes(name)
      : status >= 500 || TRANSIENT_STATUS.includes(status) || TRANSIENT_CODES.includes(name)
  return new StoreError(request, { status, code: clean(name), isTransient })
}

/** Names are whatever the server answers. */
function clean(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '').slice(0, 60)
}

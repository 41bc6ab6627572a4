/** One file of a commit of a repository whose git host this process plays. */
export interface RawFile {
  oid: string
  sizeBytes: number
  /**
   * Whether all bytes were compared with the id. If not, they are compared while they are read, and the last ones are given only if the id is
   * right.
   */
  isVerified: boolean
  /**
   * Starts to read the bytes from `firstByte` to `lastByte`. The bytes throw RawFileError when the object is damaged.
   *
   * @throws RawFileError
   */
  read(range: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

/** Both ends are inside the range. An empty file has the range from 0 to -1. */
export interface ByteRange {
  firstByte: number
  lastByte: number
}

export interface RawFileReader {
  /** Identifies the sender of the request; bounds what one client may hold. */
  client: string
  /** Aborts once the answer was sent or its client left. Ends all reading, and gives back what the file holds. */
  signal: AbortSignal
  /** Called when others need what the file holds, and this client takes it slowly: the answer has to be broken off. */
  evict(): void
}

/**
 * A raw file cannot be read.
 *
 * `busy`: too much is being read; `too_large`: it has more bytes than are served; `damaged`: the repository lacks the object, or its bytes are not those of its id; `unavailable`: the
 * repository cannot be read now.
 */
export class RawFileError extends Error {
  readonly reason: 'busy' | 'too_large' | 'damaged' | 'unavailable'

  constructor(reason: RawFileError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RawFileError'
    this.reason = reason
  }
}

/** Immutable objects. Keys consist of `[a-z0-9._/-]`; a key may be a prefix of another one (`a/b` and `a/b/c`). */
export interface BlobStore {
  /**
   * Writes an object, unless the key exists. When it resolves, the object is durable; readers see all of it or nothing. `exists`: the stored
   * bytes are unchanged. Of several parallel creates one returns `created`; a bucket without conditional writes may return it to several, so
   * all writers of a key must write the same bytes.
   */
  create(key: string, bytes: Uint8Array): Promise<'created' | 'exists'>

  /** The whole object; `null` when it does not exist. */
  read(key: string): Promise<StoredBlob | null>

  /** Up to `length` bytes from `offset` on, fewer at the end of the object; `null` when it does not exist. */
  readRange(key: string, offset: number, length: number): Promise<Uint8Array | null>

  /** Keys with the prefix that follow `after`, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<string[]>

  /** Removes the object. Idempotent. */
  remove(key: string): Promise<void>

  close(): Promise<void>
}

export interface StoredBlob {
  bytes: Uint8Array
  createdAt: Date
}

export interface ListOptions {
  after?: string
  /** Default: all. */
  limit?: number
}

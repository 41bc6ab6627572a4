/** Immutable objects. Keys are of `[a-z0-9._/-]`; a key may also be the beginning of another key (`a/b` and `a/b/c`). */
export interface BlobStore {
  /**
   * Writes an object that is not there yet. Durable when it resolves; readers see all of it or nothing.
   * Of parallel creates of one key exactly one answers `created`; `exists` means that the earlier bytes stay.
   */
  create(key: string, bytes: Uint8Array): Promise<'created' | 'exists'>

  /** The whole object, or `null`. */
  read(key: string): Promise<StoredBlob | null>

  /** `length` bytes from `offset` on, fewer when the object ends before; `null` when there is no object. */
  readRange(key: string, offset: number, length: number): Promise<Uint8Array | null>

  /** Keys with the prefix, in byte order, those behind `after` only. */
  list(prefix: string, options?: ListOptions): Promise<string[]>

  /** Removes the object; no error when there is none. */
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

import type { ListOptions } from './blob-store.ts'

/** Small mutable entries (JSON values) with compare-and-swap. Keys as in `BlobStore`. */
export interface StateStore {
  /** `null` when there is no entry. */
  read(key: string): Promise<StoredState | null>

  /** Creates an entry. `conflict` when it exists. */
  create(key: string, value: JsonValue): Promise<WriteOutcome>

  /** Replaces the version of `etag`. `conflict` when the entry has another version, or does not exist. */
  replace(key: string, value: JsonValue, etag: string): Promise<WriteOutcome>

  /** Removes the entry. Idempotent. */
  remove(key: string): Promise<void>

  /** Keys with the prefix that follow `after`, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<string[]>

  close(): Promise<void>
}

export interface StoredState {
  value: JsonValue
  /** Opaque version. No two versions of a key have the same etag, unless their values are equal. */
  etag: string
}

export type WriteOutcome = { status: 'written'; etag: string } | { status: 'conflict' }

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

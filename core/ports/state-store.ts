import type { ListOptions } from './blob-store.ts'

/** Small mutable documents (JSON values) under compare-and-swap. Keys as in `BlobStore`. */
export interface StateStore {
  read(key: string): Promise<StoredState | null>

  /** Writes a document that is not there yet. */
  create(key: string, value: JsonValue): Promise<WriteOutcome>

  /** Writes over the version that was read. `conflict` when it is no longer that version, or gone. */
  replace(key: string, value: JsonValue, etag: string): Promise<WriteOutcome>

  /** Removes the document; no error when there is none. */
  remove(key: string): Promise<void>

  /** Keys with the prefix, in byte order, those behind `after` only. */
  list(prefix: string, options?: ListOptions): Promise<string[]>

  close(): Promise<void>
}

export interface StoredState {
  value: JsonValue
  /** Opaque version; another value never has the etag of an earlier one at the same key. */
  etag: string
}

export type WriteOutcome = { status: 'written'; etag: string } | { status: 'conflict' }

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

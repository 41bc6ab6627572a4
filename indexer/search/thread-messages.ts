import type { Location, SearchSection } from '#core/snapshot/format.ts'
import type { Originals, SearchInput } from './input.ts'

/** Messages between the thread that indexes and the one that builds its search section. */

export type ToSearchThread =
  | { type: 'add'; items: readonly SearchInput[]; units: number }
  | { type: 'finish'; originals: Originals }
  /** The answer to `store`. */
  | { type: 'stored'; locations: Location[] }

export type FromSearchThread =
  /** The items of one `add` are analysed. */
  | { type: 'added'; units: number }
  /** The next bytes of the section; one message at a time. */
  | { type: 'store'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'finished'; section: SearchSection | null }
  | { type: 'failed'; error: unknown }

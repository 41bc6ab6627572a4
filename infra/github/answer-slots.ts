import { z } from 'zod'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { sharedAnswersKey } from '#core/snapshot/store-keys.ts'

/** An answer of the host that processes share. */
export interface StoredAnswer {
  /** When the question was asked, in milliseconds since 1970. */
  askedAt: number
  /** Number of the last change that the asker knew. See `HeardChanges`. */
  since: number
  /** `null`: there is none. */
  value: JsonValue
}

export interface AnswerSlots {
  /** @param id hex digest of the question */
  read(id: string): Promise<ReadSlot>
}

export interface ReadSlot {
  /** `null` when no answer is stored, or the entry is damaged. */
  answer: StoredAnswer | null
  /** Stores a newer answer. Does nothing when a newer one is there, or the entry is being written by others again and again. */
  write(answer: StoredAnswer): Promise<void>
}

/**
 * Digits of a question's digest that choose the entry of its answer. The number of entries is fixed, and so is the number of answers in
 * each: what visitors ask for cannot fill the store, and nothing needs to be removed.
 */
const SLOT_DIGITS = 4
/** Answers of each kind in one entry. Separate bounds: names of nothing are endless, and must not evict values. */
const KEPT_VALUES = 4
const KEPT_MISSING = 4
/** A larger value is not shared. */
const VALUE_BYTES = 4 * 1024
/** After this time no process uses the answer. */
const KEPT_SECONDS = 600
const TRIES = 2

const Entry = z.object({
  answers: z
    .array(z.object({ id: z.string(), askedAt: z.int(), since: z.int().min(0), value: z.json() }))
    .max(2 * (KEPT_VALUES + KEPT_MISSING)),
})
type StoredRow = z.infer<typeof Entry>['answers'][number]

/** Answers in small entries of the state store. @param host segment of the host */
export function openAnswerSlots(states: StateStore, host: string): AnswerSlots {
  return {
    async read(id) {
      const key = sharedAnswersKey(host, id.slice(0, SLOT_DIGITS))
      let stored = await states.read(key)
      const found = rowsOf(stored?.value).find(row => row.id === id)
      return {
        answer: found ?? null,
        async write(answer) {
          if (Buffer.byteLength(JSON.stringify(answer.value)) > VALUE_BYTES) return
          for (let turn = 0; turn < TRIES; turn++) {
            const rows = added(rowsOf(stored?.value), { id, ...answer })
            if (rows === null) return
            const value: JsonValue = { answers: rows.map(row => ({ ...row })) }
            const written = stored === null ? await states.create(key, value) : await states.replace(key, value, stored.etag)
            if (written.status === 'written') return
            stored = await states.read(key)
          }
        },
      }
    },
  }
}

/** A damaged entry, or one of another version, has no rows: the next answer replaces it. */
function rowsOf(value: unknown): StoredRow[] {
  return Entry.safeParse(value).data?.answers ?? []
}

/** The rows with the new one, newest first; `null` when a newer answer to the same question is there. */
function added(rows: readonly StoredRow[], row: StoredRow): StoredRow[] | null {
  const before = rows.find(({ id }) => id === row.id)
  if (before && before.askedAt >= row.askedAt && before.since >= row.since) return null
  const others = rows.filter(({ id, askedAt }) => id !== row.id && row.askedAt - askedAt < KEPT_SECONDS * 1000)
  const newest = [row, ...others].sort((one, other) => other.askedAt - one.askedAt)
  const values = newest.filter(({ value }) => value !== null).slice(0, KEPT_VALUES)
  return [...values, ...newest.filter(({ value }) => value === null).slice(0, KEPT_MISSING)]
}

import type { Foundation } from './foundation.ts'
import type { PersonRecord } from './records.ts'
import type { Locator } from './token-text.ts'

/** Notes when sessions and tokens were used, beside the requests: an instant is at most an hour old, and a lost one costs nothing. */
export interface LastUsed {
  /** @param before what is noted so far */
  note(person: Locator, what: 'session' | 'token', id: Locator, before: string | null): void
  /** Waits for what is being noted. */
  close(): Promise<void>
}

const NOTED_EVERY_MS = 60 * 60_000

export function createLastUsed({ records, clock, fallbacks }: Pick<Foundation, 'records' | 'clock' | 'fallbacks'>): LastUsed {
  const noting = new Map<string, Promise<void>>()
  const isDue = (before: string | null, now: Date) => before === null || now.getTime() - Date.parse(before) >= NOTED_EVERY_MS

  return {
    note(person, what, id, before) {
      const key = `${what} ${id}`
      const now = clock.now()
      if (!isDue(before, now) || noting.has(key)) return
      const note = what === 'session' ? withSessionSeen : withTokenUsed
      const written = records.people
        .update([person], record => record && note(record, id, now.toISOString()))
        .then(
          () => {},
          error => fallbacks.note('last_used', error),
        )
        .finally(() => noting.delete(key))
      noting.set(key, written)
    },
    async close() {
      await Promise.all(noting.values())
    },
  }
}

function withSessionSeen(record: PersonRecord, id: Locator, seenAt: string): PersonRecord {
  const found = record.sessions.find(session => session.id === id)
  if (!found || found.seenAt >= seenAt) return record
  return { ...record, sessions: record.sessions.map(session => (session === found ? { ...session, seenAt } : session)) }
}

function withTokenUsed(record: PersonRecord, id: Locator, lastUsedAt: string): PersonRecord {
  const found = record.tokens.find(token => token.id === id)
  if (!found || (found.lastUsedAt ?? '') >= lastUsedAt) return record
  return { ...record, tokens: record.tokens.map(token => (token === found ? { ...token, lastUsedAt } : token)) }
}

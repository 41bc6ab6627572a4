import type { Foundation } from './foundation.ts'
import type { GrantRecord, PersonRecord } from './records.ts'
import type { Locator } from './token-text.ts'

/** Notes when sessions, tokens and grants were used, beside the requests: an instant is at most an hour old, and a lost one costs nothing. */
export interface LastUsed {
  /** @param before the instant that is stored now; `null`: none */
  note(person: Locator, what: 'session' | 'token' | 'grant', id: Locator, before: string | null): void
  /** Waits for the notes that are being written. */
  close(): Promise<void>
}

const NOTED_EVERY_MS = 60 * 60_000

export function createLastUsed({ records, clock, fallbacks }: Pick<Foundation, 'records' | 'clock' | 'fallbacks'>): LastUsed {
  const noting = new Map<string, Promise<void>>()
  const isDue = (before: string | null, now: Date) => before === null || now.getTime() - Date.parse(before) >= NOTED_EVERY_MS

  function write(person: Locator, what: 'session' | 'token' | 'grant', id: Locator, at: string): Promise<unknown> {
    if (what === 'grant') return records.grants.update([person, id], record => record && withGrantUsed(record, at))
    const note = what === 'session' ? withSessionSeen : withTokenUsed
    return records.people.update([person], record => record && note(record, id, at))
  }

  return {
    note(person, what, id, before) {
      const key = `${what} ${id}`
      const now = clock.now()
      if (!isDue(before, now) || noting.has(key)) return
      const written = write(person, what, id, now.toISOString())
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

function withGrantUsed(record: GrantRecord, lastUsedAt: string): GrantRecord {
  return (record.lastUsedAt ?? '') >= lastUsedAt ? record : { ...record, lastUsedAt }
}

import type { PersonRecord } from '#api/people/records.ts'

/** The id of a record. */
export const PERSON = 'a1b2c3d4e5f60718293a4b5c'

/** The record of somebody who has nothing. */
export function personRecord(part: Partial<PersonRecord> = {}): PersonRecord {
  return { v: 1, uk: PERSON, since: 's', host: null, cred: null, sessions: [], tokens: [], ...part }
}

import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import { deriveKeys, type SealingKeys } from '../purpose-keys.ts'
import { type Audit, type AuditLog, createAudit } from './audit.ts'
import { createLogRedaction } from './log-redaction.ts'
import { createRecordIds, openRecords, type RecordIds, type Records } from './records.ts'
import { createSeals, type Seals } from './seal.ts'

/** What everything that acts in the name of people is built on. */
export interface PeopleContext {
  records: Records
  seals: Seals
  recordIds: RecordIds
  audit: Audit
  clock: Clock
  random: RandomSource
  fallbacks: Fallbacks
  /** Public origin of the deployment. */
  origin: string
}

export interface PeopleContextOptions extends Pick<PeopleContext, 'clock' | 'random' | 'fallbacks' | 'origin'> {
  states: StateStore
  keys: SealingKeys
  /** See `createRecordIds`. */
  idKey: Uint8Array
  log: AuditLog
}

export function createPeopleContext({ states, keys, idKey, log, ...rest }: PeopleContextOptions): PeopleContext {
  return {
    ...rest,
    records: openRecords(states),
    seals: createSeals(keys, rest.origin, rest.clock),
    recordIds: createRecordIds(idKey),
    audit: createAudit(log, createLogRedaction(deriveKeys(keys, 'log')[0])),
  }
}

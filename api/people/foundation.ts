import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import type { SealingKeys } from '../purpose-keys.ts'
import { type Audit, type AuditLog, createAudit } from './audit.ts'
import { createLocators, type Locators } from './locators.ts'
import type { LoggedNames } from './logged-names.ts'
import { openRecords, type Records } from './records.ts'
import { createSeals, type Seals } from './seal.ts'

/** What everything that acts in the name of people is built on. */
export interface Foundation {
  records: Records
  seals: Seals
  locators: Locators
  audit: Audit
  clock: Clock
  random: RandomSource
  fallbacks: Fallbacks
  /** Public origin of the deployment. */
  origin: string
}

export interface FoundationOptions extends Pick<Foundation, 'clock' | 'random' | 'fallbacks' | 'origin'> {
  states: StateStore
  keys: SealingKeys
  /** See `createLocators`. */
  idKey: Uint8Array
  log: AuditLog
  names: Pick<LoggedNames, 'hashOf'>
}

export function createFoundation({ states, keys, idKey, log, names, ...rest }: FoundationOptions): Foundation {
  return {
    ...rest,
    records: openRecords(states),
    seals: createSeals(keys, rest.origin, rest.clock),
    locators: createLocators(idKey),
    audit: createAudit(log, names),
  }
}

import { GRANTS_PER_PERSON } from '#core/limits.ts'
import type { Foundation } from './foundation.ts'
import type { Locator } from './token-text.ts'

/** Whether an app can still read in the name of the person. Of a grant that ended, a record without families may be left. */
export async function hasLivingGrant(
  { records, clock }: Pick<Foundation, 'records' | 'clock'>,
  person: Locator,
): Promise<boolean> {
  const now = clock.now().toISOString()
  const grants = await records.grantsOf(person, GRANTS_PER_PERSON)
  return grants.some(({ families }) => families.some(({ exp, idleExp }) => exp > now && idleExp > now))
}

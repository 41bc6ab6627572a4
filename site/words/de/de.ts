import { ADVICE } from '#core/words/advice-de.ts'
import { ERRORS } from '#core/words/errors-de.ts'
import { FINDINGS, REASONS } from '#core/words/findings-de.ts'
import type { Words } from '../en/en.ts'
import { CONTRACT } from './contract.ts'
import { COUNTS } from './counts.ts'
import { FILES } from './files.ts'
import { FRAME } from './frame.ts'
import { PEOPLE } from './people.ts'
import { REFERENCE } from './reference.ts'
import { VIEWS } from './views.ts'

/** German. */
export const DE: Words = {
  ...FRAME,
  ...VIEWS,
  ...FILES,
  ...PEOPLE,
  counts: COUNTS,
  reference: REFERENCE,
  errors: ERRORS,
  findings: FINDINGS,
  reasons: REASONS,
  advice: ADVICE,
  contract: CONTRACT,
}

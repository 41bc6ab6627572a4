import { ADVICE } from '#core/words/advice-de.ts'
import type { Words } from '../en/en.ts'
import { CONTRACT } from './contract.ts'
import { COUNTS } from './counts.ts'
import { ERRORS } from './errors.ts'
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
  advice: ADVICE,
  contract: CONTRACT,
}

import type { Words } from '../en/en.ts'
import { ADVICE } from './advice.ts'
import { CONTRACT } from './contract.ts'
import { COUNTS } from './counts.ts'
import { ERRORS } from './errors.ts'
import { FILES } from './files.ts'
import { FINDINGS, KINDS, REASONS } from './findings.ts'
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
  errorOnPage: ERRORS,
  finding: FINDINGS,
  findingKind: KINDS,
  reason: REASONS,
  advice: ADVICE,
  contract: CONTRACT,
}

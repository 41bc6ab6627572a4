import type { Words } from '../en/en.ts'
import { ADVICE } from './advice.ts'
import { COUNTS } from './counts.ts'
import { ERRORS } from './errors.ts'
import { FRAME } from './frame.ts'
import { VIEWS } from './views.ts'

/** German. */
export const DE: Words = { ...FRAME, ...VIEWS, counts: COUNTS, errors: ERRORS, advice: ADVICE }

import { ADVICE, ADVICE_ON_PAGES } from './advice.ts'
import { COMMAND_COUNTS, COMMANDS } from './commands.ts'
import { COUNTS } from './counts.ts'
import { ERRORS, ERRORS_ON_PAGES } from './errors.ts'
import { FAULTS } from './faults.ts'
import { FILES } from './files.ts'
import { FINDINGS, FINDINGS_ON_PAGES, KINDS, REASONS, REASONS_ON_PAGES } from './findings.ts'
import { FRAME } from './frame.ts'
import { PEOPLE } from './people.ts'
import { PROBLEMS } from './problems.ts'
import { REFERENCE } from './reference.ts'
import { VIEWS } from './views.ts'

/**
 * What pages say, in English, which the other languages translate.
 *
 * In a sentence, `{name}` is a gap for a value, `[words](name)` a link to the target of that name, and text between backticks code.
 */
export const PAGES = {
  ...FRAME,
  ...VIEWS,
  ...FILES,
  ...PEOPLE,
  counts: COUNTS,
  reference: REFERENCE,
  finding: { ...FINDINGS, ...FINDINGS_ON_PAGES },
  findingKind: KINDS,
  reason: { ...REASONS, ...REASONS_ON_PAGES },
  /** What to do about a finding, by its code. */
  advice: { ...ADVICE, ...ADVICE_ON_PAGES },
  /** By the code of the interface. Where there is none, its own message is shown. */
  errorOnPage: ERRORS_ON_PAGES,
  /** What the contract of the interface says, by its own words. Where there is nothing, these are shown. */
  contract: {} as Readonly<Record<string, string>>,
}

/** All of it: pages, and what is English alone. */
export const EN = {
  ...PAGES,
  ...COMMANDS,
  counts: { ...COUNTS, ...COMMAND_COUNTS },
  finding: FINDINGS,
  reason: REASONS,
  advice: ADVICE,
  error: ERRORS,
  problem: PROBLEMS,
  fault: FAULTS,
}

/** What another language has to say. One that lacks a key is a type error. */
export type Translation<Section> = {
  readonly [Name in keyof Section]: Section[Name] extends string
    ? string
    : Section[Name] extends { one: string; other: string }
      ? { one: string; other: string }
      : Translation<Section[Name]>
}
export type Words = Translation<typeof PAGES>

import { COUNTS } from './counts.ts'
import { FILES } from './files.ts'
import { FINDINGS, REASONS } from './findings.ts'
import { FRAME } from './frame.ts'
import { PEOPLE } from './people.ts'
import { REFERENCE } from './reference.ts'
import { VIEWS } from './views.ts'

/**
 * English, which the other languages translate.
 *
 * In a sentence, `{name}` is a value, `[words](name)` a link to the target of that name, and text between backticks code.
 */
export const EN = {
  ...FRAME,
  ...VIEWS,
  ...FILES,
  ...PEOPLE,
  counts: COUNTS,
  reference: REFERENCE,
  /** Sentences for the codes of the API, without a full stop. Where there is none, its own message is shown. */
  errors: {
    'address.unknown_host': 'its first part names no git host of this deployment',
    'skill.ambiguous': 'several skills match; choose one of the folders',
    'file.not_found': 'there is no readable file at this path; check the path',
    'file.too_large': 'the file is larger than 1,048,576 bytes; read it at its host',
    'file.not_text': 'the file is not UTF-8 text; read it at its host',
    'file.too_large:raw':
      'the file is larger than 104,857,600 bytes, the most that is served of a raw file; read it in a clone of the repository',
    'file.not_text:lfs': 'the text is kept in Git LFS: the repository holds only a pointer to it',
  } as Readonly<Record<string, string>>,
  /** What findings say, by `words/findings.ts`. */
  findings: FINDINGS,
  reasons: REASONS,
  /** What to do about a finding, by its code. Where there is none, that of `core/advice.ts` is shown. */
  advice: {} as Readonly<Record<string, string>>,
  /** What the contract of the interface says, by its own words. Where there is nothing, these are shown. */
  contract: {} as Readonly<Record<string, string>>,
}

/** What a language has to say. One that lacks a key is a type error. */
export type Words = typeof EN

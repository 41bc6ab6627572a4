import { visibleLine } from './hidden-text.ts'
import { SUBJECT_CHARACTERS } from './limits.ts'
import { truncateCharacters } from './text.ts'

/** More of a message is never looked at. */
const READ_UNITS = 4 * SUBJECT_CHARACTERS

/** The first line of a commit's message, which a stranger wrote: one line of visible characters, `SUBJECT_CHARACTERS` at most. */
export function commitSubject(message: string): string {
  const line =
    message
      .slice(0, READ_UNITS)
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? ''
  return truncateCharacters(visibleLine(line), SUBJECT_CHARACTERS)
}

import { visibleLine } from '#core/hidden-text.ts'
import { truncateCharacters } from '#core/text.ts'
import { say } from '#core/words/findings.ts'
import { LICENSE_TEXT_BYTES } from './names.ts'
import type { RecognizedText } from './recognize.ts'

/** Says why the license of a text is not known. A withheld text is not quoted. */
export function messageOf(text: Exclude<RecognizedText, { kind: 'known' }>, isWithheld: boolean): string {
  if (isWithheld) return say('license.unrecognized:text')
  if (text.kind === 'restricted') return say('license.unrecognized:reserved')
  const { why } = text
  if (why.kind === 'long') return say('license.unrecognized:long', { limit: LICENSE_TEXT_BYTES })
  if (!('like' in why)) return say(`license.unrecognized:${why.kind}`)
  const words = 'text' in why ? truncateCharacters(visibleLine(why.text), QUOTED_CHARACTERS) : ''
  return say(`license.unrecognized:${why.kind}`, { name: why.like, words })
}

const QUOTED_CHARACTERS = 120

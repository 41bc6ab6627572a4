import { AROUND_NAMES, LEGAL_FORM } from './copyright.ts'
import type { LineToken } from './normalize.ts'
import { ADDRESSING } from './significant-words.ts'
import { isAddress, type Token } from './tokens.ts'

/**
 * Whether words that a text adds before or behind a license are a heading or a credit: names, and the words that stand around them. A sentence
 * of ordinary words ("Ask first.") may be a condition, though no word in it restricts by itself.
 *
 * @param isTitle the words stand before the license, where a single one names the work
 */
export function isHeading(added: readonly LineToken[], own: ReadonlySet<string>, isTitle: boolean): boolean {
  const lines = Object.values(Object.groupBy(added, ({ line }) => line))
  return lines.every((line = []) => isHeadingLine(line, own, isTitle))
}

function isHeadingLine(line: readonly LineToken[], own: ReadonlySet<string>, isTitle: boolean): boolean {
  const words = line.map(({ word }) => word)
  const names = line.filter(({ word }) => !own.has(word) && !isAddress(word) && !isKnown(word))
  if (names.some(({ word, isJoined }) => !isJoined && ADDRESSING.test(word))) return false
  if (names.length > LINE_NAMES || (names.length > 0 && words.includes('see'))) return false
  // "For members of Example", "This is for Example": the license would be one for them.
  if (words.includes('for') && words.some(word => VERB.test(word))) return false
  if (words[0] === 'for' || words[0] === 'from') return false
  if (words.filter(word => /^\p{L}$/u.test(word)).length > LINE_INITIALS) return false
  const isSingle = isTitle && words.every(word => word === names[0]?.word || own.has(word) || BESIDE_SINGLE.test(word))
  return isSingle || names.every(isWrittenAsName)
}

/** Whether a word is not in lower case, or is a part of a handle, an address or a path. */
export function isWrittenAsName({ written, isJoined }: Token): boolean {
  return isJoined || !/^\p{Ll}*$/u.test(written)
}

/** Whether a word stands in headings and credits, around names. */
export function isKnown(word: string): boolean {
  return AROUND_NAMES.has(word) || AROUND_TITLES.has(word) || LEGAL_FORM.test(word) || !/\p{L}{2}/u.test(word)
}

const LINE_NAMES = 8
/** More single letters spell words out. */
const LINE_INITIALS = 4
const VERB = /^(?:is|are|was|were|be|been|has|have)$/

const BESIDE_SINGLE = /^(?:copyright|inc|llc|v?\p{N}+)$/u

/** Words that stand in titles and credits, beside those of copyright statements. */
const AROUND_TITLES: ReadonlySet<string> = new Set(
  `this these that is are was were has been it released published licensed license licenses version under from on for at to in with see as
  contains includes include including based adapted ported port derived forked fork taken sourced inspired implementation written
  work works subdirectory repo plugin plugins tool tools skill skills app application agent agents server library data
  client parsing parser language programming typescript javascript python rust rule rules copywrites noted
  readme md txt credit credits website homepage email mail web site link links reference references related title name description spdx identifier
  brief idea node js`.split(/\s+/),
)

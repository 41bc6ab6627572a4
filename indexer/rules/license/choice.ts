import { isHarmlessAddress } from './addresses.ts'
import { isCopyrightOnly } from './copyright.ts'
import { ownWords } from './guard.ts'
import { licenseIdOf } from './license-ids.ts'
import { joinIds } from './license-words.ts'
import { takeLicenseNames } from './named-licenses.ts'
import { normalizeText } from './normalize.ts'
import { CONDITIONAL, FORBIDDING, LATIN, NAMES } from './significant-words.ts'
import { isAddress } from './tokens.ts'

/**
 * The expression of a text that offers licenses to choose from, and says nothing else: "licensed under either of the Apache License 2.0 or
 * the MIT license, at your option". `null` for any other text.
 */
export function readLicenseChoice(text: string): string | null {
  if (text.length > CHOICE_CHARACTERS || !OFFER.test(text)) return null
  const { words, copyright } = normalizeText(withoutContributions(text))
  const { ids, rest } = takeLicenseNames(words.filter(word => !isAddress(word)))
  if (ids.size < 2 || !(rest.includes('or') || rest.includes('either'))) return null
  const own = new Set([...ids].flatMap(id => [...ownWords(id)]))
  const isHarmless = (word: string) =>
    own.has(word) ||
    (LATIN.test(word) && !FORBIDDING.test(word) && !NAMES.test(word) && !(CONDITIONAL.test(word) && !OFFERING.has(word)))
  if (!rest.every(isHarmless) || !copyright.every(line => isCopyrightOnly(line, own))) return null
  const addresses = words.filter(isAddress)
  if (!addresses.every(address => ids.has(licenseIdOf(`https://${address}`) ?? '') || isHarmlessAddress(address, own)))
    return null
  return joinIds([...ids], 'OR')
}

const CHOICE_CHARACTERS = 3_000
const OFFER = /\beither of\b|\bat your (?:option|choice)\b|\bdual[- ]licensed\b/i
/** The clause of Rust projects about contributions, which restricts no reader. Its beginning is followed by its end, and by nothing between them. */
const CLAUSE = /unless\s+you\s+explicitly\s+state\s[^<>]{0,500}?\bconditions\b\.?/gi
const CLAUSE_BEGINS =
  /^unless you explicitly state otherwise,? any contribution intentionally submitted [\w -]{0,80}by you,? (?:as defined in the apache(?:-| license,? (?:version )?)2\.0(?: license)?,? )?/i
const CLAUSE_ENDS = /^shall be (?:dual[- ])?licensed as above,? without any additional terms or conditions\.?$/i

function withoutContributions(text: string): string {
  return text.replace(CLAUSE, clause => {
    const line = clause.replaceAll(/\s+/g, ' ')
    const begin = CLAUSE_BEGINS.exec(line)?.[0] ?? ''
    return CLAUSE_ENDS.test(line.slice(begin.length)) ? ' ' : clause
  })
}

const OFFERING = new Set(['terms', 'following', 'dual', 'text', 'content', 'contents', 'use'])

import { isCopyrightOnly } from './copyright.ts'
import { ownWords } from './guard.ts'
import { licenseIdOf, takeLicenseNames } from './license-ids.ts'
import { joinIds } from './license-words.ts'
import { normalizeText } from './normalize.ts'
import { FORBIDDING } from './significant-words.ts'
import { isAddress, isHarmlessAddress } from './tokens.ts'

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
  // The name of the work may begin the offer: "Example is licensed under either of".
  const [name = '', verb = ''] = rest
  const offer = /^(?:is|are)$/.test(verb) && !FORBIDDING.test(name) ? rest.slice(1) : rest
  if (!offer.every(word => own.has(word) || OFFERING.has(word)) || !copyright.every(line => isCopyrightOnly(line, own)))
    return null
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

/** The words of an offer: another one may be a condition, whatever it says. */
export const OFFERING: ReadonlySet<string> = new Set(
  `this that these all work works project projects software code source library crate package repository skill skills plugin content contents text texts
  documentation docs file files folder directory it its is are be been has have can may use used distributed released available offered provided
  licensed license licenses dual dually double under of both either or and the a to with in by for as at on from here
  your you user users option choice choose following terms one two version versions later any
  see full complete details information more read copyright notice notices contribution contributions title readme md txt spdx identifier`.split(
    /\s+/,
  ),
)

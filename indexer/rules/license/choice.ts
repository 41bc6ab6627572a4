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
  const { words, copyright } = normalizeText(text.replace(CONTRIBUTIONS, ' '))
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
/** The clause of Rust projects about contributions, which restricts no reader. */
const CONTRIBUTIONS =
  /unless\s+you\s+explicitly\s+state\s+otherwise,?\s+any\s+contribution\s+intentionally\s+submitted\s[\s\w-]{0,80}by\s+you,?(?:\s+as\s+defined\s+in\s+the\s+apache(?:-|\s+license,?\s+(?:version\s+)?)2\.0(?:\s+license)?,?)?\s+shall\s+be\s+(?:dual[- ])?licensed\s+as\s+above,?\s+without\s+any\s+additional\s+terms\s+or\s+conditions\.?/gi
const OFFERING = new Set(['terms', 'following', 'dual', 'text', 'content', 'contents', 'use'])

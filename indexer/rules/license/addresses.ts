import { ABSOLUTE, CONDITIONAL, LICENSING, NAMES, NAMING, NEGATING, SENTENCE } from './significant-words.ts'
import { partsOfAddress } from './tokens.ts'

/**
 * An address names a place, and its words restrict nothing; unless it leads to terms or to another license, or one of its segments spells out
 * a restriction, as in `/not-for-training`.
 */
export function isHarmlessAddress(address: string, own: ReadonlySet<string>): boolean {
  const parts = partsOfAddress(address).filter(part => !own.has(part))
  if (parts.some(part => NAMES.test(part) || ABSOLUTE.test(part))) return false
  if (RUN_TOGETHER.test(address)) return false
  const plain = address.replace(/%[0-9a-f]{2}/gi, ' ')
  if (plain.split(/[/.@?#&=]/).some(segment => isRestriction(partsOfAddress(segment)))) return false
  if (address.includes('@')) return true
  const path = partsOfAddress(address.slice(address.indexOf('/') + 1 || address.length))
  const has = (list: RegExp) => path.some(part => list.test(part))
  return !parts.some(part => TERMS_ADDRESS.test(part)) && !(has(LICENSING) && has(NAMING))
}

function isRestriction(words: readonly string[]): boolean {
  return (
    words.some(word => NEGATING.test(word)) &&
    words.some(word => NAMING.test(word) || SENTENCE.test(word) || CONDITIONAL.test(word))
  )
}

/** The host and the last segment of an address: a document that moved at its host keeps them. */
export function documentOf(address: string): string {
  const segments = address.split('/')
  return `${segments[0]} ${segments.at(-1)}`
}

/** A restriction without marks between its words. */
const RUN_TOGETHER =
  /(?:not?|non|never|without|maynot)(?:be)?(?:used)?(?:for)?(?:ai)?(?:commercial|train|resale|resell|redistribut|copy)/

/** Parts of addresses that lead to further terms. */
const TERMS_ADDRESS = /^(?:terms|tos|conditions|agreement|legal|pricing|eula|purchas.*|subscri.*|fees?|pay(?:ment)?s?|paid)$/

import { withoutTrailing } from '#core/text.ts'
import { ABSOLUTE, CONDITIONAL, LICENSING, NAMES, NAMING, NEGATING, SENTENCE } from './significant-words.ts'

/** A word as it is compared, and as the author wrote it. */
export interface Token {
  word: string
  written: string
  /** Whether a mark joins it with another word, as in handles, addresses and paths. */
  isJoined: boolean
}

/** Words of one line or phrase; `text` is in lower case. An address is one word. */
export function wordsOf(text: string): string[] {
  return tokensOf(text).map(({ word }) => word)
}

/** Words of one line or phrase, with the spelling of the author. */
export function tokensOf(text: string): Token[] {
  return [...text.matchAll(WORD)].map(({ 0: written, index }) => ({
    word: compared(written.toLowerCase()),
    written,
    isJoined:
      JOINED_BEFORE.test(text.slice(Math.max(0, index - 2), index)) ||
      JOINED_BEHIND.test(text.slice(index + written.length, index + written.length + 2)),
  }))
}

/** Whether a word of `wordsOf` is a web or mail address. */
export function isAddress(word: string): boolean {
  return /[./@]/.test(word)
}

export function partsOfAddress(address: string): string[] {
  return address.split(/[^\p{L}\p{N}]+/u).filter(part => part !== '')
}

/** Characters of Chinese are words of their own, since lines break between any two. */
const WORD =
  /https?:\/\/[^\s<>()[\]"']+|\p{Script=Han}|[\p{L}\p{N}_%+-][\p{L}\p{N}._%+-]{0,63}@[\p{L}\p{N}.-]{0,252}[\p{L}\p{N}]|[\p{L}\p{N}\p{M}](?:(?!\p{Script=Han})[\p{L}\p{N}\p{M}]|'(?=\p{L}))*/giu

const JOINED_BEFORE = /[-_@/]$|[\p{L}\p{N}]\.$/u
const JOINED_BEHIND = /^(?:[-_@/]|\.[\p{L}\p{N}])/u

function compared(word: string): string {
  const spelled = SPELLINGS.get(word)
  if (spelled !== undefined) return spelled
  if (word.includes('//')) return withoutTrailing(word.replace(/^https?:\/\/(?:www\.)?/, ''), /[/.,;:*_]/)
  return word.replaceAll("'", '')
}

const SPELLINGS = new Map([
  ['licence', 'license'],
  ['licences', 'licenses'],
  ['licenced', 'licensed'],
])

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

import { withoutTrailing } from '#core/text.ts'

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

import type { Address } from '#core/address.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { truncateCharacters } from '#core/text.ts'

/** Everything that a card shows, in the words that it shows. Equal cards are drawn to equal bytes. */
export interface CardModel {
  /** BCP 47, of `title` and `description`; `null` when it is not known. Decides how Han characters are written. */
  lang: string | null
  /** Of `facts`. */
  factsLang: string
  /** What the card is of; `null`: a page of the documentation. */
  address: Pick<Address, 'host' | 'owner' | 'repository' | 'ref' | 'path'> | null
  /** Path of a page of the documentation. */
  place: string | null
  title: string
  description: string | null
  /** Shown in the place of a title that no font can write. */
  plainTitle: string
  facts: readonly string[]
}

/** Changes when equal cards are drawn to other bytes: it is part of their names. */
export const DRAWING_VERSION = 3

/** Pixels. */
export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630

const TITLE_CHARACTERS = 160
const DESCRIPTION_CHARACTERS = 400
const ADDRESS_CHARACTERS = 2_048

/** Strangers' words on one line, without what fonts cannot draw: hidden and private characters, and marks piled on marks. */
function cleanLine(text: string, characters: number): string {
  const line = visibleLine(text)
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Bidi_Control}\ufffd]+/gu, '')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .trim()
  return truncateCharacters(line, characters)
}

export function cleanTitle(text: string): string {
  return cleanLine(text, TITLE_CHARACTERS)
}

/** `null` when nothing is left. */
export function cleanDescription(text: string | null): string | null {
  const line = cleanLine(text ?? '', DESCRIPTION_CHARACTERS)
  return line === '' ? null : line
}

/** A part of an address, whose middle goes when it has more characters. */
export function cutMiddle(text: string, limit: number): string {
  const characters = [...cleanLine(text, ADDRESS_CHARACTERS)]
  if (characters.length <= limit) return characters.join('')
  const [before, after] = [Math.ceil((limit - 1) / 2), Math.floor((limit - 1) / 2)]
  return `${characters.slice(0, before).join('')}…${characters.slice(-after).join('')}`
}

const WORDS = new Intl.Segmenter('th', { granularity: 'word' })

/** Marks where lines may break between words that are written without spaces. Without marks they would break inside words. */
export function withBreaks(text: string): string {
  return text.replace(/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu, run =>
    Array.from(WORDS.segment(run), ({ segment }) => segment).join('\u200b'),
  )
}

/** Whether a line is written from right to left: by its first letter that has a direction. */
export function isRightToLeft(text: string): boolean {
  const first = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{L}]/u.exec(text)?.[0] ?? ''
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first)
}

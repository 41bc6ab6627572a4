import type { Address } from '#core/address.ts'

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

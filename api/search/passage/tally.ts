import type { TermFinder, TermPlaces } from './term-places.ts'

/** The length of a window in the source, which contains marks and link targets too. UTF-16 units. */
export const SOURCE_UNITS = 280

/** Neighbouring terms count this much more. */
const PHRASE_SHARE = 0.25

/**
 * Scores a window that slides over the places of terms: each term counts once, and more if terms are neighbours. Places are added in order and
 * removed in order.
 */
export class Tally {
  readonly #counts: Uint16Array
  readonly #finder: TermFinder
  readonly #places: TermPlaces
  /** For each place the next place of the same term. */
  readonly #nextPlace: Uint32Array
  #distinct = 0
  /** Start of the place from which on the window contains all its terms. */
  #completeAt = 0
  #phrases = 0

  constructor(finder: TermFinder, places: TermPlaces) {
    this.#counts = new Uint16Array(finder.terms.length)
    this.#finder = finder
    this.#places = places
    this.#nextPlace = new Uint32Array(places.numbers.length)
    const later = new Uint32Array(finder.terms.length)
    for (let place = places.numbers.length - 1; place >= 0; place--) {
      const number = places.numbers[place] as number
      this.#nextPlace[place] = later[number] as number
      later[number] = place
    }
  }

  /** The score of the window, which begins at `place`. Distance counts little: it decides between windows of nearly equal terms. */
  scoreFrom(place: number): number {
    const distance = Math.max(0, this.#completeAt - (this.#places.starts[place] as number))
    return (this.#distinct + Math.min(this.#phrases, this.#distinct) * PHRASE_SHARE) * (1 - (0.1 * distance) / SOURCE_UNITS)
  }

  add(place: number): void {
    const number = this.#places.numbers[place] as number
    const count = this.#counts[number] as number
    this.#counts[number] = count + 1
    if (count === 0) {
      this.#distinct += this.#weight(place)
      this.#completeAt = this.#places.starts[place] as number
    }
    this.#phrases += this.#phraseWeight(place)
  }

  remove(place: number): void {
    const number = this.#places.numbers[place] as number
    const count = this.#counts[number] as number
    this.#counts[number] = count - 1
    if (count === 1) this.#distinct -= this.#weight(place)
    else this.#completeAt = Math.max(this.#completeAt, this.#places.starts[this.#nextPlace[place] as number] as number)
    this.#phrases -= this.#phraseWeight(place)
  }

  #weight(place: number): number {
    return this.#finder.terms[this.#places.numbers[place] as number]?.weight ?? 0
  }

  #phraseWeight(place: number): number {
    const { starts, numbers } = this.#places
    if (place === 0 || numbers[place - 1] === numbers[place]) return 0
    const gap = (starts[place] as number) - placeEnd(this.#finder, this.#places, place - 1)
    return gap <= 4 ? Math.min(this.#weight(place - 1), this.#weight(place)) : 0
  }
}

/** The end of the term at a place. UTF-16 units. */
export function placeEnd({ terms }: TermFinder, { starts, numbers }: TermPlaces, place: number): number {
  return (starts[place] as number) + (terms[numbers[place] as number]?.term.length ?? 0)
}

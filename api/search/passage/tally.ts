import type { TermFinder, TermPlaces } from './term-places.ts'

/** How far terms may stand apart in the source of one passage: marks and targets take room too. UTF-16 units. */
export const SOURCE_UNITS = 280

/** Terms that stand side by side count this much more. */
const PHRASE_SHARE = 0.25

/** What the terms of a window tell: each once, and more when they stand side by side. Places come in order and go in order. */
export class Tally {
  readonly #counts: Uint16Array
  readonly #finder: TermFinder
  readonly #places: TermPlaces
  /** The next place of the same term. */
  readonly #again: Uint32Array
  #distinct = 0
  /** Where the last of the terms is met first. */
  #completeAt = 0
  #phrases = 0

  constructor(finder: TermFinder, places: TermPlaces) {
    this.#counts = new Uint16Array(finder.terms.length)
    this.#finder = finder
    this.#places = places
    this.#again = new Uint32Array(places.numbers.length)
    const later = new Uint32Array(finder.terms.length)
    for (let place = places.numbers.length - 1; place >= 0; place--) {
      const number = places.numbers[place] as number
      this.#again[place] = later[number] as number
      later[number] = place
    }
  }

  /** Of the window that begins at a place. What stands close together decides only between what is nearly equal. */
  scoreFrom(place: number): number {
    const reach = Math.max(0, this.#completeAt - (this.#places.starts[place] as number))
    return (this.#distinct + Math.min(this.#phrases, this.#distinct) * PHRASE_SHARE) * (1 - (0.1 * reach) / SOURCE_UNITS)
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
    else this.#completeAt = Math.max(this.#completeAt, this.#places.starts[this.#again[place] as number] as number)
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

/** Where the term ends that stands in a place. */
export function placeEnd({ terms }: TermFinder, { starts, numbers }: TermPlaces, place: number): number {
  return (starts[place] as number) + (terms[numbers[place] as number]?.term.length ?? 0)
}

import { Analyzer, isStopWord } from '#core/search/analyze.ts'

/** A term of a text. The occurrences of a word share one while the analyzer remembers the word, and get another with the same number afterwards. */
export class Term {
  readonly text: string
  readonly isStopWord: boolean
  /** In the lexicon that made it; `NO_NUMBER`: not known yet. */
  number = NO_NUMBER

  constructor(text: string) {
    this.text = text
    this.isStopWord = isStopWord(text)
  }
}

export const NO_NUMBER = -1

/** Numbers the different terms of many items, in order of appearance from 0. A term that was found once is not looked up by its text again. */
export class Lexicon {
  readonly analyzer = new Analyzer(text => new Term(text))
  readonly #numbers = new Map<string, number>()

  get size(): number {
    return this.#numbers.size
  }

  texts(): Iterable<string> {
    return this.#numbers.keys()
  }

  /** `NO_NUMBER` when the term was not added. */
  find(term: Term): number {
    if (term.number === NO_NUMBER) term.number = this.#numbers.get(term.text) ?? NO_NUMBER
    return term.number
  }

  /** @returns the number of a term that was not found */
  add(term: Term): number {
    term.number = this.#numbers.size
    this.#numbers.set(ownCopy(term.text), term.number)
    return term.number
  }
}

/** A slice of a long string keeps that string in memory; a copy does not. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

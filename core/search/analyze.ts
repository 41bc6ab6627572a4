/**
 * Turns text into search terms, in the same way for items and queries and for all languages.
 *
 * Folding: NFKC, lower case, diacritics of Latin, Greek and Cyrillic removed. Words of ASCII letters lose their plural.
 * An identifier (`client.maxTokens`, `--dry-run`, `std::vector`) yields the whole, the names in it, and their parts.
 * Han, kana, hangul, Thai, Lao, Khmer and Myanmar yield overlapping pairs of characters, and triples with the option `triples`.
 * `C++` and `C#` are kept.
 *
 * Takes time linear in the length of any text.
 */

/** Maximum length in UTF-16 units. Longer words are cut; longer identifiers yield their parts only. */
export const TERM_UNITS = 64

/**
 * - `word`: a plain word.
 * - `whole`: an identifier, or a name inside one; its parts are terms, too.
 * - `part`: a part of an identifier.
 * - `pair`: two neighbouring characters, or the only one of its run.
 * - `triple`: three neighbouring characters, with the option `triples`.
 */
export type TermKind = 'word' | 'whole' | 'part' | 'pair' | 'triple'

export type Visit<Term> = (term: Term, kind: TermKind, group: number) => void

export interface AnalyzeOptions {
  /** Also yield triples, which tell whether two pairs are neighbours. Default: no. */
  triples?: boolean
}

/** Finds the terms of texts, and remembers those of their words: most words repeat. */
export class Analyzer<Term> {
  readonly #termOf: (text: string) => Term
  readonly #known = new Map<string, WordTerms<Term>>()

  /** @param termOf makes what stands for a term. A short word keeps its terms while it is remembered */
  constructor(termOf: (text: string) => Term) {
    this.#termOf = termOf
  }

  /**
   * Calls `visit` for every term in reading order. Terms of one identifier or one run of characters share the number of their `group`;
   * groups count from 0.
   */
  analyze(text: string, visit: Visit<Term>, { triples = false }: AnalyzeOptions = {}): void {
    const folded = fold(text)
    let group = 0
    let index = 0
    while (index < folded.length) {
      const kind = classAt(folded, index)
      if (kind === PAIRED) index = this.#visitPairs(folded, index, group++, triples, visit)
      else if (kind === OTHER) index += unitsAt(folded, index)
      else index = endOfContraction(folded, this.#visitIdentifier(folded, index, group++, visit))
    }
  }

  #visitPairs(text: string, start: number, group: number, triples: boolean, visit: Visit<Term>): number {
    let beforePrevious = -1
    let previous = start
    let index = start + unitsAt(text, start)
    if (index >= text.length || classAt(text, index) !== PAIRED) {
      visit(this.#termOf(text.slice(start, index)), 'pair', group)
      return index
    }
    while (index < text.length && classAt(text, index) === PAIRED) {
      const end = index + unitsAt(text, index)
      visit(this.#termOf(text.slice(previous, end)), 'pair', group)
      if (triples && beforePrevious >= 0) visit(this.#termOf(text.slice(beforePrevious, end)), 'triple', group)
      beforePrevious = previous
      previous = index
      index = end
    }
    return index
  }

  /** Reads a run of names joined by `_ - . / ::`, and returns its end. */
  #visitIdentifier(text: string, start: number, group: number, visit: Visit<Term>): number {
    let nameStart = start
    let wordStart = start
    let words = 0
    let index = start
    for (;;) {
      index = endOfWord(text, index)
      const joint = jointAt(text, index)
      const closesName = joint !== UNDERSCORE && joint !== HYPHEN
      const closesRun = joint === NO_JOINT
      const isWholeRun = closesRun && wordStart === start
      if (isWholeRun) return this.#visitPlainWord(text, start, index, group, visit)
      this.#visitWord(text.slice(wordStart, index), 'part', group, visit)
      words++
      if (closesName) {
        if (words > 1 && !(closesRun && nameStart === start)) this.#visitWhole(text, nameStart, index, group, visit)
        words = 0
      }
      if (closesRun) {
        this.#visitWhole(text, start, index, group, visit)
        return index
      }
      index += joint === COLONS ? 2 : 1
      wordStart = index
      if (closesName) nameStart = index
    }
  }

  #visitPlainWord(text: string, start: number, end: number, group: number, visit: Visit<Term>): number {
    const suffix = end - start === 1 ? languageSuffixAt(text, start, end) : ''
    if (suffix !== '') {
      visit(this.#termOf(text.slice(start, end).toLowerCase() + suffix), 'word', group)
      return end + suffix.length
    }
    this.#visitWord(text.slice(start, end), 'word', group, visit)
    return end
  }

  /** One word between joints: its parts when its case changes inside, and itself. */
  #visitWord(word: string, kind: 'word' | 'part', group: number, visit: Visit<Term>): void {
    const { parts, whole } = this.#termsOf(word)
    for (const part of parts) visit(part, 'part', group)
    visit(whole, parts.length > 0 ? 'whole' : kind, group)
  }

  #termsOf(word: string): WordTerms<Term> {
    if (word.length > KNOWN_UNITS) return splitWord(word, this.#termOf)
    const known = this.#known.get(word)
    if (known) return known
    if (this.#known.size === KNOWN_WORDS) this.#known.clear()
    const terms = splitWord(word, this.#termOf)
    this.#known.set(word, terms)
    return terms
  }

  #visitWhole(text: string, start: number, end: number, group: number, visit: Visit<Term>): void {
    if (end - start <= TERM_UNITS) visit(this.#termOf(text.slice(start, end).toLowerCase()), 'whole', group)
  }
}

const texts = new Analyzer(text => text)

/** The terms of a text as they are spelled, see `Analyzer.analyze`. */
export function analyze(text: string, visit: Visit<string>, options?: AnalyzeOptions): void {
  texts.analyze(text, visit, options)
}

interface WordTerms<Term> {
  /** Empty unless the case changes inside. */
  parts: readonly Term[]
  whole: Term
}

const KNOWN_WORDS = 2 ** 15
/** A slice of more units keeps the text that it is from in memory. */
const KNOWN_UNITS = 12

function splitWord<Term>(word: string, termOf: (text: string) => Term): WordTerms<Term> {
  if (word.length > TERM_UNITS) return { parts: [], whole: termOf(word.slice(0, TERM_UNITS).toWellFormed().toLowerCase()) }
  const parts: Term[] = []
  let start = 0
  for (let index = 1; index < word.length; index++) {
    if (!isCaseBorder(word, index)) continue
    parts.push(termOf(singular(word.slice(start, index).toLowerCase())))
    start = index
  }
  if (start > 0) parts.push(termOf(singular(word.slice(start).toLowerCase())))
  return { parts, whole: termOf(ACRONYMS.test(word) ? word.slice(0, -1).toLowerCase() : singular(word.toLowerCase())) }
}

/** `PRs`, `IDs`: in lower case too short to be recognized as plurals. */
const ACRONYMS = /^[A-Z]{2,}s$/

/** As in `get|User`, `HTTP|Server` and `base64|Encode`, but not inside `APIs` and `4K`. */
function isCaseBorder(word: string, index: number): boolean {
  if (classAt(word, index) !== UPPER) return false
  if (classAt(word, index - 1) === LOWER) return true
  if (index + 1 >= word.length || classAt(word, index + 1) !== LOWER) return false
  return !(word[index + 1] === 's' && index + 2 === word.length)
}

/** Skips `'s`, `'t`, `'ll` and similar endings. */
function endOfContraction(text: string, end: number): number {
  const unit = text.charCodeAt(end)
  if (unit !== APOSTROPHE && unit !== RIGHT_QUOTE) return end
  CONTRACTION.lastIndex = end + 1
  return CONTRACTION.test(text) ? CONTRACTION.lastIndex : end
}

const APOSTROPHE = 0x27
const RIGHT_QUOTE = 0x2019
const CONTRACTION = /(?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])/iuy

/** `C++`, `C#`, `F#`: one ASCII letter and its sign. */
function languageSuffixAt(text: string, start: number, end: number): '++' | '#' | '' {
  if (text.charCodeAt(start) >= 0x80 || classAt(text, start) === DIGIT) return ''
  if (text.startsWith('++', end)) return '++'
  return text[end] === '#' && (end + 1 >= text.length || classAt(text, end + 1) === OTHER) ? '#' : ''
}

function endOfWord(text: string, start: number): number {
  let index = start
  while (index < text.length) {
    const kind = classAt(text, index)
    if (kind === OTHER || kind === PAIRED) break
    index += unitsAt(text, index)
  }
  return index
}

const NO_JOINT = 0
const UNDERSCORE = 1
const HYPHEN = 2
const DOT = 3
const SLASH = 4
const COLONS = 5

/** The joint at the index when a word follows it. */
function jointAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  const joint =
    code === 0x5f
      ? UNDERSCORE
      : code === 0x2d
        ? HYPHEN
        : code === 0x2e
          ? DOT
          : code === 0x2f
            ? SLASH
            : code === 0x3a && text.charCodeAt(index + 1) === 0x3a
              ? COLONS
              : NO_JOINT
  if (joint === NO_JOINT) return NO_JOINT
  const after = index + (joint === COLONS ? 2 : 1)
  if (after >= text.length) return NO_JOINT
  const kind = classAt(text, after)
  return kind === OTHER || kind === PAIRED ? NO_JOINT : joint
}

/** Removes the plural ending of an English word. Words that only look like plurals change in items and queries alike. */
export function singular(word: string): string {
  const last = word.length - 1
  if (last < 3 || !ENDS_LIKE_PLURAL.test(word)) return word
  if (word.endsWith('ies') && last > 3) return `${word.slice(0, -3)}y`
  const stem = word.endsWith('s') && !NO_PLURAL.test(word) ? word.slice(0, -1) : word
  if (stem.length > 4 && stem.endsWith('ie')) return `${stem.slice(0, -2)}y`
  if (stem.length > 4 && stem.endsWith('oe')) return stem.slice(0, -1)
  return stem.length > 3 && SIBILANT_E.test(stem) ? stem.slice(0, -1) : stem
}

const ENDS_LIKE_PLURAL = /^[a-z]+[se]$/
// class, status, analysis; but APIs
const NO_PLURAL = /[su]s$|...is$/
const SIBILANT_E = /(?:[sxz]|ch|sh)e$/

/** Whether a term is a common English word that nearly every text has. */
export function isStopWord(term: string): boolean {
  return STOP_WORDS.has(term)
}

const STOP_WORDS = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my no not of on or our
  should so such that the their them then there these they this to was we were what when where which who why will with would you your
    ain aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn`
    .split(/\s+/)
    .map(singular),
)

/** NFKC without diacritics; case stays, since it separates the parts of an identifier. */
function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  // Normalization sorts runs of marks in quadratic time, so long runs are cut.
  const bounded = text.replace(MARK_RUN, '$1')
  return bounded.normalize('NFKD').replace(DIACRITIC, '').normalize('NFC').replace(SPELLED_OUT, spellOut)
}

const NOT_ASCII = /[^\0-\x7f]/
const MARK_RUN = /([\p{M}\uff9e\uff9f]{4})[\p{M}\uff9e\uff9f]+/gu
const DIACRITIC = /[\u0300-\u036f]+/g
const SPELLED_OUT = /[ßẞæÆœŒøØłŁđĐıς]/g
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ı: 'i',
  ς: 'σ',
}

function spellOut(character: string): string {
  return SPELLINGS[character] ?? character
}

// Classes of characters; 0: not computed yet
const OTHER = 1
const LOWER = 2
const UPPER = 3
const DIGIT = 4
const PAIRED = 5

const PAIRED_SCRIPT =
  /^(?=[\p{L}\p{M}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u

/** The class of each UTF-16 unit, computed on demand. */
const unitClasses = new Uint8Array(0x10000)

function classAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  const known = unitClasses[unit]
  if (known) return known
  // The class of a surrogate depends on its neighbour.
  if (unit >= 0xd800 && unit <= 0xdfff) return classify(String.fromCodePoint(text.codePointAt(index) ?? unit))
  const found = classify(String.fromCharCode(unit))
  unitClasses[unit] = found
  return found
}

function classify(character: string): number {
  if (PAIRED_SCRIPT.test(character)) return PAIRED
  if (/^[\p{Lu}\p{Lt}]/u.test(character)) return UPPER
  if (/^\p{N}/u.test(character)) return DIGIT
  return /^[\p{L}\p{M}]/u.test(character) && !/^\p{Variation_Selector}/u.test(character) ? LOWER : OTHER
}

function unitsAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdbff) return 1
  const next = text.charCodeAt(index + 1)
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1
}

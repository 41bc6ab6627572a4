import { analyze } from '#core/search/analyze.ts'

/** A term of the analyzer, and its weight in a passage. */
export interface WeightedTerm {
  term: string
  weight: number
}

/** Finds terms in texts. */
export interface TermFinder {
  terms: readonly WeightedTerm[]
  /** Matches candidates that can contain terms: a run of letters and joints as its group, or a pair of characters without a group. */
  pattern: RegExp
  /** The same for a text that contains characters which the analyzer may fold. */
  foldedPattern: RegExp
  /** Indexes of terms by term. */
  numbers: ReadonlyMap<string, number>
  /** Cache: the numbers of the terms in each candidate. */
  analyzed: Map<string, readonly number[]>
}

/** The places of terms in a text, in order. Terms of one identifier have the same start. */
export interface TermPlaces {
  /** UTF-16 units. */
  starts: number[]
  /** The number of the term at each start. */
  numbers: number[]
}

/** Letters of alphabets, and characters that join words to identifiers. Too many do no harm: the analyzer decides which terms a run contains. */
const IN_RUN = String.raw`\w.:/+#\-\u00a8-\u0dff\u0f00-\u0fff\u10a0-\u10ff\u1200-\u177f\u1800-\u1fff\u2070-\u2e7f\u3105-\u312f\u31a0-\u31bf\u3248-\u325f\u32b1-\u32cf\u3371-\u33df\ua490-\uabff\ufb00-\ufefc\uff10-\uff5a`
/** Characters that the analyzer may fold to others. Every run with one of them is analyzed. */
const FOLDED = String.raw`\u00a8-\u0390\u03aa-\u03b0\u03c2\u03ca-\u040f\u0419\u0439\u0450-\u1fff\u2070-\u218f\u2460-\u24ff\u2c00-\u2dff\ua640-\uabff\ufb00-\ufefc\u3250-\u325f\u32b1-\u32cf\u3371-\u33df\uff10-\uff19\uff21-\uff3a\uff41-\uff5a`
const HAS_RUN = new RegExp(`^[${IN_RUN}]`)
const HAS_FOLDED = new RegExp(`[${FOLDED}]`)
/** A faster test with fewer ranges, which include characters that are not folded. */
const MAY_FOLD = /[\u00a8-\u1fff\u2070-\u218f\u2460-\u2dff\u3248-\u33ff\ua640-\uabff\ufb00-\ufefc\uff10-\uff5a]/
/** The cache of candidates is emptied at this size. */
const ANALYZED_RUNS = 20_000

/** A finder of the terms, for many texts. */
export function prepareTerms(terms: readonly WeightedTerm[]): TermFinder {
  const stems = terms.map(({ term }) => stemOf(term).replace(/[^\w\u0080-\uffff]/g, '\\$&'))
  const inRuns = stems.filter(stem => HAS_RUN.test(stem))
  const pairs = stems.filter(stem => !HAS_RUN.test(stem))
  const patternOf = (beginnings: readonly string[]) => {
    const run = beginnings.length > 0 ? [`(?:${beginnings.join('|')})[${IN_RUN}]*(?<=([${IN_RUN}]+))`] : []
    return new RegExp([...run, ...pairs].join('|'), 'gi')
  }
  return {
    terms,
    pattern: patternOf(inRuns),
    foldedPattern: patternOf([...inRuns, `[${FOLDED}]`]),
    numbers: new Map(terms.map(({ term }, number) => [term, number])),
    analyzed: new Map(),
  }
}

/** A beginning of all words that the analyzer turns into the term: `polic` of `policy`, which is also the term of `policies`. */
function stemOf(term: string): string {
  return term.length > 2 ? term.replace(/y$/, '') : term
}

/** Whether a text contains characters that the analyzer may fold. */
export function mayFold(text: string): boolean {
  return MAY_FOLD.test(text) && HAS_FOLDED.test(text)
}

/** The places where the analyzer finds the terms. Time is linear in the text. */
export function findPlaces(finder: TermFinder, text: string, isFolded = MAY_FOLD.test(text)): TermPlaces {
  const pattern = isFolded ? finder.foldedPattern : finder.pattern
  const places: TermPlaces = { starts: [], numbers: [] }
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found, run] = match
    if (run === undefined) pattern.lastIndex = match.index + 1
    const written = run ?? found
    for (const number of cachedTermsIn(finder, written)) {
      places.starts.push(match.index)
      places.numbers.push(number)
    }
  }
  return places
}

function cachedTermsIn(finder: TermFinder, text: string): readonly number[] {
  const { analyzed } = finder
  const cached = analyzed.get(text)
  if (cached !== undefined) return cached
  const numbers = termsIn(finder, text)
  if (analyzed.size >= ANALYZED_RUNS) analyzed.clear()
  analyzed.set(text, numbers)
  return numbers
}

/** The numbers of the terms that the analyzer finds in a text. */
export function termsIn({ numbers }: TermFinder, text: string): readonly number[] {
  const found = new Set<number>()
  analyze(text, term => {
    const number = numbers.get(term)
    if (number !== undefined) found.add(number)
  })
  return [...found]
}

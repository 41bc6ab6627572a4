import { analyze } from '#core/search/analyze.ts'

/** A term of the analyzer, and how much it tells. */
export interface WeightedTerm {
  term: string
  weight: number
}

/** Terms prepared for looking them up in texts. */
export interface TermFinder {
  terms: readonly WeightedTerm[]
  /** Finds what terms may stand in: a run of letters and joints as its group, or a pair of characters without one. */
  pattern: RegExp
  /** The same for a text of which the analyzer may fold something. */
  foldedPattern: RegExp
  numbers: ReadonlyMap<string, number>
  /** The numbers of the terms in what was met. */
  met: Map<string, readonly number[]>
}

/** Where terms stand in a text, in order of `starts`: UTF-16 units, and `numbers` of the terms. Those of one identifier start together. */
export interface TermPlaces {
  starts: number[]
  numbers: number[]
}

/** Letters of alphabets, and what joins words to identifiers. More would only make runs longer: the analyzer tells what stands in them. */
const IN_RUN = String.raw`\w.:/+#\-\u00a8-\u0dff\u0f00-\u0fff\u10a0-\u10ff\u1200-\u177f\u1800-\u1fff\u2070-\u2e7f\u3105-\u312f\u31a0-\u31bf\u3248-\u325f\u32b1-\u32cf\u3371-\u33df\ua490-\uabff\ufb00-\ufefc\uff10-\uff5a`
/** What the analyzer may fold to other letters. A run that has any is asked about. */
const FOLDED = String.raw`\u00a8-\u0390\u03aa-\u03b0\u03c2\u03ca-\u040f\u0419\u0439\u0450-\u1fff\u2070-\u218f\u2460-\u24ff\u2c00-\u2dff\ua640-\uabff\ufb00-\ufefc\u3250-\u325f\u32b1-\u32cf\u3371-\u33df\uff10-\uff19\uff21-\uff3a\uff41-\uff5a`
const HAS_RUN = new RegExp(`^[${IN_RUN}]`)
const HAS_FOLDED = new RegExp(`[${FOLDED}]`)
/** Few ranges, since most texts have none of them; it may say yes for nothing. */
const MAY_FOLD = /[\u00a8-\u1fff\u2070-\u218f\u2460-\u2dff\u3248-\u33ff\ua640-\uabff\ufb00-\ufefc\uff10-\uff5a]/
/** What was met is forgotten when it is more. */
const MET_RUNS = 20_000

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
    met: new Map(),
  }
}

/** What every word of the term begins with: `policy` stands for `policies` as well, `c` for the sign of `c++`. */
function stemOf(term: string): string {
  return term.length > 2 ? term.replace(/y$/, '') : term
}

/** Whether the analyzer may fold something in a text. */
export function mayFold(text: string): boolean {
  return MAY_FOLD.test(text) && HAS_FOLDED.test(text)
}

/** The places where the analyzer finds the terms. Time is linear in the text. */
export function findPlaces(finder: TermFinder, text: string, isFolded = MAY_FOLD.test(text)): TermPlaces {
  const { met } = finder
  const pattern = isFolded ? finder.foldedPattern : finder.pattern
  const places: TermPlaces = { starts: [], numbers: [] }
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found, run] = match
    if (run === undefined) pattern.lastIndex = match.index + 1
    const written = run ?? found
    let inside = met.get(written)
    if (inside === undefined) {
      inside = termsIn(finder, written)
      if (met.size >= MET_RUNS) met.clear()
      met.set(written, inside)
    }
    for (const number of inside) {
      places.starts.push(match.index)
      places.numbers.push(number)
    }
  }
  return places
}

/** The numbers of the terms that the analyzer finds. */
export function termsIn({ numbers }: TermFinder, text: string): readonly number[] {
  const found = new Set<number>()
  analyze(text, term => {
    const number = numbers.get(term)
    if (number !== undefined) found.add(number)
  })
  return [...found]
}

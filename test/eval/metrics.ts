/** What stands in one place of a ranked list: a document, or a skill with the supporting files that are named with it. */
export interface Unit {
  path: string
  /** Supporting files, best first. Empty for a document. */
  files: readonly string[]
}

/** How many places of a list count. */
export const PLACES = 10
/** How many supporting files a skill of a list names. */
export const NAMED_FILES = 5

/**
 * The place, counted from 1, of the first unit that answers the question: one whose own path is expected, or a skill that names an expected
 * supporting file. A skill that merely owns an expected file, without naming it, is no answer. `null`: not among the first `PLACES`.
 */
export function rankOf(expected: readonly string[], units: readonly Unit[]): number | null {
  const isExpected = (path: string) => expected.includes(path)
  const index = units.slice(0, PLACES).findIndex(({ path, files }) => isExpected(path) || files.some(isExpected))
  return index < 0 ? null : index + 1
}

export interface Quality {
  questions: number
  /** Mean of 1/rank, 0 for a question without an answer. `null` without questions. */
  mrr: number | null
  /** Share of questions that have an answer among the first `PLACES`. */
  recall: number | null
}

export function qualityOf(ranks: readonly (number | null)[]): Quality {
  const questions = ranks.length
  if (questions === 0) return { questions, mrr: null, recall: null }
  const sum = ranks.reduce<number>((total, rank) => total + (rank === null ? 0 : 1 / rank), 0)
  return { questions, mrr: sum / questions, recall: ranks.filter(rank => rank !== null).length / questions }
}

/** The expected paths that search may name at all. None: the question is not eligible. */
export function eligibleOf(expected: readonly string[], items: ReadonlySet<string>): string[] {
  return expected.filter(path => items.has(path))
}

/**
 * Ranked items as units: a supporting file stands where its skill stands, and a skill where its best member stands.
 *
 * @param ownerOf `SKILL.md` path of the skill an item belongs to, its own for a skill, `null` for a document
 */
export function foldRanked(ranked: Iterable<string>, ownerOf: (path: string) => string | null): Unit[] {
  const units = new Map<string, string[]>()
  for (const path of ranked) {
    const unit = ownerOf(path) ?? path
    const files = units.get(unit) ?? []
    if (path !== unit && files.length < NAMED_FILES) files.push(path)
    units.set(unit, files)
  }
  return [...units].map(([path, files]) => ({ path, files }))
}

/** What a class must reach. */
export interface Target {
  mrr: number
  recall?: number
}

export const TARGETS: Readonly<Record<string, Target>> = {
  known: { mrr: 0.97 },
  paraphrase: { mrr: 0.9 },
  natural: { mrr: 0.82, recall: 1 },
  typo: { mrr: 0.93 },
  identifier: { mrr: 0.92 },
  'cjk-title': { mrr: 0.98 },
  'cjk-phrase': { mrr: 0.8 },
  'cjk-sub': { mrr: 0.91 },
  'cjk-natural': { mrr: 0.85 },
}

/** `null` where there is no target or nothing was measured. */
export function isMet({ mrr, recall }: Quality, target: Target | null): boolean | null {
  if (target === null || mrr === null || recall === null) return null
  return mrr >= target.mrr && recall >= (target.recall ?? 0)
}

/** A share or a mean as it is printed. */
export function decimals(value: number | null): string {
  return value === null ? '-' : value.toFixed(3)
}

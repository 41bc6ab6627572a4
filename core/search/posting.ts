/**
 * The second number of a posting in `searchTerms`: how much the term says about the item, and how it stands in its title.
 * It follows from the item alone, so a file that did not change keeps its postings.
 */

/** Largest impact. */
export const IMPACT_MAX = 127

/** Titles with more terms count as having this many. */
export const TITLE_TERMS_MAX = 15

/** Packs an impact of 1 to `IMPACT_MAX` with the number of terms in the title, 0 when the term is not in the title. */
export function packPosting(impact: number, titleTerms: number): number {
  return impact * (TITLE_TERMS_MAX + 1) + Math.min(titleTerms, TITLE_TERMS_MAX)
}

export function impactOf(posting: number): number {
  return Math.floor(posting / (TITLE_TERMS_MAX + 1))
}

export function titleTermsOf(posting: number): number {
  return posting % (TITLE_TERMS_MAX + 1)
}

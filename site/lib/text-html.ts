import { languageTag } from './format.ts'
import { escapeHtml, markHidden, markHiddenInHtml } from './hidden-characters.ts'

/* Words of a repository as HTML. A list of many texts is made of these: a component for each takes more time than its words. */

/** Words on one line: isolated from their surroundings, hidden characters made visible. */
export function textHtml(text: string, lang?: string | null, words?: readonly string[]): string {
  const language = languageTag(lang)
  return `<bdi${language === undefined ? '' : ` lang="${language}"`}>${markWords(text, words)}</bdi>`
}

/**
 * A path: left to right whatever it is written in, breakable after its slashes. Slashes between names that are written from right to left would
 * turn with them, so that the path begins in its middle: each name stands alone.
 */
export function pathHtml(path: string): string {
  const isTurned = RIGHT_TO_LEFT.test(path)
  const names = escapeHtml(path).replaceAll('/', isTurned ? '</bdi>/<wbr><bdi dir="ltr">' : '/<wbr>')
  return `<bdi class="path" dir="ltr">${path === '' ? '/' : markHiddenInHtml(isTurned ? `<bdi dir="ltr">${names}</bdi>` : names)}</bdi>`
}

/** The blocks of Unicode whose letters are written from right to left; those beyond U+FFFF by the first halves of their pairs. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\ud802\ud803\ud83a\ud83b]/

/** A link around HTML. Its URL is escaped as in every other link of a page, see `carryInLinks`. */
export function linkHtml(href: string, html: string): string {
  return `<a href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${html}</a>`
}

const WORDS = 20

/** The words of a query, longest first, for `markWords`. */
export function wordsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words.filter(word => word.length > 1 || /[^\p{ASCII}]/u.test(word)))]
    .sort((left, right) => right.length - left.length)
    .slice(0, WORDS)
}

/** `markHidden`, with a `mark` around each word that begins with one of the words. Scripts without spaces are marked within words. */
export function markWords(text: string, words: readonly string[] = []): string {
  if (words.length === 0) return markHidden(text)
  return text
    .split(patternOf(words))
    .map((piece, index) => (index % 2 === 0 ? markHidden(piece) : `<mark>${markHidden(piece)}</mark>`))
    .join('')
}

/** The description of a skill. @param mark what a page says before one that was taken from the text of the skill */
export function descriptionHtml(text: string, mark: string | null, words?: readonly string[]): string {
  if (mark === null || text === '') return markWords(text, words)
  return `<span class="from-text">${escapeHtml(mark)}</span> <bdi>${markWords(text, words)}</bdi>`
}

/** Whether `markWords` marks anything. */
export function hasWords(text: string, words: readonly string[]): boolean {
  return words.length > 0 && patternOf(words).test(text)
}

function patternOf(words: readonly string[]): RegExp {
  return new RegExp(`((?<![\\p{Script=Latin}\\p{N}])(?:${words.join('|')})\\p{Script=Latin}*)`, 'giu')
}

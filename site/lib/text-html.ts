import { languageTag } from './format.ts'
import { escapeHtml, markHiddenInHtml } from './hidden-characters.ts'
import { markWords } from './mark-words.ts'

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

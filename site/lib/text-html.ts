import { languageTag } from './format.ts'
import { escapeHtml, markHiddenInHtml } from './hidden-characters.ts'
import { markWords } from './mark-words.ts'

/* Words of a repository as HTML. A list of many texts is made of these: a component for each takes more time than its words. */

/** Words on one line: isolated from their surroundings, hidden characters made visible. */
export function textHtml(text: string, lang?: string | null, words?: readonly string[]): string {
  const language = languageTag(lang)
  return `<bdi${language === undefined ? '' : ` lang="${language}"`}>${markWords(text, words)}</bdi>`
}

/** A path: left to right whatever it is written in, breakable after its slashes. */
export function pathHtml(path: string): string {
  return `<bdi class="path" dir="ltr">${path === '' ? '/' : markHiddenInHtml(escapeHtml(path).replaceAll('/', '/<wbr>'))}</bdi>`
}

/** A link around HTML. Its URL is escaped as in every other link of a page, see `carryInLinks`. */
export function linkHtml(href: string, html: string): string {
  return `<a href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${html}</a>`
}

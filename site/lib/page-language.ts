import { carryLanguage, type Ui } from './ui.ts'

/** Links to pages of this site. Text of a page cannot look like one: its quotes are escaped. */
const PAGE_LINK = /(<a [^>]*?href="|<body [^>]*?data-refresh-href="|content="\d+; url=)(\/(?!\/|api\/|mcp\/|git\/|_a\/)[^"]*)"/g

/** The page with the language that its URL chose in every link to another page of this site. */
export function carryInLinks(html: string, ui: Ui): string {
  if (!ui.isChosen) return html
  return html.replace(PAGE_LINK, (_, before: string, href: string) => {
    // Attributes escape `&`, which separates the parameters.
    const carried = carryLanguage(href.replaceAll('&#38;', '&').replaceAll('&amp;', '&'), ui)
    return `${before}${carried.replaceAll('&', '&#38;')}"`
  })
}

/** The query of the same page in another language. It is relative, so no part of the request's path is repeated. */
export function switchHref(query: URLSearchParams, language: string): string {
  const other = new URLSearchParams(query)
  other.set('lang', language)
  return `?${other}`
}

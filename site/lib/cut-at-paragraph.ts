import type { FilePage } from '#core/contract/file.ts'
import { isMarkdownPath } from './links.ts'

/**
 * A page of a file that ends where its text may pause: with a paragraph of Markdown, else with a line. The next page begins there. A page that
 * would lose more than half of its text stays as it is.
 */
export function cutAtParagraph(page: FilePage): FilePage {
  if (page.nextOffset === null) return page
  const { content } = page
  const ends = [isMarkdownPath(page.path) ? endOfParagraphs(content) : 0, content.lastIndexOf('\n') + 1]
  const end = ends.find(candidate => candidate * 2 >= content.length) ?? content.length
  // Offsets count characters, which take one or two units each.
  return { ...page, content: content.slice(0, end), nextOffset: page.nextOffset - [...content.slice(end)].length }
}

/** Where the last paragraph begins: after the last empty line that is not within fenced code. */
function endOfParagraphs(markdown: string): number {
  let end = 0
  let at = 0
  let fence = ''
  for (const line of markdown.split('\n').slice(0, -1)) {
    at += line.length + 1
    const text = line.trim()
    const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0] ?? ''
    if (fence === '') fence = mark
    else if (mark.startsWith(fence) && text === mark) fence = ''
    if (fence === '' && text === '') end = at
  }
  return end
}

/** Of the end of a text, the share in which a heading is looked for. */
const HEADING_SHARE = 1 / 4

/** Where the last heading of Markdown begins that is near its end and not within fenced code; `null` where there is none. */
export function headingBeforeEnd(markdown: string): number | null {
  let heading: number | null = null
  let at = 0
  let fence = ''
  for (const line of markdown.split('\n')) {
    const text = line.trim()
    const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0] ?? ''
    if (fence === '' && at > 0 && /^#{1,6} /.test(line)) heading = at
    if (fence === '') fence = mark
    else if (mark.startsWith(fence) && text === mark) fence = ''
    at += line.length + 1
  }
  return heading !== null && heading >= markdown.length * (1 - HEADING_SHARE) ? heading : null
}

import type { Address } from '#core/address.ts'
import { type Language, PAGE_T } from '#words/t.ts'
import { renderCode } from './highlight.ts'
import { resolveLink } from './links.ts'
import { renderMarkdown, TooManyCells } from './render-markdown.ts'

/** A text of a repository, and how it is shown. */
export type TextToRender = MarkdownToRender | CodeToRender

export interface MarkdownToRender {
  kind: 'markdown'
  content: string
  /** Of the file. */
  path: string
  /** Of the page. Links of the text lead below it. */
  address: Address
  /** Starts the ids of the text; unique on the page. */
  idPrefix: string
  /** Of the page, whose words name tables and footnotes. */
  language: Language
}

/** Code is shown character for character, highlighted, with numbered lines. */
export interface CodeToRender {
  kind: 'code'
  content: string
  /** Of the file: its extension tells the language. */
  path: string
  /** Starts the ids of the lines; unique on the page. */
  idPrefix: string
  /** Number of the first line. */
  firstLine: number
}

/** `too_large`: the text would become a page that no browser shows well. */
export type RenderedText = { status: 'rendered'; html: string } | { status: 'too_large' }

/** Bounds on the HTML of a text, in UTF-16 units. Ordinary documents become about 1.5 times as long, code 3 times, lists of links up to 8 times. */
const HTML_BASE = 16_000
const HTML_FACTOR = 10
const HTML_MAX = 400_000

/** Renders a text. Its time and memory are bounded by the caller, see `render-pool.ts`. */
export function renderText(text: TextToRender): RenderedText {
  try {
    const html = toHtml(text)
    const isLarge = html.length > Math.min(HTML_MAX, HTML_BASE + HTML_FACTOR * text.content.length)
    return isLarge ? { status: 'too_large' } : { status: 'rendered', html }
  } catch (error) {
    if (error instanceof TooManyCells) return { status: 'too_large' }
    throw error
  }
}

function toHtml(text: TextToRender): string {
  if (text.kind === 'code') return renderCode(text)
  const { content, path, address, idPrefix, language } = text
  return renderMarkdown(content, {
    idPrefix,
    t: PAGE_T[language],
    resolveLink: href => resolveLink(address, path, href, idPrefix),
  })
}

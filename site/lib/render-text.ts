import type { Address } from '#core/address.ts'
import { resolveLink } from './links.ts'
import { renderMarkdown, TooManyCells } from './render-markdown.ts'

/** A Markdown text of a repository, and where it is shown. */
export interface TextToRender {
  content: string
  /** Of the file. */
  path: string
  /** Of the page. Links of the text lead below it. */
  address: Address
  /** Starts the ids of the text; unique on the page. */
  idPrefix: string
}

/** `too_large`: the text would become a page that no browser shows well. */
export type RenderedText = { status: 'rendered'; html: string } | { status: 'too_large' }

/** Bounds on the HTML of a text, in UTF-16 units. Ordinary documents become about 1.5 times as long, lists of links up to 8 times. */
const HTML_BASE = 16_000
const HTML_FACTOR = 10
const HTML_MAX = 400_000

/** Renders a text. Its time and memory are bounded by the caller, see `render-pool.ts`. */
export function renderText({ content, path, address, idPrefix }: TextToRender): RenderedText {
  try {
    const html = renderMarkdown(content, { idPrefix, resolveLink: href => resolveLink(address, path, href, idPrefix) })
    const isLarge = html.length > Math.min(HTML_MAX, HTML_BASE + HTML_FACTOR * content.length)
    return isLarge ? { status: 'too_large' } : { status: 'rendered', html }
  } catch (error) {
    if (error instanceof TooManyCells) return { status: 'too_large' }
    throw error
  }
}

/** A heading of a rendered text, for its contents. */
export interface ContentsEntry {
  id: string
  /** Text as HTML. */
  words: string
}

/** The headings of level 2, as `renderMarkdown` writes them. */
export function contentsOf(html: string): ContentsEntry[] {
  return [...html.matchAll(/<h2 id="([^"]*)">(.*?) <a class="anchor"/g)].map(([, id = '', words = '']) => ({
    id,
    words: words.replace(/<[^>]*>/g, ''),
  }))
}

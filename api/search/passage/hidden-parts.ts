/**
 * The text of a Markdown file without its front matter and comments.
 *
 * Comments are removed in code too. A comment that is never closed hides the rest of the text.
 */
export function withoutHiddenParts(text: string, { isMdx = false } = {}): string {
  const body = withoutComments(text.slice(frontMatterEnd(text)), '<!--', '-->')
  return isMdx ? withoutComments(body, '{/*', '*/}') : body
}

/** Where the text after the front matter begins. */
function frontMatterEnd(text: string): number {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const opening = /^(---|\+\+\+)[ \t]*\r?\n/.exec(text.slice(start, start + 16))
  if (!opening) return start
  const closing = opening[1] === '---' ? /\n(?:---|\.\.\.)[ \t]*\r?(?:\n|$)/g : /\n\+\+\+[ \t]*\r?(?:\n|$)/g
  closing.lastIndex = start + opening[0].length - 1
  return closing.test(text) ? closing.lastIndex : start
}

function withoutComments(text: string, opening: string, closing: string): string {
  let start = text.indexOf(opening)
  if (start < 0) return text
  const kept: string[] = []
  let from = 0
  while (start >= 0) {
    kept.push(text.slice(from, start), /\S/.test(text[start - 1] ?? ' ') ? SEAM : ' ')
    const end = text.indexOf(closing, start + opening.length)
    if (end < 0) return kept.join('')
    from = end + closing.length
    start = text.indexOf(opening, from)
  }
  kept.push(text.slice(from))
  return kept.join('')
}

/** A zero-width space replaces a comment inside a line: the characters at its sides form no new mark, and no gap is visible. */
const SEAM = '\u200b'

import hljs from 'highlight.js/lib/common'
import { escapeHtml, markHiddenInHtml } from './hidden-characters.ts'
import { extensionOf } from './links.ts'

/** Beyond these the time of a highlighter grows faster than its text, so the text stays plain. UTF-16 units. */
const HIGHLIGHTED = { characters: 40_000, line: 1_000 }

/**
 * Code as HTML, with a `span` of a class `hljs-…` around each token, and hidden characters marked.
 *
 * @param language a name or a file extension; an unknown one gives plain code
 */
export function highlightCode(code: string, language: string): string {
  const isKnown = language !== '' && hljs.getLanguage(language) !== undefined
  if (!isKnown || code.length > HIGHLIGHTED.characters || hasLongLine(code)) return markHiddenInHtml(escapeHtml(code))
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true })
  return markHiddenInHtml(value)
}

export interface NumberedCode {
  content: string
  /** Its extension tells the language. */
  path: string
  /** Starts the ids of the lines. */
  idPrefix: string
  firstLine: number
}

/** A file as HTML, a `span` of class `line` for each line with a link to itself. Without its tags it is the text, character for character. */
export function renderCode({ content, path, idPrefix, firstLine }: NumberedCode): string {
  return splitLines(highlightCode(content, extensionOf(path)))
    .map((line, index) => {
      const number = firstLine + index
      const id = `${idPrefix}L${number}`
      return `<span class="line" id="${id}"><a href="#${id}" aria-label="${number}"></a>${line}</span>`
    })
    .join('')
}

/** The lines of highlighted code, each with its line feed. Tokens over several lines are closed and opened again. */
function splitLines(html: string): string[] {
  const open: string[] = []
  const lines: string[] = []
  let line = ''
  for (const [piece] of html.matchAll(/<\/?[a-z][^>]*>|\n|[^<\n]+/g)) {
    if (piece === '\n') {
      lines.push(`${line}\n${open.map(closing).reverse().join('')}`)
      line = open.join('')
      continue
    }
    if (piece.startsWith('</')) open.pop()
    else if (piece.startsWith('<')) open.push(piece)
    line += piece
  }
  return line === open.join('') && lines.length > 0 ? lines : [...lines, line]
}

function closing(tag: string): string {
  return `</${/^<([a-z]+)/.exec(tag)?.[1] ?? ''}>`
}

function hasLongLine(code: string): boolean {
  return code.split('\n').some(line => line.length > HIGHLIGHTED.line)
}

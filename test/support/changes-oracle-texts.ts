import { posix } from 'node:path'
import MarkdownIt, { type Token } from 'markdown-it'
import { splitParts } from './oracle-front-matter.ts'

/* What the oracle of comparisons takes from a text: title, summary, hidden characters, hosts, commands. Without a line of the indexer or of core. */

const parser = new MarkdownIt('commonmark', { html: true })

export interface DescribedText {
  title: string
  /** Declared, or the first paragraph where the text may be quoted. */
  summary: string
}

/** Title and summary of a document. */
export function describeDocument(path: string, text: string, mayQuote: boolean): DescribedText {
  const { fields, body } = splitParts(text)
  const tokens = parser.parse(body, {})
  const heading = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h1')
  const declared = ['description', 'summary'].map(key => onOneLine(fields?.[key])).find(value => value !== '')
  return {
    title: onOneLine(fields?.title) || (heading < 0 ? '' : plain(tokens[heading + 1])) || titleOfName(path),
    summary: declared ?? (mayQuote ? firstParagraph(body) : ''),
  }
}

/** The first paragraph outside lists that is prose. */
export function firstParagraph(body: string): string {
  const tokens = parser.parse(body, {})
  let lists = 0
  for (const [index, { type }] of tokens.entries()) {
    if (/^(?:bullet|ordered)_list_/.test(type)) lists += type.endsWith('open') ? 1 : -1
    const inline = tokens[index + 1]
    if (
      type !== 'paragraph_open' ||
      lists > 0 ||
      /^(?:\||:::|!!!|\?\?\?|\[[!^]|(?:import|export)\s|\{[%{])/.test(inline?.content ?? '')
    )
      continue
    const paragraph = plain(inline)
    if (/\p{L}{2}/u.test(paragraph)) return paragraph
  }
  return ''
}

function titleOfName(path: string): string {
  return posix
    .basename(path)
    .replace(/\.[^.]+$/, '')
    .replace(/[-_]+/g, ' ')
    .trim()
}

/** The text of an inline token. An anchor at the end of a heading is none of it. */
function plain(inline: Token | undefined): string {
  const children = parser.parseInline((inline?.content ?? '').replace(/(?<=.)\s*\{\s*#[^\s{}]+\s*\}$/, ''), {})[0]?.children ?? []
  return onOneLine(
    children
      .map(({ type, content }) => (/^(?:text|text_special|code_inline)$/.test(type) ? content : /break$/.test(type) ? ' ' : ''))
      .join(''),
  )
}

/** Characters that a reader does not see, but joiners and variation selectors: whether those are ordinary depends on what is beside them. */
const HIDDEN = /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)(?:\r(?!\n)|(?!\r)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164])/gu

/** Rules and includes are the texts of many skills. */
function memo<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return text => {
    const value = known.get(text) ?? read(text)
    known.set(text, value)
    return value
  }
}

/** How often each hidden character occurs, by the name of its code point. */
export const hiddenIn = memo(countHidden)

function countHidden(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [character] of text.matchAll(HIDDEN)) {
    const name = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** A value of front matter as listings show it. */
export function onOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  return withoutHidden(text).replace(/\s+/gu, ' ').trim()
}

export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, character => (/[\p{Cc}\p{Z}]/u.test(character) ? ' ' : ''))
}

/** Commands of scripts, of blocks of shells and of spans on one line, with their lines. */
export function commandsIn(path: string, text: string): { command: string; line: number }[] {
  const isScript = !/\.md$/.test(path) && (/\.(?:sh|py|js)$/.test(path) || text.startsWith('#!'))
  let language: string | null = isScript ? 'sh' : null
  const found: { command: string; line: number }[] = []
  const add = (code: string, index: number) => {
    const command = code.trim().replace(/^\$ /, '')
    if (COMMANDS.some(one => one.test(command))) found.push({ command, line: index + 1 })
  }
  const lines = text.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const fence = isScript ? null : /^\s*(?:```|~~~)(.*)$/.exec(line)
    if (fence) language = language === null ? (fence[1] ?? '').trim() : null
    else if (language === null) for (const [, span = ''] of line.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) add(span, index)
    else if (/^(?:sh|bash|shell|zsh|console|powershell)$/.test(language) || (language === '' && line.startsWith('$ '))) {
      const first = index
      while (lines[index]?.endsWith('\\') && index < lines.length - 1) index++
      add(lines.slice(first, index + 1).join('\n'), first)
    }
  }
  return found
}

const COMMANDS = [
  /\b(?:curl|wget)\b.*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b/,
  /^(?:npx|uvx|bunx|sudo|eval|ssh|scp)\s+\S/,
  /^(?:pipx run|(?:pnpm|yarn) dlx|pip3? install|npm install (?:-g|--global)|chmod \+x|base64 -d|rm -rf)\b/,
]

/** The hosts that http(s) URLs of a text name. */
export const hostsIn = memo(findHosts)

function findHosts(text: string): string[] {
  const hosts = new Set<string>()
  for (const [, authority = ''] of text.matchAll(/(?:https|(?<![a-z0-9+.-])http):\/\/([^\s/?#\\"'<>(){}|^`]*)/gi)) {
    const written = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{M}\p{N}._~%-]+)/iu.exec(authority.split('@').at(-1) ?? '')?.[0] ?? ''
    const name = written.replace(/[.~_-]+$/, '')
    if (/^[\w.-]+$/.test(name)) hosts.add(name.toLowerCase())
    else if (URL.canParse(`http://${name}`)) hosts.add(new URL(`http://${name}`).hostname)
  }
  return [...hosts]
}

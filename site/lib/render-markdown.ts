import MarkdownIt from 'markdown-it'
import { escapeHtml, markHidden } from './hidden-characters.ts'

export interface MarkdownOptions {
  /** Resolves the target of a link; `null` shows the words without a link. */
  resolveLink(href: string): string | null
  /** Prefix of every id in the text, so that it cannot collide with an id of the page. */
  idPrefix: string
}

// Headings of the text start at level 3: the page uses 1 for the address and 2 for the name of what it shows.
const HEADING_OFFSET = 2

/** The tables have more cells than the text has room for: short rows are filled up, so a few characters can stand for thousands of cells. */
export class TooManyCells extends Error {}

/** A written cell takes at least two characters, itself and its bar. */
const CELL_CHARACTERS = 2

/**
 * Renders untrusted Markdown as HTML that loads and runs nothing: raw HTML is shown as text, only web, mail and relative links become
 * links, images are named instead of loaded, and no `style` attribute is written.
 *
 * @throws TooManyCells
 */
export function renderMarkdown(source: string, options: MarkdownOptions): string {
  const env: RenderEnv = { ...options, usedIds: new Map(), openLinks: [], cellsLeft: source.length / CELL_CHARACTERS }
  const frontMatter = FRONT_MATTER.exec(source)?.[0] ?? ''
  return (frontMatter === '' ? '' : codeBlock(frontMatter)) + markdown.render(source.slice(frontMatter.length), env)
}

// Markdown itself would take it for a rule and a heading.
const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|$)/

interface RenderEnv extends MarkdownOptions {
  [key: string | symbol]: unknown
  usedIds: Map<string, number>
  /** For every open link: whether its start tag was written. */
  openLinks: boolean[]
  cellsLeft: number
}

const markdown = createMarkdown()

function createMarkdown() {
  const md = new MarkdownIt({ html: false, linkify: false, typographer: false })
  md.validateLink = href =>
    /^(?:https?:\/\/|mailto:)/i.test(href) || !(/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//'))

  keepFootnotes(md)
  const rules = md.renderer.rules
  rules.text = (tokens, index) => markHidden(tokens[index]?.content ?? '')
  rules.code_inline = (tokens, index) => `<code>${markHidden(tokens[index]?.content ?? '')}</code>`
  rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '')
  rules.fence = (tokens, index) => codeBlock(tokens[index]?.content ?? '')
  rules.image = (tokens, index) =>
    `<span class="image-name">image: ${markHidden(tokens[index]?.content || 'no description')}</span>`

  rules.heading_open = (tokens, index, _options, env) => {
    const level = headingLevel(tokens[index]?.tag)
    const id = uniqueId(env as RenderEnv, tokens[index + 1]?.content ?? '')
    return `<h${level} id="${escapeHtml(id)}">`
  }
  rules.heading_close = (tokens, index) => `</h${headingLevel(tokens[index]?.tag)}>\n`

  rules.link_open = (tokens, index, _options, env) => {
    const { openLinks, resolveLink } = env as RenderEnv
    const href = resolveLink(String(tokens[index]?.attrGet('href') ?? ''))
    openLinks.push(href !== null)
    return href === null ? '' : `<a href="${escapeHtml(href)}" rel="nofollow ugc noopener">`
  }
  rules.link_close = (_tokens, _index, _options, env) => ((env as RenderEnv).openLinks.pop() ? '</a>' : '')

  rules.table_open = () => '<div class="table" tabindex="0" role="group" aria-label="table"><table>\n'
  rules.table_close = () => '</table></div>\n'
  for (const cell of ['th', 'td'] as const) {
    rules[`${cell}_open`] = (tokens, index, _options, env) => {
      if ((env as RenderEnv).cellsLeft-- < 1) throw new TooManyCells('more cells than the text can have written')
      const align = /^text-align:(left|center|right)$/.exec(String(tokens[index]?.attrGet('style') ?? ''))?.[1]
      return align === undefined ? `<${cell}>` : `<${cell} class="align-${align}">`
    }
  }
  return md
}

/** Shows footnotes as they are written: Markdown itself takes `[^1]: Word` for the definition of a link. */
function keepFootnotes({ block }: InstanceType<typeof MarkdownIt>): void {
  const rules = block.ruler.getRules('')
  block.ruler.disable('reference')
  const others = new Set(block.ruler.getRules(''))
  const reference = rules.find(rule => !others.has(rule))
  if (reference === undefined) throw new Error('markdown-it has no rule for definitions of links')
  block.ruler.at('reference', (state, startLine, endLine, silent) => {
    const start = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0)
    return !state.src.startsWith('[^', start) && reference(state, startLine, endLine, silent)
  })
  block.ruler.enable('reference')
}

function codeBlock(text: string): string {
  return `<pre tabindex="0"><code>${markHidden(text)}</code></pre>\n`
}

function headingLevel(tag = 'h1'): number {
  return Math.min(6, Number(tag.slice(1)) + HEADING_OFFSET)
}

/** The id of a heading, as links `#words-of-the-heading` spell it; numbered when the heading occurs again. */
function uniqueId(env: RenderEnv, heading: string): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const used = env.usedIds.get(slug) ?? 0
  env.usedIds.set(slug, used + 1)
  return `${env.idPrefix}${slug}${used === 0 ? '' : `-${used}`}`
}

import MarkdownIt from 'markdown-it'
import footnotes from 'markdown-it-footnote'
import type { PageT } from '#words/t.ts'
import { escapeHtml, markHidden } from './hidden-characters.ts'
import { highlightCode } from './highlight.ts'
import { renderRuns } from './text-runs.ts'

export interface MarkdownOptions {
  /** Resolves the target of a link; `null` shows the words without a link. */
  resolveLink(href: string): string | null
  /** Prefix of every id in the text, so that it cannot collide with an id of the page. */
  idPrefix: string
  /** Names parts of the text. */
  t: PageT
  /** How many levels the headings of the text lie below those of the page. Default: 2. */
  headingOffset?: number
}

// The page uses level 1 for the address and 2 for the name of what it shows.
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
  const env: RenderEnv = {
    ...options,
    usedIds: new Map(),
    lastId: '',
    isInFootnote: false,
    openLinks: [],
    cellsLeft: source.length / CELL_CHARACTERS,
  }
  const frontMatter = FRONT_MATTER.exec(source)?.[0] ?? ''
  return (
    (frontMatter === '' ? '' : `<div class="front-matter">${codeBlock(frontMatter, 'yaml')}</div>\n`) +
    renderRuns(markdown.parse(source.slice(frontMatter.length), env), tokens =>
      markdown.renderer.render(tokens, markdown.options, env),
    )
  )
}

// Markdown itself would take it for a rule and a heading.
const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|$)/

interface RenderEnv extends MarkdownOptions {
  [key: string | symbol]: unknown
  usedIds: Map<string, number>
  /** Of the open heading. */
  lastId: string
  /** For every open link: whether its start tag was written. */
  openLinks: boolean[]
  cellsLeft: number
  isInFootnote: boolean
  /** Of the plugin: the number of each label, and the footnotes in their order. */
  footnotes?: { refs?: Record<string, number>; list?: { label: string; count: number }[] }
}

const markdown = createMarkdown()

function createMarkdown() {
  const md = new MarkdownIt({ html: false, linkify: false, typographer: false })
  md.validateLink = href =>
    /^(?:https?:\/\/|mailto:)/i.test(href) || !(/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//'))

  nameFootnotes(md)
  readTasks(md)
  const rules = md.renderer.rules
  rules.text = (tokens, index) => markHidden(tokens[index]?.content ?? '')
  rules.code_inline = (tokens, index) => `<code>${markHidden(tokens[index]?.content ?? '')}</code>`
  rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '')
  rules.fence = (tokens, index) => codeBlock(tokens[index]?.content ?? '', /^\S*/.exec(tokens[index]?.info.trim() ?? '')?.[0])
  rules.image = (tokens, index, _options, env) => {
    const { t } = env as RenderEnv
    return `<span class="image-name">${t('text.image', { name: markHidden(tokens[index]?.content || t('text.noDescription')) })}</span>`
  }

  rules.heading_open = (tokens, index, _options, env) => {
    const level = headingLevel(tokens[index]?.tag, env as RenderEnv)
    const id = uniqueId(env as RenderEnv, tokens[index + 1]?.content ?? '')
    ;(env as RenderEnv).lastId = id
    return `<h${level} id="${escapeHtml(id)}">`
  }
  rules.heading_close = (tokens, index, _options, env) => {
    const { lastId } = env as RenderEnv
    return ` <a class="anchor" href="#${escapeHtml(lastId)}" aria-hidden="true" tabindex="-1">#</a></h${headingLevel(tokens[index]?.tag, env as RenderEnv)}>\n`
  }

  rules.link_open = (tokens, index, _options, env) => {
    const { openLinks, resolveLink } = env as RenderEnv
    const href = resolveLink(String(tokens[index]?.attrGet('href') ?? ''))
    openLinks.push(href !== null)
    return href === null ? '' : `<a href="${escapeHtml(href)}" rel="nofollow ugc noopener">`
  }
  rules.link_close = (_tokens, _index, _options, env) => ((env as RenderEnv).openLinks.pop() ? '</a>' : '')

  rules.table_open = (_tokens, _index, _options, env) =>
    `<div class="table" tabindex="0" role="group" aria-label="${(env as RenderEnv).t('text.table')}"><table>\n`
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

/** Footnotes at the end of the text, with ids of the text; a browser reads their marks as links. */
function nameFootnotes(md: InstanceType<typeof MarkdownIt>): void {
  md.use(footnotes)
  keepInnerFootnotes(md)
  md.core.ruler.before('footnote_tail', 'unused_footnotes', ({ tokens, env }) => listUnused(tokens, env as RenderEnv))
  const { rules } = md.renderer
  rules.footnote_anchor_name = (tokens, index, _options, env) => `-${(env as RenderEnv).idPrefix}${footnoteNumber(tokens[index])}`
  rules.footnote_block_open = (_tokens, _index, _options, env) =>
    `<div class="footnotes" role="group" aria-label="${(env as RenderEnv).t('text.footnotes')}"><ol>\n`
  rules.footnote_block_close = () => '</ol></div>\n'
  rules.footnote_anchor = (tokens, index, _options, env) => {
    const { subId = 0 } = (tokens[index]?.meta ?? {}) as { subId?: number }
    const number = `${footnoteNumber(tokens[index])}${subId > 0 ? `:${subId}` : ''}`
    const id = escapeHtml(`fnref-${(env as RenderEnv).idPrefix}${number}`)
    return ` <a href="#${id}" aria-label="${(env as RenderEnv).t('text.backTo', { n: number })}">^</a>`
  }
}

/**
 * Shows a footnote inside a footnote as it is written. The plugin would lose the words of the outer one, and Markdown itself takes `[^1]: Word`
 * for the definition of a link.
 */
function keepInnerFootnotes({ block: { ruler } }: InstanceType<typeof MarkdownIt>): void {
  const wrap = (name: string, around: (rule: BlockRule) => BlockRule, alt: string[]) => {
    const rules = ruler.getRules('')
    ruler.disable(name)
    const others = new Set(ruler.getRules(''))
    ruler.enable(name)
    const rule = rules.find(one => !others.has(one))
    if (rule === undefined) throw new Error(`markdown-it has no rule ${name}`)
    ruler.at(name, around(rule), { alt })
  }
  wrap(
    'reference',
    rule => (state, startLine, endLine, silent) => {
      const start = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0)
      return !state.src.startsWith('[^', start) && rule(state, startLine, endLine, silent)
    },
    [],
  )
  wrap(
    'footnote_def',
    rule => (state, startLine, endLine, silent) => {
      const env = state.env as RenderEnv
      if (env.isInFootnote) return false
      env.isInFootnote = true
      try {
        return rule(state, startLine, endLine, silent)
      } finally {
        env.isInFootnote = false
      }
    },
    ['paragraph', 'reference'],
  )
}

type BlockRule = ReturnType<InstanceType<typeof MarkdownIt>['block']['ruler']['getRules']>[number]

/** Lists footnotes that the text does not refer to, and those whose label is there twice: an agent receives their words, too. */
function listUnused(tokens: readonly { type: string; meta: unknown }[], { footnotes: kept }: RenderEnv): void {
  const seen = new Set<string>()
  for (const [index, { type, meta }] of tokens.entries()) {
    if (type !== 'footnote_reference_open' || !kept?.refs) continue
    const definition = meta as { label: string }
    if (seen.has(definition.label)) definition.label += ` ${index}`
    seen.add(definition.label)
    const key = `:${definition.label}`
    if ((kept.refs[key] ?? -1) >= 0) continue
    kept.list ??= []
    kept.refs[key] = kept.list.push({ label: definition.label, count: 0 }) - 1
  }
}

function footnoteNumber(token: { meta: unknown } | undefined): number {
  return ((token?.meta ?? { id: 0 }) as { id: number }).id + 1
}

/** `[ ] words` and `[x] words` at the start of an item become a box that a browser shows and reads. */
function readTasks(md: InstanceType<typeof MarkdownIt>): void {
  md.core.ruler.push('tasks', ({ tokens, Token }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'inline' || tokens[index - 2]?.type !== 'list_item_open') continue
      const first = token.children?.[0]
      const task = first?.type === 'text' ? /^\[([ xX])\]\s/.exec(first.content) : null
      if (!task || !first) continue
      first.content = first.content.slice(task[0].length)
      const box = new Token('task', '', 0)
      box.meta = { isDone: task[1] !== ' ' }
      token.children?.unshift(box)
    }
  })
  md.renderer.rules.task = (tokens, index, _options, env) => {
    const { t } = env as RenderEnv
    const isDone = tokens[index]?.meta?.isDone === true
    return `<span class="task" role="img" aria-label="${isDone ? t('text.done') : t('text.toDo')}">${isDone ? '☑' : '☐'}</span> `
  }
}

function codeBlock(code: string, language = ''): string {
  return `<pre tabindex="0"><code>${highlightCode(code, language)}</code></pre>\n`
}

function headingLevel(tag = 'h1', { headingOffset = HEADING_OFFSET }: MarkdownOptions): number {
  return Math.min(6, Number(tag.slice(1)) + headingOffset)
}

/** The words of a heading as a link to it has them, before they are numbered. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** The id of a heading, as links `#words-of-the-heading` spell it; numbered when the heading occurs again. */
function uniqueId(env: RenderEnv, heading: string): string {
  const slug = slugOf(heading)
  const used = env.usedIds.get(slug) ?? 0
  env.usedIds.set(slug, used + 1)
  return `${env.idPrefix}${slug}${used === 0 ? '' : `-${used}`}`
}

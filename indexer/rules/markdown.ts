import MarkdownIt, { type Env, type Token } from 'markdown-it'
import { MARKDOWN_CHARACTERS } from '#core/limits.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { shortLine } from './short-line.ts'

/**
 * Parses blocks into tokens that are made at once. Those of markdown-it are made property by property, under computed names, which takes a third of
 * the time in which a text is parsed.
 */
class BlockState extends MarkdownIt.StateBlock {
  override push(type: string, tag: string, nesting: Token['nesting']): Token {
    const token = new BlockToken(type, tag, nesting) as unknown as Token
    if (nesting < 0) this.level--
    token.level = this.level
    if (nesting > 0) this.level++
    this.tokens.push(token)
    return token
  }
}

class BlockToken {
  map = null
  level = 0
  children = null
  content = ''
  markup = ''
  info = ''
  block = true
  hidden = false
  type: string
  tag: string
  attrs = null
  nesting: Token['nesting']
  meta = null

  constructor(type: string, tag: string, nesting: Token['nesting']) {
    this.type = type
    this.tag = tag
    this.nesting = nesting
  }
}
Object.setPrototypeOf(BlockToken.prototype, MarkdownIt.Token.prototype)

/** What the indexer takes from a Markdown text. */
export interface MarkdownFacts {
  /** The first heading of level 1: a lower one is the title of a part. */
  title: string | null
  /** The first paragraph of prose, on one line; `''` when there is none. */
  summary: string
  /** One per line, without anchors. */
  headings: string
  /** Lines on which an HTML comment begins, counted from 1. */
  comments: number[]
  /** In order of appearance; outside code blocks only. */
  links: TextLink[]
}

/**
 * Parses the first `MARKDOWN_CHARACTERS`, up to a line end. After them only comments are found, in code blocks too.
 *
 * @param text Markdown without front matter
 */
export function readMarkdown(text: string, limits: { titleCharacters: number; summaryCharacters: number }): MarkdownFacts {
  const environment: Env = {}
  const links: TextLink[] = []
  let title: string | null = null
  let summary = ''
  const headings: string[] = []
  const comments: number[] = []
  let listDepth = 0

  const parsed = beginningOf(text)
  const isTeaching = teachesSkills(parsed)
  const tokens = parser.parse(parsed, environment)
  dropFootnotes(environment)
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') listDepth++
    if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') listDepth--
    if (token.type === 'html_block') addComments(comments, token.content, lineOf(token))
    if (token.type !== 'inline') continue

    const container = tokens[index - 1]
    const isHeading = container?.type === 'heading_open'
    const content = isHeading ? withoutAnchor(token.content) : token.content
    if (isHeading) headings.push(content)
    const isTitle = isHeading && container.tag === 'h1' && title === null
    const isSummary = container?.type === 'paragraph_open' && summary === '' && listDepth === 0 && !NO_SUMMARY.test(content)
    if (!isTitle && !isSummary && !MAY_LINK.test(content)) continue

    const children: Token[] = []
    parser.inline.parse(content, parser, environment, children)
    if (isTitle) title = shortLine(plainText(children), limits.titleCharacters) || null
    if (isSummary) summary = paragraphSummary(children, limits.summaryCharacters)
    for (const at of children.keys()) addLink(links, children, at, isTeaching)
    addInlineComments(comments, children, lineOf(token))
  }
  addComments(comments, text.slice(parsed.length), 1 + countLineBreaks(text, 0, parsed.length))

  // Those in use are links by now. Others may be comments for linters, or lines of a log.
  for (const { href } of Object.values(environment.references ?? {})) links.push({ kind: 'code', target: href })
  return { title, summary, headings: headings.join('\n'), comments, links }
}

/** Parses blocks only; `readMarkdown` parses the inline text of a block when it needs it. */
const parser = new MarkdownIt('commonmark', { html: true })
parser.block.State = BlockState
parser.core.ruler.disable(['inline', 'text_join'])
// Targets stay as written: nothing is rendered.
parser.normalizeLink = url => url
parser.validateLink = () => true

const MAY_LINK = /[`[]|<[\w!]/
/** Tables, admonition fences, callout marks, footnotes, MDX imports and exports. */
const NO_SUMMARY = /^(?:\||:::|!!!|\?\?\?|\[!|\[\^|(?:import|export)\s|\{%|\{\{)/

/** The parser takes the footnote `[^1]: Word` for the definition of a link. */
function dropFootnotes({ references = {} }: Env): void {
  for (const label of Object.keys(references)) if (label.startsWith('^')) delete references[label]
}

/** Removes the anchor from the end of a heading: it repeats the heading, often in another language. */
function withoutAnchor(heading: string): string {
  return heading.endsWith('}') ? heading.replace(ANCHOR, '').trimEnd() || heading : heading
}

// `Title {#its-anchor}`, `Title {#its-anchor .class}`, in MDX `Title {/*its-anchor*/}`; not `${#length}` (shell), `{#if block}` (templates), or an escaped brace.
const ANCHOR = /(?<![$\\])\{(?:[ \t]*#[^\s{}]+(?:[ \t]+\.[^\s{}]+)*[ \t]*|\/\*[^{}]*\*\/)\}$/

function addLink(links: TextLink[], children: readonly Token[], at: number, isTeaching: boolean): void {
  const token = children[at] as Token
  if (token.type === 'image') links.push({ kind: 'image', target: String(token.attrGet('src') ?? '') })
  if (token.type === 'link_open') {
    // `handlers[event](payload)` is a call.
    const isCall = /[\w$)\]]$/.test(children[at - 1]?.content ?? '')
    links.push({ kind: isCall ? 'code' : 'link', target: String(token.attrGet('href') ?? '') })
  }
  if (token.type === 'code_inline') {
    const isInLink = children[at - 1]?.type === 'link_open'
    const isPath =
      !isTeaching && !isInLink && asksForSkillFile(token.content.trim(), textBefore(children, at), textAfter(children, at))
    links.push({ kind: isPath ? 'path' : 'code', target: token.content })
  }
}

/** Tokens around a code span that are looked at. */
const AROUND = 24

function textBefore(children: readonly Token[], at: number): string {
  return textWithLines(children.slice(Math.max(0, at - AROUND), at))
}

function textAfter(children: readonly Token[], at: number): string {
  return textWithLines(children.slice(at + 1, at + 1 + AROUND))
}

function textWithLines(children: readonly Token[]): string {
  return children.map(({ type, content }) => (type.endsWith('break') ? '\n' : content)).join('')
}

function lineOf(token: Token): number {
  return (token.map?.[0] ?? 0) + 1
}

function beginningOf(text: string): string {
  if (text.length <= MARKDOWN_CHARACTERS) return text
  return text.slice(0, text.lastIndexOf('\n', MARKDOWN_CHARACTERS - 1) + 1 || MARKDOWN_CHARACTERS)
}

function addComments(comments: number[], html: string, firstLine: number): void {
  let line = firstLine
  let counted = 0
  for (let at = html.indexOf('<!--'); at >= 0; at = html.indexOf('<!--', at + 4)) {
    line += countLineBreaks(html, counted, at)
    counted = at
    if (comments.at(-1) !== line) comments.push(line)
  }
}

function addInlineComments(comments: number[], children: readonly Token[], firstLine: number): void {
  let line = firstLine
  for (const child of children) {
    if (child.type === 'html_inline' && child.content.startsWith('<!--') && comments.at(-1) !== line) comments.push(line)
    if (child.type === 'softbreak' || child.type === 'hardbreak') line++
    else line += countLineBreaks(child.content, 0, child.content.length)
  }
}

function paragraphSummary(children: readonly Token[], limit: number): string {
  const text = plainText(children)
  return /\p{L}{2}/u.test(text) ? shortLine(text, limit) : ''
}

function plainText(children: readonly Token[]): string {
  let text = ''
  for (const child of children) {
    if (child.type === 'text' || child.type === 'text_special' || child.type === 'code_inline') text += child.content
    else if (child.type === 'softbreak' || child.type === 'hardbreak') text += ' '
  }
  return text
}

/**
 * Whether a code span clearly tells the reader to use a file of its skill, so that the file has to be there. It is in doubt where a sentence speaks of
 * an example, of a file that is to be made, or of another project; scripts and assets are also those of the project that the agent works on.
 *
 * @param before the text of the block up to the span
 * @param after the text of the block after it
 */
function asksForSkillFile(span: string, before: string, after: string): boolean {
  const [, folder = ''] = PATH.exec(span) ?? []
  if (folder === '') return false
  const sentence = before.split(SENTENCE_END).at(-1) ?? ''
  if (IN_DOUBT.test(sentence) || IS_MADE.test(after)) return false
  if (REFERENCE_FOLDERS.test(folder)) return true
  return ONE_LEVEL.test(span) && (VERB.test(before) || (BEGINNING.test(before) && EXPLANATION.test(after)))
}

/** A text that names its own kind of file so often teaches how to write skills, and its paths are examples. */
function teachesSkills(text: string): boolean {
  let named = 0
  for (let at = text.indexOf('SKILL.md'); at >= 0 && named < TEACHING; at = text.indexOf('SKILL.md', at + 1)) named++
  return named >= TEACHING
}

const TEACHING = 3

/** The folders that the convention of skills gives a meaning, and names that are like theirs. */
const PATH =
  /^(?:\.[\\/])?([Rr]eferences?|[Rr]esources|scripts|assets|templates|examples)[\\/](?:[\w@%+-][\w@%+.-]*[\\/])*[\w@%+-][\w@%+.-]*\.[A-Za-z]\w{0,9}$/
const REFERENCE_FOLDERS = /^re/i
const ONE_LEVEL = /^(?:\.[\\/])?[^\\/]+[\\/][^\\/]+$/
/** Of a table, a row. */
const SENTENCE_END = /[.!?。！？]\s|\n\|/
const IN_DOUBT =
  /\b(?:e\.?g\b|example\b|such as|like|would|could|create|creates|created|write|writes|save|saved|generates?|generated|outputs?|into|add|your|contains?|do not|don't|never|instead of|another|other)|['’]s\s*$|\bits\s*$/i
const IS_MADE = /^[^.!?]{0,40}\b(?:would|created?|generated|will be)\b/i
const VERB = /\b(?:run|runs|running|rerun|execute|use|uses|using|via|call|invoke|see|read|load|open|script|with|at)[\s*_("'“]*$/i
/** Of a block, a cell, or what stands behind a colon or a dash. */
const BEGINNING = /(?:^|[|:–—→•-])[\s*_("'“]*$/
/** What a list of files says of each: nothing, or an explanation. */
const EXPLANATION = /^[*_)"'”]*(?:\s*$|\s*[-–—:|(,;.\n])/

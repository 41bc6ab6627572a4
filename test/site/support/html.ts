import { RECENT_SCRIPT } from '#site/lib/recent-script.ts'
import { SCHEME_SCRIPT } from '#site/lib/scheme-script.ts'

/** The little of HTML that the tests need to read, without a browser. */

// A quoted value may hold `>`.
const TAG = /<\/?[a-z!](?:"[^"]*"|[^">])*>/gi

/** Scripts and styles hold text, whatever it looks like. */
const RAW_TEXT = /(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>/gi

/** Every start tag as it stands. */
export function tagsOf(html: string): string[] {
  return (html.replace(RAW_TEXT, '$1').match(TAG) ?? []).filter(tag => /^<[a-z]/i.test(tag))
}

/** Values of an attribute of all tags of a name, decoded. */
export function attributesOf(html: string, tag: string, attribute: string): string[] {
  const isOfTag = new RegExp(`^<${tag}[\\s>]`, 'i')
  const spelled = new RegExp(`\\s${attribute}="([^"]*)"`, 'i')
  return tagsOf(html).flatMap(text => {
    const value = isOfTag.test(text) ? spelled.exec(text)?.[1] : undefined
    return value === undefined ? [] : [decodeEntities(value)]
  })
}

/** What a reader reads, with runs of white space as one space. */
export function textOf(html: string): string {
  const visible = html
    .replace(/<head>[\s\S]*?<\/head>/, '')
    .replace(RAW_TEXT, ' ')
    .replaceAll('<wbr>', '')
    .replace(TAG, ' ')
  return decodeEntities(visible).replace(/\s+/g, ' ').trim()
}

/** Every run of text of a page, and what is named by an attribute: what a reader sees or hears. Code, and text that is marked as of another language, is left out. */
export function spokenOf(html: string): string[] {
  const body = html
    .replace(/^[\s\S]*<\/head>/, '')
    .replace(RAW_TEXT, ' ')
    .replace(/<(\w+)\b[^>]* lang="[^"]*"[^>]*>[\s\S]*?<\/\1>|<(pre|code)\b[\s\S]*?<\/\2>/g, ' ')
  const named = ['aria-label', 'title', 'placeholder', 'alt'].flatMap(name => attributesOf(body, '[a-z0-9]+', name))
  return [...titleOf(html).split(' · '), ...body.split(TAG).map(decodeEntities), ...named]
    .map(words => words.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}

/** The exact texts of a page: what stands in each `pre`, as a browser has it. */
export function exactTextsOf(html: string): string[] {
  const blocks = html.match(/<pre class="exact[^>]*>[\s\S]*?<\/pre>/g) ?? []
  return blocks.map(block => decodeEntities(block.replace(TAG, '').replace(/^\n/, '')))
}

export function titleOf(html: string): string {
  return decodeEntities(/<title>([\s\S]*?)<\/title>/.exec(html)?.[1] ?? '')
}

/** The scripts of a page: that of its colors in the head and that of recent addresses, word for word; one that is the last element; in the documentation, that of the search. One of a repository would be elsewhere, and stays. */
const SCHEME = `<script>${SCHEME_SCRIPT}</script>`
const RECENT = `<script>${RECENT_SCRIPT}</script>`
const PAGE_SCRIPT = /<script type="module">(?:(?!<script)[\s\S])*<\/script>(?=\s*<\/body>)/
const SEARCH_SCRIPT =
  /(<div class="header-field">\s*<svg (?:(?!<script)[\s\S])*<docs-search (?:(?!<script)[\s\S])*)<script type="module">[\s\S]*?<\/script>/

/** A picture that this origin has checked and cut: its URL is an address, encoded, and it has no words. */
const PICTURE =
  /^<img (?:class="row-picture" )?src="\/picture\/[\w@%./-]+" alt="" width="\d+" height="\d+" (?:loading="lazy" )?decoding="async" data-letter="[\w.-]">$/

/** The styles of the page. Those of a repository would be a second element, which stays. */
const PAGE_STYLES = /<style>[\s\S]*?<\/style>/

/**
 * What of a page could run, load or hide something, except its own script, its own styles and such pictures: nothing of it may come from a
 * repository.
 */
export function dangersOf(html: string): string[] {
  const foreign = html
    .replace(PAGE_STYLES, '')
    .replace(SCHEME, '')
    .replace(RECENT, '')
    .replace(PAGE_SCRIPT, '')
    .replace(SEARCH_SCRIPT, '$1')
  const tags = tagsOf(foreign).filter(tag => !PICTURE.test(tag))
  return [
    ...tags.filter(tag => /^<(?:script|img|iframe|object|embed|style|base|video|audio|source)\b/i.test(tag)),
    ...tags.filter(tag => /\s(?:on[a-z]+|style|srcset)\s*=/i.test(tag.replace(/"[^"]*"/g, '""'))),
    ...attributesOf(foreign, '[a-z]+', 'href').filter(href => /^\s*(?:javascript|data|vbscript):/i.test(href)),
  ]
}

function decodeEntities(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    return named[name ?? ''] ?? whole
  })
}

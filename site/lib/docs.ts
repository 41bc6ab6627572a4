import { parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { DOCS_PAGES, type DocsPage, docsHref } from './docs-pages.ts'
import { formatReference } from './docs-reference.ts'
import { renderMarkdown } from './render-markdown.ts'

/** A page of the documentation, ready to be shown. */
export interface RenderedDocs {
  page: DocsPage
  title: string
  /** Its Markdown without front matter. */
  text: string
  html: string
  /** Headings of level 2, for the contents. */
  headings: { id: string; words: string }[]
  before: DocsPage | undefined
  after: DocsPage | undefined
}

/** The texts of the project's files, by their path with a leading slash. */
export type Sources = Readonly<Record<string, string>>

/** What the reference is rendered from, as other pages link to it. */
const CONTRACT = 'core/contract/endpoints.ts'

const rendered = new Map<string, RenderedDocs>()

/** The page of a slug; `null` where there is none. Each is rendered once. */
export function loadDocs(slug: string, sources: Sources): RenderedDocs | null {
  const index = DOCS_PAGES.findIndex(page => page.slug === slug)
  const page = DOCS_PAGES[index]
  if (page === undefined) return null
  const kept = rendered.get(slug)
  if (kept) return kept
  const made = { ...renderPage(page, sources), before: DOCS_PAGES[index - 1], after: DOCS_PAGES[index + 1] }
  rendered.set(slug, made)
  return made
}

function renderPage(page: DocsPage, sources: Sources): Pick<RenderedDocs, 'page' | 'title' | 'text' | 'html' | 'headings'> {
  const source = page.source === null ? formatReference() : sources[`/${page.source}`]
  if (source === undefined) throw new Error(`the documentation has no text ${page.source}`)
  const text = source.replace(/^---\n[\s\S]*?\n---\n/, '').trimStart()
  const [, title = page.label] = /^# (.*)\n/.exec(text) ?? []
  const html = renderMarkdown(text.replace(/^# .*\n/, ''), {
    idPrefix: '',
    headingOffset: 0,
    resolveLink: href => resolveDocsLink(page.source ?? '', href),
  })
  const headings = [...html.matchAll(/<h2 id="([^"]*)">(.*?) <a class="anchor"/g)].map(([, id = '', words = '']) => ({
    id,
    words: words.replace(/<[^>]*>/g, ''),
  }))
  return { page, title, text, html, headings }
}

/** The target of a link between files of the project: a page of the documentation, or `null`, which shows the words alone. */
function resolveDocsLink(source: string, href: string): string | null {
  if (/^(?:https?:\/\/|mailto:)/i.test(href) || href.startsWith('/')) return href
  const [target = '', fragment] = href.split('#', 2)
  const anchor = fragment === undefined ? '' : `#${fragment}`
  if (target === '') return anchor
  const path = resolveFile(source, target)
  const page = DOCS_PAGES.find(candidate => (candidate.source ?? CONTRACT) === path)
  return page === undefined ? null : `${docsHref(page)}${anchor}`
}

function resolveFile(source: string, target: string): string {
  const path = new URL(target, `file:///${parentOf((parseRepoPath(source) ?? '') as RepoPath)}/`).pathname
  return decodeURIComponent(path).slice(1)
}

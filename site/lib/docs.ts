import { parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import type { Language } from '../words/languages.ts'
import { WORDS } from '../words/words.ts'
import { type ContentsEntry, contentsOf } from './contents.ts'
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
  headings: ContentsEntry[]
  before: DocsPage | undefined
  after: DocsPage | undefined
}

/** The texts of the project's files, by their path with a leading slash. */
export type Sources = Readonly<Record<string, string>>

/** What the reference is rendered from, as other pages link to it. */
const CONTRACT = 'core/contract/endpoints.ts'

const rendered = new Map<string, RenderedDocs>()

/** The page of a slug in a language; `null` where there is none. Each is rendered once. */
export function loadDocs(slug: string, language: Language, sources: Sources): RenderedDocs | null {
  const index = DOCS_PAGES.findIndex(page => page.slug === slug)
  const page = DOCS_PAGES[index]
  if (page === undefined) return null
  const key = `${language} ${slug}`
  const kept = rendered.get(key)
  if (kept) return kept
  const made = { ...renderPage(page, language, sources), before: DOCS_PAGES[index - 1], after: DOCS_PAGES[index + 1] }
  rendered.set(key, made)
  return made
}

function renderPage(
  page: DocsPage,
  language: Language,
  sources: Sources,
): Pick<RenderedDocs, 'page' | 'title' | 'text' | 'html' | 'headings'> {
  const path = sourceOf(page, language)
  const source = path === null ? formatReference(language) : sources[`/${path}`]
  if (source === undefined) throw new Error(`the documentation has no text ${path}`)
  const text = source.replace(/^---\n[\s\S]*?\n---\n/, '').trimStart()
  const [, title = WORDS[language].docs.labels[page.name]] = /^# (.*)\n/.exec(text) ?? []
  const html = renderMarkdown(text.replace(/^# .*\n/, ''), {
    idPrefix: '',
    headingOffset: 0,
    say: WORDS[language].text,
    resolveLink: href => resolveDocsLink(path ?? '', language, href),
  })
  return { page, title, text, html, headings: contentsOf(html) }
}

/** The file of a page in a language; `null`: rendered from the contract. */
export function sourceOf({ name, source }: DocsPage, language: Language): string | null {
  return language === 'en' || source === null ? source : `docs/${language}/${name}.md`
}

/** The target of a link between files of the project: a page of the documentation, or `null`, which shows the words alone. */
function resolveDocsLink(source: string, language: Language, href: string): string | null {
  if (/^(?:https?:\/\/|mailto:)/i.test(href) || href.startsWith('/')) return href
  const [target = '', fragment] = href.split('#', 2)
  const anchor = fragment === undefined ? '' : `#${fragment}`
  if (target === '') return anchor
  const path = resolveFile(source, target)
  const page = DOCS_PAGES.find(candidate => (sourceOf(candidate, language) ?? CONTRACT) === path)
  return page === undefined ? null : `${docsHref(page)}${anchor}`
}

function resolveFile(source: string, target: string): string {
  const path = new URL(target, `file:///${parentOf((parseRepoPath(source) ?? '') as RepoPath)}/`).pathname
  return decodeURIComponent(path).slice(1)
}

import { z } from 'zod'
import { COMMON_ERRORS, ENDPOINTS, REPOSITORY_ERRORS } from '#core/contract/endpoints.ts'
import { parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { type Language, PAGE_T, type PageT } from '#words/t.ts'
import { type ContentsEntry, contentsOf } from './contents.ts'
import { DOCS_PAGES, type DocsPage, docsHref } from './docs-pages.ts'
import { renderMarkdown, slugOf } from './render-markdown.ts'

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
  const [, title = PAGE_T[language](`docs.labels.${page.name}`)] = /^# (.*)\n/.exec(text) ?? []
  const html = renderMarkdown(text.replace(/^# .*\n/, ''), {
    idPrefix: '',
    headingOffset: 0,
    t: PAGE_T[language],
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

/** The keywords of a JSON schema that the reference reads. */
interface Schema {
  $ref?: string
  id?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  default?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** The reference of the REST interface as Markdown, from the contract that checks requests and answers. */
function formatReference(language: Language): string {
  const t = PAGE_T[language]
  const shapes = new Map<string, Schema>()
  const routes = Object.values(ENDPOINTS).map(endpoint => {
    const answer = endpoint.status === 204 ? {} : toSchema(endpoint.answer, 'output', shapes)
    const said: readonly string[] = endpoint.subject === 'address' ? [...COMMON_ERRORS, ...REPOSITORY_ERRORS] : COMMON_ERRORS
    const own = endpoint.errors.filter(code => !said.includes(code))
    return [
      `## ${translated(endpoint.summary, t)}`,
      ['```', requestLine(endpoint), '```'].join('\n'),
      ...fieldTable(t('reference.parameter'), toQuery(endpoint.query, shapes), t),
      ...(endpoint.body === null ? [] : [t('reference.takes', { type: typeWords(toSchema(endpoint.body, 'input', shapes), t) })]),
      endpoint.status === 204 ? t('reference.answersNothing') : t('reference.answers', { type: typeWords(answer, t) }),
      own.length === 0 ? '' : t('reference.errors', { codes: codes(own) }),
    ].filter(part => part !== '')
  })
  const index = Object.values(ENDPOINTS).map(endpoint => {
    const heading = translated(endpoint.summary, t)
    return `| [${heading}](#${slugOf(heading)}) | \`${endpoint.method} ${endpoint.path}\` |`
  })
  const listed = [...shapes].sort(([left], [right]) => (left < right ? -1 : 1))
  return [
    `# ${t('reference.title')}`,
    t.find('reference.about') ?? '',
    t('reference.examples'),
    `## ${t('reference.routes')}`,
    [`| ${t('reference.meaning')} | ${t('reference.route')} |`, '|---|---|', ...index].join('\n'),
    ...routes.flat(),
    `## ${t('reference.errorsOfAll')}`,
    t('reference.common', { codes: codes(COMMON_ERRORS) }),
    t('reference.ofAddresses', { address: '{address}', codes: codes(REPOSITORY_ERRORS) }),
    `## ${t('reference.shapes')}`,
    ...listed.flatMap(([name, schema]) => [`### ${name}`, ...shapeParts(schema, t)]),
    '',
  ].join('\n\n')
}

function requestLine({ method, path }: { method: string; path: string }): string {
  return `${method} /api/v1${path}`
}

function codes(listed: readonly string[]): string {
  return listed.map(code => `\`${code}\``).join(', ')
}

/** The schema of a query. A number is text in a URL; what it is read as says which numbers there are. */
function toQuery(contract: z.ZodType, shapes: Map<string, Schema>): Schema {
  const sent = toSchema(contract, 'input', shapes)
  const read = toSchema(contract, 'output', shapes).properties ?? {}
  const properties = Object.entries(sent.properties ?? {}).map(([name, field]) => {
    const asRead = read[name]
    return [name, asRead?.type === 'integer' ? asRead : field] as const
  })
  return { ...sent, properties: Object.fromEntries(properties) }
}

/** The schema of a contract. Shapes with a name are collected. */
function toSchema(contract: z.ZodType, io: 'input' | 'output', shapes: Map<string, Schema>): Schema {
  const { $defs = {}, ...schema } = z.toJSONSchema(contract, { io, unrepresentable: 'any' }) as Schema & {
    $defs?: Record<string, Schema>
  }
  for (const [name, shape] of Object.entries($defs)) shapes.set(name, shape)
  if (schema.id === undefined) return schema
  shapes.set(schema.id, schema)
  return { $ref: `#/$defs/${schema.id}` }
}

function shapeParts(schema: Schema, t: PageT): string[] {
  const about = schema.description === undefined ? [] : [translated(schema.description, t)]
  const options = schema.anyOf ?? schema.oneOf
  if (options) return [...about, t('reference.oneOf', { types: options.map(option => typeWords(option, t)).join(', ') })]
  const table = fieldTable(t('reference.field'), schema, t)
  return [...about, ...(table.length > 0 ? table : [t('reference.a', { type: typeWords(schema, t) })])]
}

function fieldTable(kind: string, { properties = {}, required = [] }: Schema, t: PageT): string[] {
  const rows = Object.entries(properties).map(([name, field]) => {
    const presence = required.includes(name)
      ? ''
      : field.default === undefined
        ? t('reference.optional')
        : t('reference.default', { value: String(field.default) })
    const about = [presence, translated(field.description ?? '', t)].filter(Boolean).join('. ')
    return `| \`${name}\` | ${typeWords(field, t)} | ${about.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`
  })
  return rows.length === 0
    ? []
    : [[`| ${kind} | ${t('reference.type')} | ${t('reference.meaning')} |`, '|---|---|---|', ...rows].join('\n')]
}

/** A type in words, with links to shapes. */
function typeWords(schema: Schema, t: PageT): string {
  const either = ` ${t('reference.or')} `
  const name = schema.$ref?.replace(/^.*\//, '')
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(either)
  const options =
    schema.anyOf ?? schema.oneOf ?? (Array.isArray(schema.type) ? schema.type.map(type => ({ ...schema, type })) : null)
  if (options) return options.map(option => typeWords(option, t)).join(either)
  if (schema.type === 'array') return t('reference.listOf', { type: typeWords(schema.items ?? {}, t) })
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return t('reference.mapOf', { type: typeWords(schema.additionalProperties, t) })
  if (schema.type === 'integer' && schema.minimum !== undefined && schema.maximum !== undefined)
    return integerWords(schema.minimum, schema.maximum, t)
  return typeof schema.type === 'string' ? schema.type : 'any'
}

function integerWords(min: number, max: number, t: PageT): string {
  if (max === Number.MAX_SAFE_INTEGER) return 'integer'
  return t('reference.integer', { min: String(min), max: String(max) })
}

function translated(description: string, t: PageT): string {
  return t.find(`contract.${description}`) ?? description
}

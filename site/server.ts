import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatAddress, HOST_NAMES } from '#core/address.ts'
import { createFairGate, type FairGate, type FairGateLimits } from '#core/concurrency/fair-gate.ts'
import type { LegalKind } from '#core/contract/legal.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { LANGUAGES, PAGE_T } from '#words/t.ts'
import type { ApiClient, ApiTransport, Credentials } from './lib/api-client.ts'
import { chooseEncoding } from './lib/compress.ts'
import { DOCS_SECTIONS, type DocsPage } from './lib/docs-pages.ts'
import type { HostUrls, LocalSource } from './lib/links.ts'
import type { AllSkills } from './lib/overview.ts'
import { type AnswerFacts, PageCache, readFacts, readFrontFacts, type SentPage, watchAnswers } from './lib/page-cache.ts'
import { createLocals, type Failure, type PageOptions, queryOf, uiOf, wantsMarkdown } from './lib/page-locals.ts'
import { readAddress } from './lib/read-address.ts'
import { createTextRenderer, type RendererOptions } from './lib/render-pool.ts'
import type { TextToRender } from './lib/render-text.ts'
import { listedAddresses, loadFeatured, suggest, UNKNOWN_LISTS } from './lib/repository-rows.ts'
import type { SkillTextOf } from './lib/sent-text.ts'
import { type Versions, versionsOfClient } from './lib/versions.ts'
import { type PeopleOfPages, readVisitor, stranger } from './lib/visitor.ts'
import { withContent } from './lib/with-content.ts'

export interface SiteOptions {
  client: ApiClient
  /** Public origin without a trailing slash. */
  baseUrl: string
  /** The text that `load_skill` sends for a page of a skill. Default: a skill is not copied whole. */
  skillText?: SkillTextOf
  /** Host segments that this deployment serves. */
  hosts: readonly string[]
  /** Whether this service cuts and draws pictures. Default: it does. */
  hasPictures?: boolean
  /** The pages that the operator wrote, as of now. Default: none. */
  legalKinds?: () => readonly LegalKind[]
  /** What counts as one client, of an address as a socket tells it. Default: the address. */
  networkOf?: (ip: string) => string
  /** The addresses of local repositories that everyone may open. Default: none is listed. */
  listLocal?: () => Promise<readonly string[]>
  /** Default: nothing is known of listed repositories, and no search finds anything. */
  listed?: ListedRepositories
  /** Default: none. */
  hostUrls?: HostUrls
  /** Default: `withheld`. */
  localSource?: LocalSource
  /** All skills of an address, as the sender of the credentials may see them; `null`: a stranger. Default: the first ones, which the API lists. */
  skills?: (credentials: Credentials | null) => AllSkills
  /** Versions of repositories, as the sender of the credentials may see them; `null`: a stranger. Default: what the API tells. */
  versions?: (credentials: Credentials | null) => Versions
  /** Default: there is no sign-in, and there are no tokens. */
  people?: PeopleOfPages | null
  /** Of the thread that renders texts. */
  rendering?: RendererOptions
}

/** What reads much for one request: up to 4 MiB of a skill. Clients take turns. Behind a proxy, all are one client. */
export const EXPENSIVE: FairGateLimits = { limit: 4, limitEach: 3, maxWaitingEach: 32, maxWaiting: 128 }

const DIST = new URL('../dist/', import.meta.url)
const CLIENT_FOLDER = fileURLToPath(new URL('client', DIST))
const ENTRY = new URL('server/entry.mjs', DIST)

/**
 * The pages of the service, rendered by Astro inside this process, and their static files.
 *
 * Paths below `/<host>` and `/owners` are declared to the instance as prefixes, so that no router decodes an address; requests carry it as
 * `rawAddress`.
 *
 * @throws Error at start when the site was not built
 */
export async function sitePlugin(app: AddressedInstance, options: SiteOptions): Promise<void> {
  const astro = await openAstro()
  const renderer = createTextRenderer(options.rendering)
  app.addHook('onClose', () => renderer.close())

  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
  })

  const site = { ...options, renderText: (text: TextToRender) => renderer.render(text), turns: createFairGate(EXPENSIVE) }
  const page = (path: string) => (request: FastifyRequest, reply: FastifyReply) => renderPage(astro, path, request, reply, site)
  const keeping = { cache: new PageCache(), factsOf: new WeakMap() }
  const addressPage = (path: string) => (request: AddressedRequest, reply: FastifyReply) =>
    answerAddress(astro, path, request, reply, site, keeping)
  app.get('/', (request, reply) => answerFront(astro, request, reply, site, keeping))
  app.get('/open', page('/open'))
  app.get('/search', page('/search'))
  app.get<{ Querystring: { q?: unknown } }>('/suggest', suggestions(options))
  app.get('/docs', page('/docs'))
  app.get<{ Params: { slug: string } }>('/docs/:slug', (request, reply) => {
    const { slug } = request.params
    const [, name = '', extension] = /^([a-z-]+)(\.md)?$/.exec(slug) ?? []
    if (extension)
      return renderPage(astro, name === 'index' ? '/docs' : `/docs/${name}`, request, reply, { ...site, isMarkdown: true })
    return renderPage(astro, name === '' ? '/404' : `/docs/${name}`, request, reply, site)
  })
  for (const path of ['/terms', '/privacy', '/robots.txt', '/sitemap.xml']) app.get(path, page(path))
  if (options.people?.hasSignIn) for (const path of ['/account', '/oauth/consent']) app.get(path, page(path))
  if (app.pages) app.pages.sendFailure = (request, reply, failure) => sendFailure(astro, request, reply, { ...site, failure })
  for (const host of Object.keys(HOST_NAMES)) {
    const path = app.declarePrefix(`/${host}`, { isPartOfAddress: true })
    app.get(path, addressPage(path))
  }
  const owners = app.declarePrefix('/owners', { isBareAllowed: true })
  app.get(owners, page(owners))
  app.setNotFoundHandler(page('/404'))
  app.setErrorHandler(answerClientError)

  await app.register(fastifyStatic, {
    root: CLIENT_FOLDER,
    wildcard: false,
    index: false,
    decorateReply: false,
    preCompressed: true,
    setHeaders: (reply, path) => {
      const hashed = path.startsWith(`${CLIENT_FOLDER}/_a/`)
      reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
      reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    },
  })
}

/**
 * Answers conditions and ranges of a request that a static file does not meet (412, 416), with the status alone. The service answers all other
 * errors.
 */
function answerClientError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, statusCode = 500 } = error
  if (code !== undefined || statusCode < 400 || statusCode >= 500) throw error
  return reply.code(statusCode).send()
}

/** What the cards of the documentation say, by language. */
export function docsPages(): { slug: string; texts: Record<string, { label: string; section: string }> }[] {
  const textOf = (
    language: (typeof LANGUAGES)[number],
    page: DocsPage['name'],
    section: (typeof DOCS_SECTIONS)[number]['name'],
  ) => {
    const t = PAGE_T[language]
    return { label: t(`docs.labels.${page}`), section: t(`docs.sections.${section}`) }
  }
  return DOCS_SECTIONS.flatMap(({ name: section, pages }) =>
    pages.map(({ slug, name }) => ({
      slug,
      texts: Object.fromEntries(LANGUAGES.map(language => [language, textOf(language, name, section)])),
    })),
  )
}

/** A transport to the API in the same process, without a socket. */
export function injectTransport(app: FastifyInstance): ApiTransport {
  return async (url, given) => {
    const { statusCode, body, headers, raw } = await app.inject({ url, headers: { ...given } })
    return { status: statusCode, body, etag: headers.etag, answer: (raw.req as { answer?: unknown }).answer }
  }
}

/** The instance that the site is registered on, see `sitePlugin`. */
type AddressedInstance = FastifyInstance & {
  /** @returns the path to register a route under that takes everything below the prefix, raw */
  declarePrefix(prefix: string, options: { isPartOfAddress?: boolean; isBareAllowed?: boolean }): string
  /** Where the service looks for pages of failures. */
  readonly pages?: { sendFailure: SendFailure | null }
}
type SendFailure = (request: FastifyRequest, reply: FastifyReply, failure: Failure) => Promise<void>
type AddressedRequest = FastifyRequest & { readonly rawAddress?: string | null }

/** Astro's handler in middleware mode. */
type AstroHandler = (request: IncomingMessage, response: ServerResponse, next: undefined, locals: App.Locals) => Promise<void>

async function openAstro(): Promise<AstroHandler> {
  if (!existsSync(ENTRY)) throw new Error('the site is not built: run npm run build')
  const { handler } = (await import(ENTRY.href)) as { handler: AstroHandler }
  crashOnLostRejections()
  return handler
}

/** How long suggestions go without a look at the lists. */
const SUGGESTED_MS = 5_000

/** `GET /suggest?q=`: names of listed repositories that contain the text, the same for everyone. None is empty or damaged. */
function suggestions({ client, listLocal = async () => [], listed = UNKNOWN_LISTS }: SiteOptions) {
  let known: { readAt: number; addresses: Promise<string[]> } | null = null
  const read = async () => withContent(listed, listedAddresses((await loadFeatured(client)) ?? [], await listLocal()))
  return async (request: FastifyRequest<{ Querystring: { q?: unknown } }>, reply: FastifyReply) => {
    const now = performance.now()
    if (known === null || now - known.readAt >= SUGGESTED_MS) known = { readAt: now, addresses: read() }
    const { q } = request.query
    const answer = suggest(await known.addresses.catch(() => []), typeof q === 'string' ? q : '')
    reply.headers({ 'cache-control': 'public, max-age=30', 'content-security-policy': "default-src 'none'; sandbox" })
    return reply.send(answer)
  }
}

type RenderOptions = SiteOptions & { turns: FairGate } & Pick<PageOptions, 'renderText' | 'isMarkdown' | 'onRendered' | 'failure'>

/** The page of a failure, in place of what a route of the service would have sent. */
async function sendFailure(
  astro: AstroHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RenderOptions,
): Promise<void> {
  // Forms of a page without a referrer have no origin, and are refused.
  reply.header('referrer-policy', 'same-origin')
  await renderPage(astro, '/failure', request, reply, options)
}

/** What decides, beside its facts, which bytes a page has. */
function keyOf(request: AddressedRequest): string {
  const encoding = chooseEncoding(request.headers['accept-encoding'] ?? '')
  const format = wantsMarkdown(request.headers.accept ?? '') ? 'markdown' : 'html'
  const query = queryOf(request.url)
  const { language } = uiOf(query, request.headers)
  return `${request.rawAddress ?? ''}\n${query}\n${encoding}\n${format}\n${language}`
}

/** Sends the front page, a kept one while the featured addresses and the rows are the same. */
async function answerFront(
  astro: AstroHandler,
  request: AddressedRequest,
  reply: FastifyReply,
  options: RenderOptions,
  { cache }: { cache: PageCache },
): Promise<FastifyReply | undefined> {
  const isPersonal = options.people?.credentialsOf(request.headers) != null
  const factsNow = async () => (isPersonal || request.method !== 'GET' ? null : await readFrontFacts(options))
  const key = keyOf(request)
  const facts = await factsNow().catch(() => null)
  const kept = facts === null ? undefined : cache.get(key, facts)
  if (kept) {
    reply.header('cache-control', 'no-store')
    return reply.headers(Object.fromEntries(kept.headers)).send(kept.bytes)
  }
  const onRendered = async (page: SentPage) => {
    if (facts !== null && (await factsNow()) === facts) cache.set(key, facts, page)
  }
  await renderPage(astro, '/', request, reply, { ...options, onRendered: page => void onRendered(page).catch(() => {}) })
  return undefined
}

/** Sends the page of an address, a kept one if its facts are still the same. */
async function answerAddress(
  astro: AstroHandler,
  path: string,
  request: AddressedRequest,
  reply: FastifyReply,
  options: RenderOptions,
  { cache, factsOf }: { cache: PageCache; factsOf: AnswerFacts },
): Promise<FastifyReply | undefined> {
  const read = readAddress(request.rawAddress ?? '', options.hosts)
  // Pages of requests with credentials are not cached.
  const isPersonal = options.people?.credentialsOf(request.headers) != null
  if ('error' in read || request.method !== 'GET' || isPersonal) {
    await renderPage(astro, path, request, reply, options)
    return undefined
  }
  const address = formatAddress(read.address)
  const query = queryOf(request.url)
  const key = keyOf(request)
  // The page itself answers for an API that fails.
  const hasRefs = read.address.ref !== null || query.get('view') === 'refs'
  // A comparison depends on where its old side is, too.
  const isLastingView = query.get('view') !== 'changes'
  const isOverview = (query.get('view') || 'overview') === 'overview'
  const versions = options.versions?.(null) ?? versionsOfClient(options.client)
  const factsNow = async (known: string | null) => {
    // An overview says what changed since an older version, once that one is indexed.
    const since = isOverview ? versions.indexedBase(read.address).catch(() => null) : null
    const facts = await readFacts(options.client, address, hasRefs, known)
    return facts === null || since === null ? facts : `${facts} ${JSON.stringify(await since)}`
  }
  const facts = isLastingView ? await factsNow(cache.factsOf(key)).catch(() => null) : null
  const kept = facts === null ? undefined : cache.get(key, facts)
  if (kept) {
    reply.header('cache-control', 'no-store')
    return reply.headers(Object.fromEntries(kept.headers)).send(kept.bytes)
  }
  const { client, areLasting, keep } = watchAnswers(options.client, facts, factsOf)
  const onRendered = async (page: SentPage) => {
    // The facts may have changed while the page was rendered from them.
    if (facts === null || !areLasting() || (await factsNow(facts)) !== facts) return
    cache.set(key, facts, page)
    keep()
  }
  await renderPage(astro, path, request, reply, { ...options, client, onRendered: page => void onRendered(page).catch(() => {}) })
  return undefined
}

/** Path and query of a target, which a client may send with another origin before it. */
function pathOf(target: string): string {
  return target.startsWith('/') ? target : '/'
}

/** @param path the path of a page, as Astro's router knows it */
async function renderPage(
  astro: AstroHandler,
  path: string,
  request: AddressedRequest,
  reply: FastifyReply,
  options: RenderOptions,
): Promise<void> {
  const { raw, id } = request
  const { url, here } = options.failure ? atFrontPage(request) : { url: request.url, here: pathOf(request.originalUrl) }
  const target = { url, here, headers: { ...raw.headers }, rawAddress: request.rawAddress ?? '', id }
  const network = options.networkOf?.(request.ip) ?? request.ip
  const locals = createLocals(target, {
    ...options,
    network,
    inTurn: task => options.turns(network, task),
    ...(await readPerson(request, reply, options, { path, here })),
    hasPictures: options.hasPictures ?? true,
    hostUrls: options.hostUrls ?? {},
    localSource: options.localSource ?? 'withheld',
    skillText: options.skillText ?? null,
    legalKinds: options.legalKinds?.() ?? [],
    listLocal: options.listLocal ?? (async () => []),
    listed: options.listed ?? UNKNOWN_LISTS,
  })
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.raw.setHeader('cache-control', 'no-store')
  // Astro makes a URL of the header host, and throws when it cannot. Pages need no other header of the request.
  raw.headers = { host: new URL(options.baseUrl).host }
  raw.url = path
  await rendering.run(request.id, () => astro(raw, reply.raw, undefined, locals))
}

/** The page of a failure repeats nothing of its request but the language, since a callback has a code, and no form can be sent again. */
function atFrontPage({ url }: FastifyRequest): { url: string; here: string } {
  const language = queryOf(url).get('lang')
  return { url: language === null ? '/' : `/?${new URLSearchParams({ lang: language })}`, here: '/' }
}

/** The pages that say what a form led to. */
const SAYING = ['/account', '/oauth/consent']

/** Who asks for a page, and the client that asks in their name. */
async function readPerson(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { client, people, versions: versionsFor, skills: skillsFor }: SiteOptions,
  { path, here }: { path: string; here: string },
): Promise<Pick<App.Locals, 'client' | 'visitor' | 'versions' | 'allSkills'>> {
  const credentials = people?.credentialsOf(headers) ?? null
  const asking = credentials === null ? client : client.as(credentials)
  const beside = {
    versions: versionsFor?.(credentials) ?? versionsOfClient(asking),
    allSkills: skillsFor?.(credentials) ?? (async () => null),
  }
  if (!people || credentials === null) return { client, visitor: stranger(here, people?.hasSignIn), ...beside }
  const visitor = readVisitor(asking, people, headers, here)
  const said = SAYING.includes(path) ? await people.notice(headers) : null
  if (said === null) return { client: asking, visitor, ...beside }
  reply.header('set-cookie', said.forget)
  return { client: asking, visitor: { ...visitor, notice: said.notice }, ...beside }
}

/** The id of the request that is being rendered. */
const rendering = new AsyncLocalStorage<string>()
let crashesOnLostRejections = false

/**
 * Restores Node's behaviour for unhandled rejections outside of rendering: Astro's adapter registers a handler that ignores them, so an
 * unhandled rejection in the API would go unnoticed.
 */
function crashOnLostRejections(): void {
  if (crashesOnLostRejections) return
  crashesOnLostRejections = true
  process.on('unhandledRejection', reason => {
    if (rendering.getStore() === undefined) throw reason
  })
}

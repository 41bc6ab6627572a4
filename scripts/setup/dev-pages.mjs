/** The pages in `npm run dev`: what the service gives them, over an API in another process. */

/** Pages without an address. */
const PAGES = /^\/(?:open|search|docs|docs\/[a-z-]+|terms|privacy)?$/
/** Where the API answers while the site is developed. Absent in a build. */
const API = process.env.MOUNTGLASS_DEV_API
/** What the service answers besides pages. */
const ROUTES = [
  '/api',
  '/mcp',
  '/git',
  '/media',
  '/healthz',
  '/readyz',
  '/llms.txt',
  '/pagefind',
  '/suggest',
  '/badge/',
  '/social/',
  '/icon/',
  '/picture/',
]

/**
 * Gives pages of the development server their locals. Addresses reach them as they were requested, except malformed ones, which Vite refuses.
 *
 * @returns {import('astro').AstroIntegration}
 */
export function devPages() {
  return {
    name: 'dev-pages',
    hooks: {
      'astro:config:setup': ({ command, updateConfig }) => {
        if (command !== 'dev' || API === undefined) return
        const proxy = Object.fromEntries(ROUTES.map(path => [path, { target: API }]))
        updateConfig({ vite: { server: { proxy } } })
      },
      'astro:server:setup': async ({ server }) => {
        if (API === undefined) return
        const given = await openGiven(API)
        let requests = 0
        server.middlewares.use(async (request, _response, next) => {
          const page = readTarget(request.originalUrl ?? request.url ?? '/')
          if (page === null) return next()
          const { url, path, rawAddress, isMarkdown } = page
          const target = { url, here: url, rawAddress, headers: request.headers, id: `dev-${++requests}` }
          try {
            // By way of Vite, so that the words of the pages are those of now.
            const { createLocals } = await server.ssrLoadModule('/site/lib/page-locals.ts')
            Reflect.set(request, Symbol.for('astro.locals'), createLocals(target, isMarkdown ? { ...given, isMarkdown } : given))
            request.url = path
            next()
          } catch (error) {
            next(error)
          }
        })
      },
    },
  }
}

/** @param {string} api origin of the API */
async function openGiven(api) {
  const { createApiClient, httpTransport } = await import('../../site/lib/api-client.ts')
  const { createTextRenderer } = await import('../../site/lib/render-pool.ts')
  const { UNKNOWN_LISTS } = await import('../../site/lib/repository-rows.ts')
  const { versionsOfClient } = await import('../../site/lib/versions.ts')
  const renderer = createTextRenderer()
  const isGithub = process.env.MOUNTGLASS_GITHUB !== 'off'
  const client = createApiClient(httpTransport(api))
  return {
    client,
    versions: versionsOfClient(client),
    /** @param {import('../../site/lib/render-text.ts').TextToRender} text */
    renderText: text => renderer.render(text),
    baseUrl: process.env.MOUNTGLASS_BASE_URL ?? '',
    hasPictures: true,
    hosts: isGithub ? ['gh', 'local'] : ['local'],
    /** @type {Record<string, string>} */
    hostUrls: isGithub ? { gh: process.env.MOUNTGLASS_GITHUB_URL ?? 'https://github.com' } : {},
    localSource: /** @type {const} */ ('withheld'),
    // The routes of legal pages are those of the service, which has none here.
    legalKinds: [],
    listLocal: async () => [],
    listed: UNKNOWN_LISTS,
    skillText: null,
  }
}

/** @typedef {{ url: string, path: string, rawAddress: string, isMarkdown: boolean }} Target */

/**
 * The page of a target as the routes of the site know it; `null` for a file of Vite.
 *
 * @param {string} url
 * @returns {Target | null}
 */
function readTarget(url) {
  const [path = '/'] = url.split('?', 1)
  if (/^\/(?:@|node_modules\/|site\/|_astro\/)/.test(path) || ROUTES.some(route => path.startsWith(route))) return null
  const [, address] = /^\/((?:gh|local)\/.*)$/.exec(path) ?? []
  if (address !== undefined) return { url, path: `/${address.split('/', 1)[0]}/~`, rawAddress: address, isMarkdown: false }
  const [, account] = /^\/owners\/(.*)$/.exec(path) ?? []
  if (account !== undefined) return { url, path: '/owners/~', rawAddress: account, isMarkdown: false }
  const [, slug] = /^\/docs\/([a-z-]+)\.md$/.exec(path) ?? []
  if (slug !== undefined) return { url, path: slug === 'index' ? '/docs' : `/docs/${slug}`, rawAddress: '', isMarkdown: true }
  const isKnown = PAGES.test(path) || path.includes('.')
  return { url, path: isKnown ? path : '/404', rawAddress: '', isMarkdown: false }
}

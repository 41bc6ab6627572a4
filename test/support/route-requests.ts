import type { OAuthDeps } from '#api/oauth/oauth.ts'
import { VIEWS } from '#site/lib/links.ts'
import { message } from '#test/mcp/scene.ts'
import { register, requested, requestParameters } from './oauth-scene.ts'

/** A request of a route. */
export interface Asked {
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  url: string
  headers?: Record<string, string>
  payload?: string
}

const gets = (...urls: string[]): Asked[] => urls.map(url => ({ url }))
const markdown = { accept: 'text/markdown' }

/** What requests of pages and apps need. */
export interface Asking {
  /** Of the deployment. */
  origin: string
  /** Query of `/oauth/authorize`, and what the consent page receives for it, by the address of a repository. */
  requests: ReadonlyMap<string, { query: string; sealed: string }>
}

const REDIRECT = 'https://notes.example/cb'

/** An app that has registered asks for each of the addresses. */
export async function openAsking(oauth: OAuthDeps, origin: string, addresses: readonly string[]): Promise<Asking> {
  const clientId = await register(oauth, { redirect_uris: [REDIRECT], client_name: 'Notes' })
  const requests = new Map<string, { query: string; sealed: string }>()
  for (const address of addresses) {
    const over = { redirect_uri: REDIRECT, resource: `${origin}/mcp${address}` }
    const sealed = await requested(oauth, clientId, over)
    requests.set(address, {
      query: new URLSearchParams({ ...requestParameters(clientId, over) } as Record<string, string>).toString(),
      sealed,
    })
  }
  return { origin, requests }
}

const requestOf = ({ requests }: Asking, at: string) => requests.get(at) ?? { query: '', sealed: '' }

const ownPage = (origin: string) => ({ 'sec-fetch-site': 'same-origin', origin })
const json = (asking: Asking, url: string, body: object): Asked => ({
  method: 'POST',
  url,
  headers: { ...ownPage(asking.origin), 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})
const form = (asking: Asking, url: string, fields: Record<string, string>): Asked => ({
  method: 'POST',
  url,
  headers: { ...ownPage(asking.origin), 'content-type': 'application/x-www-form-urlencoded' },
  payload: new URLSearchParams(fields).toString(),
})

/**
 * Requests that name a repository, by their route. A repository is named by the path, by the body, or by what is sealed.
 *
 * @param at address of the repository, `/gh/<owner>/<name>`
 */
export const REPOSITORY_REQUESTS: Readonly<Record<string, (at: string, asking: Asking) => Asked[]>> = {
  '/api/v1/mounts/~': at => [
    ...gets(...spellings(at).map(one => `/api/v1/mounts${one}`)),
    { method: 'HEAD', url: `/api/v1/mounts${at}` },
  ],
  '/api/v1/browse/~': at => gets(`/api/v1/browse${at}`, `/api/v1/browse${at}?files=all&path=skills`),
  '/api/v1/findings/~': at => gets(`/api/v1/findings${at}`, `/api/v1/findings${at}?path=SKILL.md&level=look`),
  '/api/v1/find/~': at => gets(`/api/v1/find${at}?query=form`),
  '/api/v1/skills/~': at => gets(`/api/v1/skills${at}?path=SKILL.md`),
  '/api/v1/files/~': at => gets(`/api/v1/files${at}?path=SKILL.md`),
  '/api/v1/changes/~': at => gets(`/api/v1/changes${at}?from=main`, `/api/v1/changes${at}?from=main&skill=SKILL.md`),
  '/api/v1/history/~': at => gets(`/api/v1/history${at}?path=SKILL.md`),
  '/api/v1/refs/~': at => gets(`/api/v1/refs${at}`),
  '/gh/~': at => [
    ...gets(at, `${at}@main`, ...VIEWS.map(view => `${at}?view=${view}&path=SKILL.md&query=form&from=main`)),
    { url: at, headers: markdown },
    ...gets(`${at}?format=markdown`),
  ],
  '/gh/~/llms.txt': at => gets(`${at}/llms.txt`),
  '/gh/~/.well-known/agent-skills/': at =>
    gets(`${at}/.well-known/agent-skills/index.json`, `${at}/.well-known/agent-skills/archive/${'0'.repeat(64)}.tar.gz`),
  '/gh/~/.well-known/skills/': at => gets(`${at}/.well-known/skills/index.json`, `${at}/.well-known/skills/pdf/SKILL.md`),
  '/git/~': at => gets(`/git${at}/raw/${'a'.repeat(40)}/SKILL.md`, `/git${local(at)}/raw/${'a'.repeat(40)}/SKILL.md`),
  '/local/~': at => gets(local(at)),
  '/local/~/llms.txt': at => gets(`${local(at)}/llms.txt`),
  '/local/~/.well-known/agent-skills/': at => gets(`${local(at)}/.well-known/agent-skills/index.json`),
  '/local/~/.well-known/skills/': at => gets(`${local(at)}/.well-known/skills/index.json`),
  '/badge/~': at => gets(`/badge${at}`),
  '/icon/~': at => gets(`/icon${at}`),
  '/picture/~': at => gets(`/picture${at}`),
  '/social/~': at => gets(`/social${at}`),
  '/mcp/~': at => [
    ...[
      message('server/discover'),
      message('tools/list'),
      message('skills/list'),
      message('tools/call', { name: 'load_skill', arguments: { path: 'SKILL.md' } }),
    ].map(sent => ({ method: 'POST' as const, url: `/mcp${at}`, ...sent })),
    { method: 'POST', url: '/mcp', ...message('tools/call', { name: 'browse_repo', arguments: { address: at } }) },
  ],
  '/.well-known/oauth-protected-resource/mcp/~': at => gets(`/.well-known/oauth-protected-resource/mcp${at}`),
  '/search': at => gets(`/search?query=${encodeURIComponent(at)}`),
  '/suggest': at => gets(`/suggest?q=${encodeURIComponent(at)}`),
  '/open': at => gets(`/open?address=${encodeURIComponent(at)}`),
  '/auth/sign-in': at => gets(`/auth/sign-in?return=${encodeURIComponent(at)}`),
  '/oauth/authorize': (at, asking) => gets(`/oauth/authorize?${requestOf(asking, at).query}`),
  '/oauth/consent': (at, asking) => [
    ...gets(`/oauth/consent?request=${requestOf(asking, at).sealed}`),
    form(asking, '/oauth/consent', { request: requestOf(asking, at).sealed, decision: 'approve' }),
  ],
  '/api/v1/oauth/request': (at, asking) => gets(`/api/v1/oauth/request?request=${requestOf(asking, at).sealed}`),
  '/api/v1/oauth/decision': (at, asking) => [
    json(asking, '/api/v1/oauth/decision', { request: requestOf(asking, at).sealed, approve: true }),
  ],
  '/api/v1/me/tokens': (at, asking) => [
    json(asking, '/api/v1/me/tokens', { address: at, label: 'label', expiresInDays: 1 }),
    ...gets('/api/v1/me/tokens'),
  ],
  '/account/tokens': (at, asking) => [form(asking, '/account/tokens', { address: at, label: 'label', days: '7' })],
}

/** Requests of the other routes, which name no repository. */
export const OTHER_REQUESTS: Readonly<Record<string, (asking: Asking) => Asked[]>> = {
  '/': () => gets('/'),
  '/healthz': () => gets('/healthz'),
  '/readyz': () => gets('/readyz'),
  '/robots.txt': () => gets('/robots.txt'),
  '/sitemap.xml': () => gets('/sitemap.xml'),
  '/llms.txt': () => gets('/llms.txt'),
  '/icon.svg': () => gets('/icon.svg'),
  '/favicon.ico': () => gets('/favicon.ico'),
  '/docs': () => gets('/docs'),
  '/docs/:slug': () => gets('/docs/rest', '/docs/rest.md'),
  '/terms': () => gets('/terms'),
  '/privacy': () => gets('/privacy'),
  '/owners/~': () => gets('/owners/gh/acme'),
  '/media/~': () => gets('/media/none'),
  '/hooks/github': () => [
    { method: 'POST', url: '/hooks/github', payload: '{}', headers: { 'content-type': 'application/json' } },
  ],
  '/auth/callback': () => gets('/auth/callback?code=x&state=y'),
  '/auth/sign-out': asking => [form(asking, '/auth/sign-out', { what: 'nothing' })],
  '/account': () => gets('/account'),
  '/account/tokens/:id/delete': asking => [form(asking, '/account/tokens/none/delete', {})],
  '/account/sessions/:id/end': asking => [form(asking, '/account/sessions/none/end', {})],
  '/account/grants/:id/delete': asking => [form(asking, '/account/grants/none/delete', {})],
  '/oauth/token': asking => [form(asking, '/oauth/token', { grant_type: 'none' })],
  '/oauth/revoke': asking => [form(asking, '/oauth/revoke', { token: 'none' })],
  '/oauth/register': asking => [json(asking, '/oauth/register', {})],
  '/.well-known/oauth-authorization-server': () => gets('/.well-known/oauth-authorization-server'),
  '/api/v1/me': () => gets('/api/v1/me'),
  '/api/v1/me/repositories': () => gets('/api/v1/me/repositories'),
  '/api/v1/me/grants': () => gets('/api/v1/me/grants'),
  '/api/v1/me/grants/~': ({ origin }) => [{ method: 'DELETE', url: '/api/v1/me/grants/none', headers: ownPage(origin) }],
  '/api/v1/me/tokens/~': ({ origin }) => [{ method: 'DELETE', url: '/api/v1/me/tokens/none', headers: ownPage(origin) }],
  '/api/v1/owners/~': () => gets('/api/v1/owners/gh/acme'),
  '/api/v1/featured': () => gets('/api/v1/featured'),
  '/api/v1/showcase': () => gets('/api/v1/showcase'),
  '/api/v1/legal/~': () => gets('/api/v1/legal/terms'),
  '/api/v1/openapi.json': () => gets('/api/v1/openapi.json'),
  // Preflight requests below /api/v1, which are answered before any address is parsed.
  '/*': () => [],
}

function spellings(at: string): string[] {
  const [, host, owner = '', name = ''] = at.split('/')
  return [at, `${at}@main`, `${at}@${'a'.repeat(40)}`, `${at}/skills`, `/${host}/${owner.toUpperCase()}/${name.toUpperCase()}`]
}

/** The address of a repository that is none of this machine, by the name of another one. */
function local(at: string): string {
  return `${at.replace(/^\/gh\//, '/local/')}-none`
}

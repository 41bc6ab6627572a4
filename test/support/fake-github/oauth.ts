import { createHash } from 'node:crypto'
import { issueUserTokens, randomText } from './credentials.ts'
import { escapeHtml, type FakeAnswer, type FakeRequest, header, pageAnswer, redirectAnswer } from './http.ts'
import { type App, isSameName, type World } from './world.ts'

const CODE_SECONDS = 600
const ERRORS_PAGE = 'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/'

/** `github.com/login/oauth/…` and the page where an app is installed; `null` for every other path. */
export async function answerOauth(world: World, request: FakeRequest): Promise<FakeAnswer | null> {
  if (request.path === '/login/oauth/authorize' && request.method === 'GET') return authorize(world, request)
  if (request.path === '/login/oauth/access_token' && request.method === 'POST') return exchange(world, request)
  const slug = /^\/apps\/([^/]+)\/installations\/new$/.exec(request.path)?.[1]
  return slug === undefined ? null : install(world, request, slug)
}

/**
 * Sends the browser back with a code. Who sits at the browser is `world.browser`; without anyone there the page lets a person
 * at a real browser choose.
 */
async function authorize(world: World, request: FakeRequest): Promise<FakeAnswer> {
  const { query } = request
  const app = [...world.apps].find(({ clientId }) => clientId === query.get('client_id'))
  if (!app) return pageAnswer(404, 'Not Found', '')
  const registered = app.callbackUrls[0] ?? ''
  const asked = query.get('redirect_uri')
  const state = query.get('state')
  const back = (uri: string, params: Record<string, string>) => {
    const url = new URL(uri)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    if (state !== null) url.searchParams.set('state', state)
    return redirectAnswer(url.href)
  }
  if (registered === '') return pageAnswer(404, 'The app has no callback URL', '')
  if (asked !== null && !app.callbackUrls.includes(asked))
    return back(registered, oauthError('redirect_uri_mismatch', MISMATCH, 'redirect-uri-mismatch'))
  const uri = asked ?? registered
  const challenge = query.get('code_challenge')
  // How the real host refuses another method than S256 is UNVERIFIED; that it knows no other is documented.
  if (challenge !== null && query.get('code_challenge_method') !== 'S256')
    return back(uri, oauthError('invalid_request', 'The code_challenge_method must be S256.', ''))

  const chosen = query.get('as')
  const person = chosen === null ? null : await world.account(chosen)
  const browser = person === null ? world.browser : { user: person, approves: true }
  if (browser === null) return choosePerson(world, request, app)
  if (!browser.approves)
    return back(uri, oauthError('access_denied', 'The user has denied your application access.', 'access-denied'))
  const code = randomText(20).toLowerCase()
  const endsAt = world.clock.now() + CODE_SECONDS * 1000
  world.codes.set(code, { user: browser.user, app, redirectUri: asked, challenge, endsAt })
  return back(uri, { code })
}

const MISMATCH = 'The redirect_uri MUST match the registered callback URL for this application.'

function oauthError(error: string, description: string, anchor: string): Record<string, string> {
  return { error, error_description: description, error_uri: `${ERRORS_PAGE}#${anchor}` }
}

function choosePerson(world: World, request: FakeRequest, app: App): FakeAnswer {
  const links = [...world.accounts]
    .filter(({ type }) => type === 'User')
    .map(({ login }) => {
      const params = new URLSearchParams(request.query)
      params.set('as', login)
      return `<li><a href="?${escapeHtml(params.toString())}">${escapeHtml(login)}</a>`
    })
  return pageAnswer(200, `Authorize ${app.name}`, `<p>Sign in as</p><ul>${links.join('')}</ul>`)
}

/** A code or a refresh token for a pair of tokens. What goes wrong is said in a 200, as the real host does. */
function exchange(world: World, request: FakeRequest): FakeAnswer {
  const params = exchangeParams(request)
  const app = [...world.apps].find(({ clientId }) => clientId === params.get('client_id'))
  if (!app || app.clientSecret !== params.get('client_secret'))
    return exchangeAnswer(
      request,
      oauthError(
        'incorrect_client_credentials',
        'The client_id and/or client_secret passed are incorrect.',
        'incorrect-client-credentials',
      ),
    )
  const grant = params.get('grant_type')
  if (grant === 'refresh_token') return refresh(world, request, app, params.get('refresh_token') ?? '')
  if (grant !== null && grant !== 'authorization_code')
    return exchangeAnswer(request, oauthError('unsupported_grant_type', 'The grant type is not supported.', ''))

  const value = params.get('code') ?? ''
  const code = world.codes.get(value)
  const isLive = code?.app === app && code.endsAt > world.clock.now()
  const redirect = params.get('redirect_uri')
  if (!isLive || !isProven(code.challenge, params.get('code_verifier')))
    // That a wrong verifier is answered like a wrong code is UNVERIFIED.
    return exchangeAnswer(
      request,
      oauthError('bad_verification_code', 'The code passed is incorrect or expired.', 'bad-verification-code'),
    )
  if (redirect !== null && redirect !== (code.redirectUri ?? app.callbackUrls[0]))
    return exchangeAnswer(request, oauthError('redirect_uri_mismatch', MISMATCH, 'redirect-uri-mismatch2'))
  world.codes.delete(value)
  return exchangeAnswer(request, issueUserTokens(world, app, code.user))
}

function isProven(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null) return true
  return verifier !== null && createHash('sha256').update(verifier).digest('base64url') === challenge
}

/** The old pair ends with its use. */
function refresh(world: World, request: FakeRequest, app: App, value: string): FakeAnswer {
  const known = world.refreshTokens.get(value)
  if (known?.app !== app || known.endsAt <= world.clock.now())
    return exchangeAnswer(
      request,
      oauthError('bad_refresh_token', 'The refresh token passed is incorrect or expired.', 'bad-refresh-token'),
    )
  world.refreshTokens.delete(value)
  world.tokens.delete(known.accessToken)
  return exchangeAnswer(request, issueUserTokens(world, app, known.user))
}

function exchangeParams(request: FakeRequest): URLSearchParams {
  const params = new URLSearchParams(request.query)
  const isJson = (header(request, 'content-type') ?? '').startsWith('application/json')
  const body = request.body.toString()
  const fields = isJson ? Object.entries(parseFields(body)) : [...new URLSearchParams(body)]
  for (const [name, value] of fields) params.set(name, String(value))
  return params
}

function parseFields(body: string): object {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** JSON for who asks for it, else a form. */
function exchangeAnswer(request: FakeRequest, fields: object): FakeAnswer {
  const headers = { 'cache-control': 'max-age=0, private, must-revalidate' }
  if (/\bapplication\/(vnd\.github\S*\+)?json\b/.test(header(request, 'accept') ?? ''))
    return {
      status: 200,
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(fields),
    }
  const form = new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]))
  const type = 'application/x-www-form-urlencoded; charset=utf-8'
  return { status: 200, headers: { ...headers, 'content-type': type }, body: form.toString() }
}

/** A page with every account; following one installs the app there on all repositories and goes on to the setup address. */
async function install(world: World, request: FakeRequest, slug: string): Promise<FakeAnswer> {
  const app = [...world.apps].find(one => isSameName(one.slug, slug))
  if (!app) return pageAnswer(404, 'Not Found', '')
  const login = request.query.get('account')
  const account = login === null ? null : await world.account(login)
  if (account) {
    const known = [...world.installations].find(one => one.app === app && one.account === account)
    const { id } = known ?? world.install(app, account)
    return app.setupUrl === null
      ? pageAnswer(200, 'Installed', '')
      : redirectAnswer(`${app.setupUrl}?installation_id=${id}&setup_action=install`)
  }
  const links = [...world.accounts].map(
    ({ login: name }) => `<li><a href="?account=${encodeURIComponent(name)}">${escapeHtml(name)}</a>`,
  )
  return pageAnswer(200, `Install ${app.name}`, `<p>Where?</p><ul>${links.join('')}</ul>`)
}

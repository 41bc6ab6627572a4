import { type Language, PAGE_T, type PageT } from '#words/t.ts'
import { newRecordId } from '../people/token-text.ts'
import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  type Query,
  RefusedRequest,
  readState,
} from './authorization-request.ts'
import { OAUTH_LIFETIMES, type OAuthDeps } from './oauth.ts'
import { isRegistered, parseRedirectUri, type RedirectUri, withParameters } from './redirect-uri.ts'

/** What a browser is answered that an app has sent to ask for an approval. */
export type Authorization =
  /** To the page on which the person decides. */
  | { status: 'redirect'; location: string }
  /**
   * The app gets an error at `location`, if the person follows the link there. The browser is not sent by itself: everybody can register a client,
   * and would have a redirect from this origin to a site that nobody here approved (RFC 9700, 4.11.2).
   */
  | { status: 'returnable'; location: string; to: Pick<RedirectUri, 'kind' | 'host'>; reason: string }
  /** The redirect URI is not proven to be the client's, so the browser is not sent there. */
  | { status: 'refused'; reason: 'unknown_client' | 'unknown_redirect' | 'repeated_parameter' }
  /** What the client says of itself cannot be read now. */
  | { status: 'unavailable' }

/**
 * `GET /oauth/authorize`. Stores nothing, and does not look up the repository, so that anonymous visitors learn nothing about it.
 *
 * @param requester the network that asks, as `clientNetwork` names it
 */
export async function authorize(deps: OAuthDeps, query: Query, requester: string): Promise<Authorization> {
  const { client_id: clientId = '', redirect_uri: redirectUri = '' } = query
  if (typeof clientId !== 'string' || typeof redirectUri !== 'string') return { status: 'refused', reason: 'repeated_parameter' }
  const found = await deps.clients.find(clientId, requester)
  if (found.status === 'unavailable') return { status: 'unavailable' }
  if (found.status === 'unknown') return { status: 'refused', reason: 'unknown_client' }
  const { client } = found
  const redirect = parseRedirectUri(redirectUri)
  if (redirect === null || !isRegistered(redirect, client.redirectUris)) return { status: 'refused', reason: 'unknown_redirect' }
  try {
    const jti = newRecordId(deps.random)
    const request = parseAuthorizationRequest(query, { client, redirectUri }, { jti, ...deps })
    const sealed = await deps.seals.seal('oauth-request', request, OAUTH_LIFETIMES.requestSeconds)
    return { status: 'redirect', location: `${deps.baseUrl}/oauth/consent?${new URLSearchParams({ request: sealed })}` }
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error
    const location = refusalLocation(deps, { redirectUri, state: stateOf(query) }, error)
    return { status: 'returnable', location, to: redirect, reason: error.message }
  }
}

/** The state to answer with; `null` when the app sent none that can be repeated. */
function stateOf(query: Query): string | null {
  try {
    return readState(query)
  } catch {
    return null
  }
}

type Returning = Pick<AuthorizationRequest, 'redirectUri' | 'state'>

/** Where the browser goes with an error. The issuer is named, so that an app with several servers knows which one refused. */
export function refusalLocation(
  { baseUrl }: OAuthDeps,
  { redirectUri, state }: Returning,
  { code, message }: RefusedRequest,
): string {
  return withParameters(redirectUri, {
    error: code,
    error_description: message,
    ...(state === null ? {} : { state }),
    iss: baseUrl,
  })
}

/** Where the browser goes with a code. */
export function codeLocation({ baseUrl }: OAuthDeps, { redirectUri, state }: Returning, code: string): string {
  return withParameters(redirectUri, { code, ...(state === null ? {} : { state }), iss: baseUrl })
}

/** What a browser is shown instead of the page on which the person decides. */
type Refusal = Exclude<Authorization, { status: 'redirect' }>

/** The page of a request that no person can decide. */
export function formatRefusal(refusal: Refusal, language: Language): { status: number; html: string } {
  const t = PAGE_T[language]
  const title = t('refusal.title')
  const back = refusal.status === 'returnable' ? refusal : null
  const link =
    back &&
    `<a rel="noreferrer" href="${escapeHtml(back.location)}">${escapeHtml(t(`refusal.back.${back.to.kind}`, { host: back.to.host }))}</a>`
  const html = `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escapeHtml(sentenceOf(refusal, t))}</p>${link ? `<p>${link}</p>` : ''}</html>\n`
  return { status: refusal.status === 'unavailable' ? 503 : 400, html }
}

function sentenceOf(refusal: Refusal, t: PageT): string {
  switch (refusal.status) {
    case 'unavailable':
      return t('refusal.unavailable')
    case 'refused':
      // It repeats nothing of the request, which an attacker may have written.
      return t(`refusal.refused.${refusal.reason}`)
    case 'returnable':
      return t('refusal.returnable', { reason: refusal.reason })
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

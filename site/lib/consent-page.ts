import type { OAuthRequest } from '#core/contract/oauth.ts'
import type { ApiClient, ApiError } from './api-client.ts'

/** The data of the page on which a person decides about an app. */
export type ConsentPage =
  | { kind: 'problem'; status: number; error: ApiError }
  | { kind: 'request'; status: 200; request: OAuthRequest; sealed: string; state: ConsentState }

/**
 * What the person can do. `unknown`: the host cannot say now whether they see the repository. Without a sign-in nothing can be decided;
 * a refusal is always possible with one.
 */
export type ConsentState = 'signed_out' | 'visible' | 'hidden' | 'unknown'

/** @param sealed the parameter `request`, as the authorization server made it */
export async function loadConsentPage(client: ApiClient, sealed: string): Promise<ConsentPage> {
  const result = await client.get('oauthRequest', '', { request: sealed })
  if (!result.ok) return { kind: 'problem', status: result.status, error: result.error }
  return { kind: 'request', status: 200, request: result.answer, sealed, state: stateOf(result.answer) }
}

function stateOf({ user, visible }: OAuthRequest): ConsentState {
  if (user === null) return 'signed_out'
  return visible === null ? 'unknown' : visible ? 'visible' : 'hidden'
}

/**
 * The sources for the page's `form-action`: browsers apply it to the redirects of a submitted form, too, and this form redirects to the app.
 * `redirectHost` is a host without its port, or a scheme.
 */
export function formTargets({ redirectHost: host, redirectKind: kind }: OAuthRequest['client']): string[] {
  // CSP has no source expression for an IPv6 address.
  if (kind === 'loopback') return host.startsWith('[') ? ['http:'] : [`http://${host}:*`]
  if (host.startsWith('[')) return ['https:']
  if (!/^[a-z0-9.+-]+$/i.test(host)) return []
  return [kind === 'application' ? `${host}:` : `https://${host}:*`]
}

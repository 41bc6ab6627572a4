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

/** Where a decision leads, in words. */
export type RedirectKind = 'web' | 'loopback' | 'application'

/** A scheme of an application may look like a host. Then the host's words are used, since the person has to know it in both cases. */
export function redirectKindOf({ redirectHost, loopback }: OAuthRequest['client']): RedirectKind {
  if (loopback) return 'loopback'
  return /^[a-z][a-z0-9+-]*$/i.test(redirectHost) ? 'application' : 'web'
}

/**
 * The sources to which the form of the page may lead: browsers hold the redirects of a form to `form-action`, too. The description names the
 * host without its port, or a scheme.
 */
export function formTargets({ redirectHost: host, loopback }: OAuthRequest['client']): string[] {
  // No source names an IPv6 address.
  if (loopback) return host.startsWith('[') ? ['http:'] : [`http://${host}:*`]
  if (host.startsWith('[')) return ['https:']
  if (!/^[a-z0-9.+-]+$/i.test(host)) return []
  return [`https://${host}:*`, ...(/^[a-z]/i.test(host) ? [`${host}:`] : [])]
}

import { ENDPOINTS, type EndpointName } from '#core/contract/endpoints.ts'

/** The endpoints of the person who is signed in. Where nobody signs in, they do not exist. */
export const PERSONAL_ENDPOINTS = [
  'me',
  'myRepositories',
  'myGrants',
  'endGrant',
  'myTokens',
  'createToken',
  'deleteToken',
  'oauthRequest',
  'oauthDecision',
] as const satisfies readonly EndpointName[]

export type PublicName = Exclude<EndpointName, (typeof PERSONAL_ENDPOINTS)[number]>

/** The endpoint of a request; `null` when the URL is that of another route. */
export function endpointOf(method: string, url: string): EndpointName | null {
  const asked = method === 'HEAD' ? 'GET' : method
  const names = Object.keys(ENDPOINTS) as EndpointName[]
  return names.find(name => ENDPOINTS[name].method === asked && patternOf(ENDPOINTS[name].path).test(url)) ?? null
}

function patternOf(path: string): RegExp {
  const segments = path.replace('/gh/{owner}', '{owner}').replace(/\/?\{(?:address|owner)\}/, '(?:/[^?]*)?')
  return new RegExp(`^/api/v1${segments.replace(/\{\w+\}/, '[^/?]*')}(?:\\?.*)?$`, 's')
}

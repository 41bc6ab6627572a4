import type { ChooseFault, Fault } from '../support/fake-github/faults.ts'
import { createRandom } from '../support/random.ts'

/*
 * Every way in which GitHub documents, or was recorded, to fail for a while. None of them says that a repository is not there, nor about whom it
 * says something beyond this request.
 */

const message = (text: string) => JSON.stringify({ message: text, documentation_url: 'https://docs.github.com/rest' })
const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

const API: readonly (() => Fault)[] = [
  () => ({ status: 500, body: message('Server Error') }),
  () => ({ status: 502, html: true }),
  () => ({ status: 503, headers: { 'retry-after': '1' }, body: message('Service unavailable') }),
  () => ({ status: 504, body: message("We couldn't respond to your request in time.") }),
  () => ({ status: 429, headers: { 'retry-after': '1' }, body: message('You have exceeded a secondary rate limit.') }),
  () => ({ status: 403, headers: { 'retry-after': '1' }, body: message('You have exceeded a secondary rate limit.') }),
  () => ({
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 2) },
    body: message('API rate limit exceeded for user ID 1.'),
  }),
  () => ({
    status: 403,
    body: message('Resource protected by organization SAML enforcement. You must grant your token access.'),
  }),
  () => ({ status: 401, body: message('Bad credentials') }),
  () => ({ status: 200, html: true }),
  () => ({ cutAfterBytes: 40 }),
  () => ({ reset: true }),
  () => ({ delaySeconds: 1 }),
]

const GIT: readonly (() => Fault)[] = [
  () => ({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'error: 500' }),
  () => ({ status: 502, html: true }),
  () => ({ status: 503, headers: { 'content-type': 'text/plain', 'retry-after': '1' }, body: 'Service unavailable' }),
  () => ({ status: 429, headers: { 'content-type': 'text/plain', 'retry-after': '1' }, body: 'Too many requests' }),
  () => ({
    status: 200,
    headers: { 'content-type': 'application/x-git-upload-pack-result' },
    body: packet('ERR upload-pack: internal server error\n'),
  }),
  () => ({ cutAfterBytes: 40 }),
  () => ({ reset: true }),
  () => ({ delaySeconds: 1 }),
]

/**
 * Has a share of the answers of the API, and of git, fail.
 *
 * @param share 0 to 1
 * @param onFault told of each
 */
export function failingShare(share: number, seed: number, onFault: () => void): ChooseFault {
  const random = createRandom('host', seed)
  return ({ host }) => {
    const kinds = host === 'api' ? API : host === 'web' ? GIT : []
    if (kinds.length === 0 || random() >= share) return null
    onFault()
    return kinds[Math.floor(random() * kinds.length)]?.() ?? null
  }
}

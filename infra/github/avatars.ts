import { createLimit } from '#core/concurrency/fair-gate.ts'
import type { AvatarSource, HostAnswer } from '#core/ports/git-host.ts'
import { boundedFetch } from './api-client.ts'

export interface AvatarOptions {
  /** The only origins that are asked. */
  origins: readonly string[]
  /** Aborts everything under way. */
  closing: AbortSignal
  /** Time of one answer. */
  answerMs?: number
}

const ANSWER_MS = 4_000
const AT_ONCE = 8
const WAITING = 64
const MISSING = { status: 'missing' } as const
const UNAVAILABLE = { status: 'unavailable', retryAfterSeconds: null } as const

/**
 * Pictures of accounts, from the host's own origins alone: their URLs are answers of a server, and a redirect could lead anywhere. The request
 * has no credentials, since the picture is served to everyone.
 */
export function createAvatars({ origins, closing, answerMs = ANSWER_MS }: AvatarOptions): AvatarSource {
  const limit = createLimit(AT_ONCE, WAITING)

  async function ask(url: URL, maxBytes: number): Promise<HostAnswer<Uint8Array>> {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
    const headers = { accept: 'image/png, image/jpeg, image/gif, image/webp', 'accept-encoding': 'identity' }
    const answer = await boundedFetch(maxBytes)(url, { headers, signal, credentials: 'omit' })
    if (answer.status === 200) return { status: 'ok', value: new Uint8Array(await answer.arrayBuffer()) }
    await answer.body?.cancel()
    return answer.status >= 500 ? UNAVAILABLE : MISSING
  }

  return {
    async fetch(text, pixels, maxBytes) {
      const url = avatarUrl(text, origins)
      if (url === null) return MISSING
      url.searchParams.set('s', String(pixels))
      try {
        return await limit(() => ask(url, maxBytes))
      } catch {
        // The connection failed or timed out, the picture was too large, or too many wait. Neither visitor nor operator can mend that.
        return UNAVAILABLE
      }
    },
  }
}

/** `null` when the URL leads elsewhere than to these origins. */
export function avatarUrl(text: string, origins: readonly string[]): URL | null {
  const url = URL.parse(text)
  // The protocol is checked too: the origin of a `blob:` URL is that of its page.
  if (url === null || !/^https?:$/.test(url.protocol) || !origins.includes(url.origin)) return null
  if (url.username !== '' || url.password !== '') return null
  url.hash = ''
  return url
}

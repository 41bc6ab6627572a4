import type { MiddlewareHandler } from 'astro'
import { chooseEncoding, compress } from './lib/compress.ts'

/**
 * Compresses the page, and drops Astro's reason phrase, which is "OK" for every status that a page sets. Node then writes the phrase of the
 * status.
 */
export const onRequest: MiddlewareHandler = async ({ locals }, next) => {
  const { body, status, headers } = await next()
  headers.append('vary', 'accept, accept-encoding')
  const encoding = chooseEncoding(locals.acceptEncoding)
  if (encoding === null || body === null) return new Response(body, { status, headers })
  const bytes = new Uint8Array(await new Response(body).arrayBuffer())
  const compressed = await compress(bytes, encoding)
  if (compressed !== null) headers.set('content-encoding', encoding)
  return new Response((compressed ?? bytes) as Uint8Array<ArrayBuffer>, { status, headers })
}

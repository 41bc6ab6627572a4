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
  if (body === null || (encoding === null && locals.onRendered === null)) return new Response(body, { status, headers })
  const bytes = new Uint8Array(await new Response(body).arrayBuffer())
  const compressed = encoding === null ? null : await compress(bytes, encoding)
  if (encoding !== null && compressed !== null) headers.set('content-encoding', encoding)
  const sent = (compressed ?? bytes) as Uint8Array<ArrayBuffer>
  if (status === 200 && !locals.isPartial) locals.onRendered?.({ headers: [...headers], bytes: sent })
  return new Response(sent, { status, headers })
}

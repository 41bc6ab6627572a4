import type { MiddlewareHandler } from 'astro'
import { chooseEncoding, compress } from './lib/compress.ts'
import { carryInLinks } from './lib/page-language.ts'
import { carryLanguage } from './lib/ui.ts'

/**
 * Keeps the language that the URL chose in the links of the page, compresses the page, and drops Astro's reason phrase, which is "OK" for every status that a page sets. Node then writes the phrase of the
 * status.
 */
export const onRequest: MiddlewareHandler = async ({ locals }, next) => {
  const response = await next()
  const { body, status, headers } = response
  // A page that shows another one (`Astro.rewrite`) receives that one as it is to be sent: compressed again, no browser could read it.
  if (headers.get('vary')?.includes('accept-encoding')) return response
  // Programs that do not read the page for its encoding take Latin-1.
  if (headers.get('content-type') === 'text/html') headers.set('content-type', 'text/html; charset=utf-8')
  headers.append('vary', 'accept, accept-language, accept-encoding')
  const { ui } = locals
  const location = headers.get('location')
  if (location?.startsWith('/')) headers.set('location', carryLanguage(location, ui))
  const isRewritten = ui.isChosen && headers.get('content-type')?.startsWith('text/html') === true
  const encoding = chooseEncoding(locals.acceptEncoding)
  if (body === null || (encoding === null && locals.onRendered === null && !isRewritten))
    return new Response(body, { status, headers })
  const received = await response.bytes()
  const bytes = isRewritten ? new TextEncoder().encode(carryInLinks(new TextDecoder().decode(received), ui)) : received
  const compressed = encoding === null ? null : await compress(bytes, encoding)
  if (encoding !== null && compressed !== null) headers.set('content-encoding', encoding)
  const sent = (compressed ?? bytes) as Uint8Array<ArrayBuffer>
  headers.set('content-length', String(sent.byteLength))
  if (status === 200 && !locals.isPartial) locals.onRendered?.({ headers: [...headers], bytes: sent })
  return new Response(sent, { status, headers })
}

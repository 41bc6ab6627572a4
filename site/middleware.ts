import type { MiddlewareHandler } from 'astro'

/** Drops Astro's reason phrase, which is "OK" for every status that a page sets. Node then writes the phrase of the status. */
export const onRequest: MiddlewareHandler = async (_context, next) => {
  const { body, status, headers } = await next()
  return new Response(body, { status, headers })
}

import type { MiddlewareHandler } from 'astro'

/** Astro writes the reason phrase "OK" for every status that a page sets. Without one, Node writes the phrase of the status. */
export const onRequest: MiddlewareHandler = async (_context, next) => {
  const { body, status, headers } = await next()
  return new Response(body, { status, headers })
}

import type { MiddlewareHandler } from 'astro'

/** Astro says "OK" of every status that a page sets. Without words of its own, Node writes those of the status. */
export const onRequest: MiddlewareHandler = async (_context, next) => {
  const { body, status, headers } = await next()
  return new Response(body, { status, headers })
}

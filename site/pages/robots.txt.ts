import type { APIRoute } from 'astro'

/** Search engines read the documentation and the first pages of addresses; searches and later pages have no end. */
export const GET: APIRoute = ({ locals }) =>
  new Response(
    [
      'User-agent: *',
      'Disallow: /api/',
      'Disallow: /mcp',
      'Disallow: /search',
      'Disallow: /suggest',
      'Disallow: /*?*cursor=',
      'Disallow: /*view=find',
      `Sitemap: ${locals.baseUrl}/sitemap.xml`,
      '',
    ].join('\n'),
    { headers: { 'content-type': 'text/plain; charset=utf-8' } },
  )

import type { APIRoute } from 'astro'
import { DOCS_PAGES, docsHref } from '../lib/docs-pages.ts'

/** The pages that are the same for everyone. There is no list of repositories. */
export const GET: APIRoute = ({ locals }) => {
  const urls = ['/', ...DOCS_PAGES.map(docsHref)].map(path => `<url><loc>${locals.baseUrl}${path}</loc></url>`)
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`
  return new Response(text, { headers: { 'content-type': 'application/xml; charset=utf-8' } })
}

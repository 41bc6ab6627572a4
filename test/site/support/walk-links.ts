import { expect } from 'vitest'
import type { Service } from '#test/support/service.ts'
import { attributesOf, dangersOf } from './html.ts'

/** Thousands of pages are not compressed only to be unpacked again. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' }

/**
 * Follows the links of every page from the first, and expects that each leads to something and that no page has a danger.
 *
 * @param isFollowed whether a link is followed
 * @returns the pages
 */
export async function walkLinks(service: Service, first: string, isFollowed: (path: string) => boolean): Promise<string[]> {
  const from = new Map([[first, 'the start']])
  const pages: string[] = []
  for (const [target, source] of from) {
    const response = await fetch(service.baseUrl + target, { redirect: 'manual', headers: UNCOMPRESSED })
    const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false
    const body = await response.text()
    // A folder shows also what is withheld or not sent: its page says what it is, with the status of the API.
    const isUnshown = [403, 404, 413, 415].includes(response.status) && attributesOf(body, 'h2', 'class').includes('file-name')
    if (!isUnshown) expect(`${response.status} ${target} from ${source}`).toBe(`200 ${target} from ${source}`)
    if (!isPage) continue
    pages.push(target)
    expect(dangersOf(body), target).toEqual([])
    for (const href of attributesOf(body, '(?:a|link)', 'href')) {
      const local = href.startsWith(service.baseUrl) ? href.slice(service.baseUrl.length) : href
      const [path = ''] = local.split('#')
      // MCP servers answer POST alone.
      const isLocal = path.startsWith('/') && !path.startsWith('/mcp/')
      if (isLocal && isFollowed(path) && !from.has(path)) from.set(path, target)
    }
  }
  return pages
}

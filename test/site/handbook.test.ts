import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { ensureBuilt } from './support/built-site.ts'
import { attributesOf, dangersOf, textOf } from './support/html.ts'

let service: Service
beforeAll(async () => {
  await ensureBuilt()
  service = await startService({ MOUNTGLASS_GITHUB: 'off' })
  await service.get('mounts', '/local/mountglass/handbook')
})
afterAll(() => service?.stop())

test('every link of every page of the reference repository leads to something', async () => {
  const from = new Map([['/', 'the start']])
  const pages: string[] = []
  for (const [target, source] of from) {
    const response = await fetch(service.baseUrl + target, { redirect: 'manual' })
    const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false
    const body = await response.text()
    // A folder shows that a described-only file is there; the file itself is refused.
    const isRefused = response.status === 403 && textOf(body).includes('file.not_served')
    if (!isRefused) expect(`${response.status} ${target} from ${source}`).toBe(`200 ${target} from ${source}`)
    if (!isPage) continue
    pages.push(target)
    expect(dangersOf(body), target).toEqual([])
    for (const href of attributesOf(body, '(?:a|link)', 'href')) {
      const local = href.startsWith(service.baseUrl) ? href.slice(service.baseUrl.length) : href
      const [path = ''] = local.split('#')
      // MCP servers answer POST alone.
      if (path.startsWith('/') && !path.startsWith('/mcp/') && !from.has(path)) from.set(path, target)
    }
  }
  expect(pages.filter(page => page.includes('view=skill')).length).toBeGreaterThan(16)
  expect(pages.filter(page => page.includes('view=file')).length).toBeGreaterThan(9)
})

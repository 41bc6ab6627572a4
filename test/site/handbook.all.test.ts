import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { ensureBuilt } from './support/built-site.ts'
import { walkLinks } from './support/walk-links.ts'

let service: Service
beforeAll(async () => {
  await ensureBuilt()
  service = await startService({ MOUNTGLASS_GITHUB: 'off' })
  await service.get('mounts', '/local/mountglass/handbook')
})
afterAll(() => service?.stop())

test('every link of every German page of the reference repository leads to something, at every ref and in every folder', async () => {
  // For English, handbook.test.ts asks for the pages at no ref and no folder. Markdown has no language.
  const pages = await walkLinks(service, '/?lang=de', path => /[?&]lang=de/.test(path) || path.includes('format=markdown'))
  for (const view of ['skill', 'file', 'browse', 'changes', 'refs']) {
    const ofView = pages.filter(page => page.includes(`view=${view}`))
    for (const ref of ['handbook', '@v1', '@releases%2Fv1', '@[0-9a-f]{40}']) {
      expect(ofView.filter(page => new RegExp(`${ref}[/?]`).test(page)).length, `${view} at ${ref}`).toBeGreaterThan(3)
    }
  }
})

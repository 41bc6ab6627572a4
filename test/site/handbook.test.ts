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

test('every link of every page of the reference repository leads to something', async () => {
  // The pages of its commits, branches, tags and folders: handbook.all.test.ts, in German. Without a language, a page is in English.
  const isElsewhere = (path: string) => /[?&]lang=|@[^/?]+[/?]|\/handbook\/[^?]+\?/.test(path)
  const pages = await walkLinks(service, '/', path => !isElsewhere(path))
  expect(pages.filter(page => page.includes('view=skill')).length).toBeGreaterThan(16)
  expect(pages.filter(page => page.includes('view=file')).length).toBeGreaterThan(9)
})

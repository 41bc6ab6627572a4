import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NO_CONTENT } from '#api/operator/operator-content.ts'
import { parseAddress } from '#core/address.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from './support/built-site.ts'
import { attributesOf, textOf } from './support/html.ts'

const PAGE = '/gh/acme/tools'
const OWNER = '/owners/gh/acme'
const VIEWS = [
  '',
  '?view=browse',
  '?view=browse&path=docs',
  '?view=find&query=guide',
  '?view=skill&path=one/SKILL.md',
  '?view=file&path=docs/guide.md',
  '?view=file&path=docs/guide.md&look=rendered',
]

let app: TestApp
let origin: string
let repository: Repository

beforeEach(async () => {
  await ensureBuilt()
  const files = {
    'package.json': '{"license":"MIT"}\n',
    'docs/guide.md': '# The secret guide\n',
    'one/SKILL.md': '---\nname: one\ndescription: The secret skill.\n---\nDo it.\n',
  }
  app = await testApp(
    { 'acme/tools': files, 'acme/other': { 'a.md': '# A\n' } },
    {
      github: { withToken: true },
      operator: { ...NO_CONTENT, featured: [{ address: parseAddress(PAGE, ['gh']), image: null, verified: false }] },
      site: async instance => {
        const client = createApiClient(injectTransport(instance))
        await instance.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local', 'gh'], rendering: PATIENT_RENDERING })
      },
    },
  )
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}`
  await app.open(PAGE)
  repository = await app.github.shown('acme', 'tools')
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

interface Shown {
  status: number
  location: string | null
  html: string
}

async function show(target: string): Promise<Shown> {
  const answer = await fetch(origin + target, { redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), html: await answer.text() }
}

test('before a change, every page exists', async () => {
  for (const view of VIEWS) expect((await show(PAGE + view)).status, view).toBe(200)
  expect(textOf((await show(OWNER)).html)).toContain('1 skill')
  expect(attributesOf((await show('/')).html, 'a', 'href')).toContain(PAGE)
})

describe('a repository', () => {
  test('that was renamed redirects the pages of its old name to those of the new one', async () => {
    app.github.world.rename(repository, { name: 'Kit' })
    app.advanceClock(301)
    for (const view of VIEWS) {
      const { status, location } = await show(`${PAGE}@main${view}`)
      expect(status, view).toBe(301)
      expect(decodeURIComponent(location ?? '')).toBe(`/gh/acme/Kit@main${view}`)
      expect((await show(location ?? '')).status, view).toBe(200)
    }
    const links = attributesOf((await show(OWNER)).html, 'a', 'href')
    expect(links).toContain('/gh/acme/Kit')
    expect(links).not.toContain(PAGE)
    expect(attributesOf((await show('/')).html, 'a', 'href')).toContain('/gh/acme/Kit')
  })

  test.each<[string, () => void]>([
    ['became private', () => Object.assign(repository, { visibility: 'private' })],
    ['was blocked', () => Object.assign(repository, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })],
    ['was removed', () => app.github.world.remove(repository)],
  ])('that %s has no page a minute later, and no other page names its content', async (_name, change) => {
    change()
    app.advanceClock(60)
    for (const view of VIEWS) {
      const { status, html } = await show(PAGE + view)
      expect(status, view).toBe(404)
      expect(html).toContain('data-code="mount.repo_not_found"')
      expect(html).not.toContain('secret')
    }
    const others = [OWNER, `${OWNER}?page=1`, '/', '/gh/acme/other']
    for (const target of others) {
      const { status, html } = await show(target)
      expect(status, target).toBe(200)
      expect(html).not.toContain('secret')
      expect(attributesOf(html, 'a', 'href').filter(href => href.startsWith(PAGE))).toEqual([])
    }
  })
})

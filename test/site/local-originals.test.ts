import type { FastifyInstance } from 'fastify'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from './support/built-site.ts'

const FILES = { 'acme/tools': { 'SKILL.md': '---\nname: tools\ndescription: Helps.\n---\nBody.\n', 'notes.md': '# Notes\n' } }

const site = (localSource: 'withheld' | 'open') => async (pages: FastifyInstance) => {
  const client = createApiClient(injectTransport(pages))
  await pages.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local'], localSource, rendering: PATIENT_RENDERING })
}

let app: TestApp
beforeAll(ensureBuilt)
afterEach(() => app.close())

test.for(['withheld', 'open'] as const)(
  'with originals of local repositories %s, pages link only to those that the raw route serves',
  async localSource => {
    app = await testApp(FILES, {
      deps: deps => ({ ...deps, localSource }),
      site: site(localSource),
    })
    await app.open('/local/acme/tools')
    for (const path of ['SKILL.md', 'notes.md']) {
      const raw = `/git/local/acme/tools/raw/${app.commitOf('acme/tools')}/${path}`
      const { statusCode } = await app.app.inject({ url: raw })
      const page = await app.app.inject({ url: `/local/acme/tools?view=${path === 'SKILL.md' ? 'skill' : 'file'}&path=${path}` })
      expect([statusCode, page.body.includes(`href="${BASE_URL}${raw}"`)], path).toEqual(
        localSource === 'open' ? [200, true] : [404, false],
      )
    }
  },
)

test('an original that is not there, or whose repository is gone, is a page for a browser, and the error of the interface for a program', async () => {
  app = await testApp(FILES, { deps: deps => ({ ...deps, localSource: 'open' }), site: site('open') })
  await app.open('/local/acme/tools')
  const commit = app.commitOf('acme/tools')
  const ask = async (url: string, language = 'en') => {
    const headers = { accept: 'text/html,*/*;q=0.8', 'accept-language': language }
    const { statusCode, headers: sent, body } = await app.app.inject({ url, headers })
    return { statusCode, type: sent['content-type'], body }
  }
  for (const [url, code, words] of [
    [`/git/local/acme/tools/raw/${commit}/gone.png`, 'file.not_found', 'Nothing to read here'],
    [`/git/local/acme/gone/raw/${commit}/notes.md`, 'mount.repo_not_found', 'The repository does not exist'],
  ] as const) {
    const page = await ask(url)
    expect([page.statusCode, page.type]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.body).toContain(words)
    expect(page.body.slice(page.body.indexOf('<main'))).toContain('href="/"')
    expect((await ask(url, 'de')).body).toContain('Startseite öffnen')
    const program = await app.app.inject({ url })
    expect([program.statusCode, program.json().error.code]).toEqual([404, code])
  }
  expect((await ask(`/git/local/acme/tools/raw/${commit}/notes.md`)).body).toBe('# Notes\n')
})

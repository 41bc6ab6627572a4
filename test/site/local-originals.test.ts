import { afterEach, beforeAll, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from './support/built-site.ts'

const FILES = { 'acme/tools': { 'SKILL.md': '---\nname: tools\ndescription: Helps.\n---\nBody.\n', 'notes.md': '# Notes\n' } }

let app: TestApp
beforeAll(ensureBuilt)
afterEach(() => app.close())

test.for(['withheld', 'open'] as const)(
  'with originals of local repositories %s, pages link only to those that the raw route serves',
  async localSource => {
    app = await testApp(FILES, {
      deps: deps => ({ ...deps, localSource }),
      site: async pages => {
        const client = createApiClient(injectTransport(pages))
        await pages.register(sitePlugin, {
          client,
          baseUrl: BASE_URL,
          hosts: ['local'],
          localSource,
          rendering: PATIENT_RENDERING,
        })
      },
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

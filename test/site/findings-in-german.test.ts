import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from './support/built-site.ts'

const FILES = {
  'acme/tools': {
    'package.json': '{"license":"MIT"}',
    'SKILLSET.md': '---\nname: [x\n---\n',
    'a/SKILL.md': '---\nname: a\ndescription: Helps.\ninclude: [b.md]\n---\n[gone](gone.md)\n',
    'a/b.md': 'x\u200B\n',
  },
  'acme/open': {
    'package.json': '{"license":"MIT"}',
    'a/SKILL.md': '---\nname: a\ndescription: Helps.\ninclude: [b.md]\n---\n[gone](gone.md)\n',
    'a/b.md': 'x\n\nx\u200B\n',
  },
}

let app: TestApp
beforeAll(async () => {
  await ensureBuilt()
  app = await testApp(FILES, {
    site: async pages => {
      const client = createApiClient(injectTransport(pages))
      await pages.register(sitePlugin, {
        client,
        baseUrl: BASE_URL,
        hosts: ['local'],
        localSource: 'open',
        rendering: PATIENT_RENDERING,
      })
    },
  })
  await app.open('/local/acme/tools')
  await app.open('/local/acme/open')
})
afterAll(() => app.close())

const pageOf = async (url: string, language: string) =>
  (await app.app.inject({ url, headers: { 'accept-language': language, accept: 'text/html' } })).body

test('a German page says what the indexer found in German, and the answers of the API stay English', async () => {
  const skill = '/local/acme/open?view=skill&path=a/SKILL.md'
  const german = await pageOf(skill, 'de')
  expect(german).toContain('gone.md</bdi> führt ins Leere')
  // The words that name the line lead to the file that they are about.
  expect(german).toMatch(
    /a\/<wbr>b\.md<\/bdi>: unsichtbare Zeichen \(<bdi>U\+200B<\/bdi>\) in <a href="[^"]*a\/b\.md[^"]*3[^"]*">Zeile 3</,
  )
  expect(await pageOf(skill, 'en')).toContain('gone.md</bdi> leads to nothing')
  expect(await pageOf('/local/acme/tools?view=findings', 'de')).toContain('Agenten bekommen nichts aus diesem Ordner')
  const { json } = await app.get('/api/v1/skills/local/acme/open?path=a/SKILL.md')
  expect(json.skill.warnings).toEqual([
    { code: 'text.hidden_characters', level: 'look', message: 'a/b.md: hidden characters (U+200B) on line 3' },
    { code: 'reference.broken', level: 'breaks', message: 'gone.md leads to nothing' },
  ])
})

test('a German page tells the cases of an error apart', async () => {
  expect(await pageOf('/local/acme/open@1234567', 'de')).toContain('oder alle 40')
})

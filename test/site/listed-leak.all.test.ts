import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listedRepositories } from '#api/front/search.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { ensureBuilt } from './support/built-site.ts'

/* Pages that anyone may ask, of a server with a private repository, an excluded skill and a withheld text. */

const OPEN = '/local/acme/open'
const CLOSED = '/local/acme/vault-closed'
/** Words that only what is kept back has. */
const KEPT_BACK = ['quillwort', 'bogbean', 'saxifrage'] as const

let app: TestApp
let known: ListedRepositories | undefined
/** Of the app, which exists once its pages are registered. */
const lists = () => (known ??= listedRepositories(app.deps))
beforeAll(async () => {
  await ensureBuilt()
  app = await testApp(
    {
      'acme/open': {
        LICENSE: MIT,
        'SKILLSET.md': '---\nname: Open\nexclude: [hidden/**]\n---\n',
        'pdf/SKILL.md': skillText('pdf', 'Fill the violet form.\n'),
        'hidden/SKILL.md': skillText('quillwort', 'An excluded violet text.\n'),
        'kept/SKILL.md': skillText('kept-pdf', 'A violet text of bogbean.\n', 'license: Proprietary\n'),
      },
      'acme/vault-closed': { LICENSE: MIT, 'saxifrage/SKILL.md': skillText('saxifrage', 'A private violet text.\n') },
    },
    {
      site: async pages => {
        const client = createApiClient(injectTransport(pages))
        // The address of the private repository is among them: whoever lists it, nothing may be told.
        const listLocal = async () => [OPEN, CLOSED]
        const listed: ListedRepositories = {
          peek: addresses => lists().peek(addresses),
          search: (...asked) => lists().search(...asked),
        }
        await pages.register(sitePlugin, {
          client,
          baseUrl: BASE_URL,
          hosts: ['local'],
          listLocal,
          listed,
          rendering: PATIENT_RENDERING,
        })
      },
    },
  )
  await app.open(OPEN)
  // It was public once, and is indexed.
  await app.open(CLOSED)
  await writeFile(join(app.repository('acme/vault-closed').gitDir, 'mountglass-private'), '')
})
afterAll(() => app.close())

async function page(url: string): Promise<string> {
  const { statusCode, body } = await app.app.inject({ url })
  expect([url, statusCode]).toEqual([url, 200])
  return body
}

test('suggestions name public repositories alone', async () => {
  expect(JSON.parse(await page('/suggest?q=open')).items).toEqual([{ text: 'local/acme/open', href: OPEN }])
  for (const text of ['vault', 'closed', 'acme', 'local/acme', 'saxifrage', 'quillwort'])
    expect(await page(`/suggest?q=${encodeURIComponent(text)}`)).not.toMatch(/vault|saxifrage|quillwort/)
})

test('a search finds nothing of a private repository, of an excluded skill or of a withheld text', async () => {
  expect(await page('/search?query=violet')).toContain('pdf/SKILL.md')
  for (const words of ['violet', 'pdf', 'private', 'text', 'form']) {
    const html = await page(`/search?query=${words}`)
    for (const kept of [...KEPT_BACK, 'vault']) expect([words, kept, html.includes(kept)]).toEqual([words, kept, false])
  }
  for (const kept of KEPT_BACK) {
    const html = await page(`/search?query=${kept}`)
    expect(html).toContain('No skill there has these words.')
    expect(html).not.toMatch(/href="[^"]*SKILL\.md/)
  }
})

test('a search for the name of a private repository is answered as one for any other word', async () => {
  const [named, unknown] = await Promise.all([page('/search?query=vault-closed'), page('/search?query=vault-nothing')])
  expect(named.replaceAll('vault-closed', 'vault-nothing')).toBe(unknown)
})

test('the front page and a mistyped address name no private repository', async () => {
  expect(await page('/')).not.toContain('vault')
  const { body } = await app.app.inject({ url: '/open?address=vault-close/x/y/z:1' })
  expect(body).not.toContain('vault-closed')
})

import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { ensureBuilt } from './support/built-site.ts'
import { attributesOf, dangersOf, textOf, titleOf } from './support/html.ts'

const QUIRKS = '/local/acme/quirks'
const LARGE = new Uint8Array(1024 * 1024 + 1).fill(65)
const LONG = `${'a'.repeat(200)}.ts`
const NAMES = [LONG, 'שלום.ts', '<b>x<b>.ts', 'e\u0301\u0301\u0301.ts', '"><img src=x onerror=alert(1)>.ts'.replaceAll('/', '')]

let app: TestApp
beforeAll(async () => {
  await ensureBuilt()
  app = await testApp(
    {
      'acme/quirks': {
        LICENSE: MIT,
        'SKILLSET.md': '---\nname: Quirks\nexclude:\n  - drafts/**\n  - never-there/\n---\nBe brief.\n',
        'CLAUDE.md': '# Claude\n\nRead this.\n',
        'AGENTS.md': { link: 'CLAUDE.md' },
        'GEMINI.md': { link: 'drafts/plan.md' },
        outside: { link: '/etc/passwd' },
        'drafts/plan.md': '# A secret plan\n',
        'docs/guide.md': '# Guide\n',
        'docs/code.ts': 'export const x = 1\n',
        'docs/skills': { link: '../skills' },
        'img/big.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
        'img/huge.md': LARGE,
        'img/latin.md': new Uint8Array([0xff, 0xfe, 0xff]),
        'vendor/module': { submodule: '1'.repeat(40) },
        'skills/plain/SKILL.md': skillText('plain'),
        'skills/own/SKILL.md': skillText('own', 'Closed words.\n', 'license: Proprietary\n'),
        ...Object.fromEntries(NAMES.map(name => [`odd/${name}`, 'x'])),
      },
      'acme/empty': {},
      'acme/damaged': { 'README.md': '# Damaged\n' },
      'acme/vanishing': { 'README.md': '# Here\n', 'docs/a.md': '# A\n' },
      'acme/crowded': Object.fromEntries(Array.from({ length: 20_000 }, (_, number) => [`all/f${number}.ts`, 'x'])),
    },
    {
      site: async pages => {
        const client = createApiClient(injectTransport(pages))
        await pages.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local'], rendering: PATIENT_RENDERING })
      },
    },
  )
  await app.open(QUIRKS)
})
afterAll(() => app.close())

async function get(url: string, language = 'en') {
  const { statusCode: status, body: html, headers } = await app.app.inject({ url, headers: { 'accept-language': language } })
  const main = html.slice(html.indexOf('<main'), html.indexOf('</main'))
  return { status, html, headers, said: textOf(main).replace(/\s+([.,:;])/g, '$1'), links: attributesOf(main, 'a', 'href') }
}
const fileOf = (path: string, address = QUIRKS) => `${address}?view=file&path=${encodeURIComponent(path)}`
const rawOf = (path: string) => `${BASE_URL}/git/local/acme/quirks/raw/${app.commitOf('acme/quirks')}/${path}`

describe('every path that Browse lists', () => {
  async function walk(path: string): Promise<string[]> {
    const { entries } = await app.askReady('browse', QUIRKS, { ...(path !== '' && { path }), files: 'all', limit: 200 })
    const below = entries.filter(({ kind, why }) => kind === 'directory' && why === undefined).map(entry => walk(entry.path))
    return [...entries.map(entry => entry.path), ...(await Promise.all(below)).flat()]
  }

  test('has a page that does not deny it, with a way out that is there, in both languages', async () => {
    const paths = await walk('')
    expect(paths.length).toBeGreaterThan(25)
    for (const path of paths) {
      const api = await app.get(`/api/v1/files${QUIRKS}?path=${encodeURIComponent(path)}`)
      for (const language of ['en', 'de']) {
        const { status, said, links, html } = await get(fileOf(path), language)
        expect(status, path).toBe(api.status)
        expect(said, path).not.toMatch(/There is no|Nothing to read|nichts zu lesen|not found|nicht gefunden/i)
        expect(dangersOf(html), path).toEqual([])
        if (status === 200) continue
        expect(links.length, path).toBeGreaterThan(0)
        for (const href of links.filter(href => href.startsWith(BASE_URL)))
          expect((await app.app.inject({ url: href.slice(BASE_URL.length) })).statusCode, href).toBe(200)
      }
    }
  })
})

test.each([
  ['img/big.png', 404, 'img/big.png is a picture; pictures are not shown.', 'img/big.png'],
  ['img/huge.md', 413, 'img/huge.md is too large to show: a text has 1.0 MiB at most.', 'img/huge.md'],
  ['img/latin.md', 415, 'img/latin.md is not text, so it is not shown.', 'img/latin.md'],
  ['docs/code.ts', 404, 'docs/code.ts is not sent to agents, so its text is not shown here.', 'docs/code.ts'],
  ['docs/skills', 404, 'docs/skills is a link to skills.', null],
  ['vendor/module', 404, 'vendor/module is a submodule: another repository, whose files are not shown here.', null],
  [
    'outside',
    404,
    'outside is a link, and what it leads to is not shown here. This server keeps the original back as well.',
    null,
  ],
  ['GEMINI.md', 404, 'GEMINI.md is a link, and what it leads to is not shown here.', null],
  ['skills/own/SKILL.md', 403, 'Text withheld: its license allows no copies ( Proprietary', null],
] as const)('%s has its own sentence', async (path, status, words, original) => {
  const page = await get(fileOf(path))
  expect(page.status).toBe(status)
  expect(page.said).toContain(words)
  expect(page.links.includes(rawOf(path))).toBe(original !== null)
  expect(page.html).not.toMatch(/MOUNTGLASS_|\/etc\/passwd|drafts\/plan/)
})

test('AGENTS.md as a link opens by page, address and interface', async () => {
  const page = await get(fileOf('AGENTS.md'))
  expect([page.status, page.said.includes('Read this.')]).toEqual([200, true])
  const address = await app.app.inject({ url: `${QUIRKS}/AGENTS.md` })
  expect([address.statusCode, address.headers.location]).toEqual([302, `${QUIRKS}?view=file&path=AGENTS.md`])
  expect((await app.get(`/api/v1/files${QUIRKS}?path=AGENTS.md`)).json).toMatchObject({ content: '# Claude\n\nRead this.\n' })
})

test('Browse names what SKILLSET.md leaves out where it is served, and nowhere what is left out', async () => {
  const root = await get(`${QUIRKS}?view=browse`)
  expect(root.said).toContain('SKILLSET.md leaves out drafts/**')
  expect(root.said).toContain('SKILLSET.md leaves out never-there/')
  expect(root.links).toContain(`${QUIRKS}?view=file&path=SKILLSET.md&look=exact#L4`)
  expect(root.said).toMatch(/AGENTS\.md .*link → CLAUDE\.md/)
  for (const url of [`${QUIRKS}/docs?view=browse`, `${QUIRKS}?view=browse&path=docs`])
    expect((await get(url)).said).not.toContain('leaves out')
  for (const url of [`${QUIRKS}?view=browse`, `${QUIRKS}?view=browse&files=delivered`, fileOf('GEMINI.md')])
    expect((await get(url)).html, url).not.toMatch(/plan\.md|secret plan/)
})

test.each(['file', 'skill', 'browse'])(
  'what is left out and what is absent are the same page but for the path: view %s',
  async view => {
    const [left, absent] = await Promise.all(
      ['drafts/plan.md', 'absent/plan.md'].map(path => get(`${QUIRKS}?view=${view}&path=${path}`)),
    )
    expect(left?.status).toBe(404)
    expect(left?.html.replaceAll('drafts', 'absent')).toBe(absent?.html)
    expect(left?.said).toContain('Nothing to read at drafts: it is not there, or SKILLSET.md leaves it out.')
  },
)

test('an address that ends at what is left out is that of what is absent', async () => {
  const pages = await Promise.all(['drafts', 'absent', 'drafts/plan.md', 'absent/plan.md'].map(path => get(`${QUIRKS}/${path}`)))
  expect(pages.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  for (const at of [0, 2]) expect(pages[at]?.html.replaceAll('drafts', 'absent')).toBe(pages[at + 1]?.html)
})

test('an empty repository, a damaged one and a missing version are three pages', async () => {
  const missing = await get(`${QUIRKS}@v9`)
  expect([missing.status, missing.said]).toEqual([404, expect.stringContaining('Nothing here is called v9.')])
  const empty = await get('/local/acme/empty')
  expect([empty.status, empty.said]).toEqual([404, expect.stringContaining('This repository has no commits yet.')])
  const objects = join(app.repository('acme/damaged').gitDir, 'objects')
  for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true })
  app.advanceClock(3600)
  const damaged = await get('/local/acme/damaged')
  expect([damaged.status, damaged.said]).toEqual([
    503,
    expect.stringContaining('This repository is damaged; its operator finds the cause in the log.'),
  ])
  for (const { said, links } of [missing, empty, damaged]) {
    expect(said).toContain('What you can do')
    expect(links).toContain('/')
  }
})

test('a repository that vanishes between two pages is not found, whatever was shown before', async () => {
  await app.open('/local/acme/vanishing')
  expect((await get('/local/acme/vanishing?view=browse')).status).toBe(200)
  const { gitDir } = app.repository('acme/vanishing')
  await rename(gitDir, `${gitDir}.gone`)
  app.advanceClock(3600)
  for (const view of ['?view=browse&path=docs', '?view=browse&files=delivered', '?view=file&path=docs/a.md']) {
    const { status, said, html } = await get(`/local/acme/vanishing${view}`)
    expect(status, view).toBe(404)
    expect(said).toContain('Repository not found')
    expect(titleOf(html)).toContain('Repository not found')
  }
})

test('twenty thousand other files are paged through in both directions, and left out by the switch', async () => {
  await app.open('/local/acme/crowded')
  const first = await get('/local/acme/crowded?view=browse&path=all')
  expect(first.said).toContain('not sent')
  const next = first.links.find(href => href.includes('cursor=')) ?? ''
  const second = await get(next)
  expect([second.status, second.said.includes('Previous page')]).toEqual([200, true])
  expect(gzipSync(second.html).byteLength).toBeLessThan(20_000)
  expect((await get('/local/acme/crowded?view=browse')).said).toContain('20,000 files')
  const only = await get('/local/acme/crowded?view=browse&path=all&files=delivered')
  expect(only.said).toContain('Agents get no text from this part of the folder.')
  expect(only.links.some(href => href.includes('cursor='))).toBe(true)
})

test('hostile names are text, and each opens from its row', async () => {
  const { html, links } = await get(`${QUIRKS}?view=browse&path=odd`)
  expect(dangersOf(html)).toEqual([])
  const rows = links.filter(href => href.includes('path=odd/'))
  expect(rows).toHaveLength(NAMES.length)
  for (const href of rows) expect((await get(href)).said).toContain('not sent to agents')
})

import { expect, test } from 'vitest'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const LOCAL = ['/local/acme/handbook', '/local/acme/tools', '/local/other/kit']
const page = async (words: string, hosts = ['local', 'gh']) => {
  const { get, close } = await open({}, { hosts, listLocal: async () => LOCAL })
  const { status, html } = await get(`/open?address=${encodeURIComponent(words)}`)
  await close()
  const main = html.slice(html.indexOf('<main'), html.indexOf('</main'))
  return { status, text: textOf(main), links: attributesOf(main, 'a', 'href'), html: main }
}

test('a text that is no address stays in the field, with its fault beside it', async () => {
  const { status, html, text, links } = await page('local/')
  expect(status).toBe(400)
  expect(attributesOf(html, 'input', 'value')).toEqual(['local/'])
  expect(attributesOf(html, 'input', 'aria-describedby')).toEqual(['problem hint'])
  expect(text).toContain('Which repository? Perhaps acme/handbook')
  expect(text).toContain('owner/repository or a GitHub link. Add @v1 for a version.')
  expect(links[0]).toBe('/local/acme/handbook')
})

test('a repository that cannot be read is not named as an example', async () => {
  const kinds: Record<string, 'damaged' | 'empty' | 'unread'> = { handbook: 'damaged', tools: 'empty', kit: 'unread' }
  const listed: ListedRepositories = {
    peek: async all =>
      all.map(address => ({ address, description: null, state: { kind: kinds[address.split('/')[3] ?? ''] ?? 'empty' } })),
    search: async () => null,
  }
  const { get } = await open({}, { listLocal: async () => LOCAL, listed })
  expect(textOf((await get('/open?address=')).html)).toContain('Perhaps other/kit')
})

test.each([
  ['ftp://x.example/acme/tool', ['/local/acme/tools', '/search?query=ftp%3A%2F%2Fx.example%2Facme%2Ftool']],
  ['https://gitlab.com/other/kit', ['/local/other/kit', '/search?query=https%3A%2F%2Fgitlab.com%2Fother%2Fkit']],
  ['', ['/local/acme/handbook']],
])('for %j, %j is suggested', async (words, meant) => {
  const { links } = await page(words)
  expect(links.filter(href => href !== '/')).toEqual(meant)
})

test.each(['nonsense', 'two words', '-x'])('%j is searched for', async words => {
  const { get, close } = await open({}, { listLocal: async () => LOCAL })
  const { status, headers } = await get(`/open?address=${encodeURIComponent(words)}`)
  expect([status, headers.location]).toEqual([302, `/search?${new URLSearchParams({ query: words })}`])
  await close()
})

import { expect, test } from 'vitest'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { refusal } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const LOCAL = ['/local/acme/broken', '/local/acme/handbook', '/local/acme/tools', '/local/other/kit']
/** One of the repositories is damaged. */
const LISTED: ListedRepositories = {
  peek: async asked =>
    asked.map(address => ({ address, description: null, state: { kind: address.endsWith('broken') ? 'damaged' : 'unread' } })),
  search: async () => null,
}
const page = async (words: string, hosts = ['local', 'gh']) => {
  const { get, close } = await open({}, { hosts, listLocal: async () => LOCAL, listed: LISTED })
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
  ['ftp://x.example/acme/tool', []],
  ['https://gitlab.com/other/kit', []],
  ['git@gitlab.com:acme/tool.git', []],
  ['local/acme/tool/..', ['/search?query=local%2Facme%2Ftool%2F..']],
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

test('of GitHub, where it is not served, one sentence is said, and the local repository of that name is linked', async () => {
  const words = 'https://github.com/Acme/handbook/blob/main/docs/a.md'
  const { get } = await open({}, { hosts: ['local'], listLocal: async () => LOCAL, listed: LISTED })
  for (const target of [`/open?address=${encodeURIComponent(words)}`, '/gh/acme/handbook@main?view=file&path=docs/a.md']) {
    const { html } = await get(target)
    const main = html.slice(html.indexOf('<main'), html.indexOf('</main'))
    expect(textOf(main)).toContain('This server shows no repositories of GitHub.')
    expect(textOf(main)).toMatch(/This server has local\/ ?acme\/ ?handbook/)
    expect(textOf(main)).not.toMatch(/not understood/i)
    expect(attributesOf(main, 'a', 'href').filter(href => href.startsWith('/local/'))).toHaveLength(1)
  }
  const other = await get(`/open?address=${encodeURIComponent('https://github.com/acme/tool')}`)
  expect(attributesOf(other.html.slice(other.html.indexOf('<main')), 'a', 'href').filter(href => href !== '/')).not.toContain(
    '/local/acme/tools',
  )
})

test('a damaged repository is suggested nowhere', async () => {
  const { get } = await open({ mounts: () => refusal('mount.repo_not_found') }, { listLocal: async () => LOCAL, listed: LISTED })
  for (const target of [
    '/open?address=%2F%2F%2F',
    '/open?address=local%2Facme%2Fbroke%2F..',
    '/local/acme/broke',
    '/search?query=broken',
  ]) {
    const { html } = await get(target)
    expect(attributesOf(html, 'a', 'href')).not.toContain('/local/acme/broken')
  }
  const suggested = (await get('/suggest?q=acme')).html
  expect(suggested).toContain('/local/acme/handbook')
  expect(suggested).not.toContain('broken')
})

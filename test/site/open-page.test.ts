import { expect, test } from 'vitest'
import { EN as en } from '#words/en/en.ts'
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
  const { status, html, text } = await page('nonsense')
  expect(status).toBe(400)
  expect(attributesOf(html, 'input', 'value')).toEqual(['nonsense'])
  expect(attributesOf(html, 'input', 'aria-describedby')).toEqual(['problem'])
  expect(/id="problem"[^>]*>([^<]*)/.exec(html)?.[1]).toContain('An address has more than one word')
  expect(text).toContain(en.open.kinds)
})

test.each([
  ['handbok', ['/local/acme/handbook', '/owners/gh/handbok']],
  ['acme', ['/local/acme/handbook', '/local/acme/tools', '/owners/gh/acme']],
  ['local/acme', ['/local/acme/handbook', '/local/acme/tools']],
  ['ftp://x.example/acme/tool', ['/local/acme/tools']],
  ['https://gitlab.com/other/kit', ['/local/other/kit']],
  ['two words', []],
  ['', []],
  ['-x', []],
])('for %j, %j is suggested', async (words, meant) => {
  const { links } = await page(words)
  expect(links.filter(href => href !== '/')).toEqual(meant)
})

test('no account is offered where GitHub is not served', async () => {
  expect((await page('acme', ['local'])).links).toEqual(['/local/acme/handbook', '/local/acme/tools', '/'])
})

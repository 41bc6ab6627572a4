import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseEncoding } from '#site/lib/compress.ts'
import { readyMount } from './support/answers.ts'
import { attributesOf, tagsOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const PAGE = '/local/acme/tools'
let site: Site
beforeAll(async () => {
  site = await openSite({ mounts: () => readyMount() })
})
afterAll(() => site.close())

const stylesheetOf = (html: string) => attributesOf(html, 'link', 'href').find(href => href.endsWith('.css')) ?? ''

describe('pages and stylesheets are compressed for browsers that accept it', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ])('%s gives %s', async (accepted, encoding, decompress) => {
    const plain = await site.get(PAGE)
    for (const target of [PAGE, stylesheetOf(plain.html)]) {
      const { headers, bytes } = await site.get(target, 'GET', { 'accept-encoding': accepted })
      expect(headers).toMatchObject({ 'content-encoding': encoding, vary: expect.stringContaining('accept-encoding') })
      const whole = await site.get(target)
      expect(decompress(bytes).equals(whole.bytes)).toBe(true)
      expect(bytes.length).toBeLessThan(whole.bytes.length / 2)
    }
  })

  test('without the header they are plain, and a HEAD has no body', async () => {
    const { headers } = await site.get(PAGE)
    expect(headers['content-encoding']).toBeUndefined()
    expect((await site.get(PAGE, 'HEAD', { 'accept-encoding': 'br' })).bytes.length).toBe(0)
  })

  test.each([
    ['', null],
    ['identity', null],
    ['br;q=0.0, gzip; q=0', null],
    ['GZIP', 'gzip'],
    ['*', null],
  ])('accept-encoding %j chooses %s', (accepted, encoding) => expect(chooseEncoding(accepted)).toBe(encoding))
})

test('the fonts are files of this origin that never change, and those of Latin are preloaded', async () => {
  const { html } = await site.get(PAGE)
  const preloads = tagsOf(html).filter(tag => tag.startsWith('<link') && tag.includes('rel="preload"'))
  expect(preloads.length).toBe(2)
  for (const tag of preloads) {
    const { status, headers } = await site.get(/href="([^"]*)"/.exec(tag)?.[1] ?? '')
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'font/woff2', 'cache-control': 'public, max-age=31536000, immutable' })
  }
  const styles = (await site.get(stylesheetOf(html))).html
  expect(styles.match(/@font-face/g)?.length).toBeGreaterThan(2)
  expect(styles).not.toMatch(/url\((?:"|')?(?:https?:|\/\/|data:)/)
})

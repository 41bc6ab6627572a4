import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseEncoding } from '#site/lib/compress.ts'
import { readyMount } from './support/answers.ts'
import { tagsOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const PAGE = '/local/acme/tools'
/** A phone on a slow line waits for these before it draws text. Styles are counted without the rules of fonts. */
const STYLES_BYTES = 9_500
const SCRIPT_BYTES = 3_500
/** Of each font: with two others under way, more would take a round trip more. */
const FONT_BYTES = 20_000
let site: Site
beforeAll(async () => {
  site = await openSite({ mounts: () => readyMount() })
})
afterAll(() => site.close())

/** What stands in the elements of a name. */
const textsOf = (html: string, name: 'style' | 'script') =>
  [...html.matchAll(new RegExp(`<${name}[^>]*>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text = '']) => text)

describe('pages and scripts are compressed if the browser accepts it', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ])('%s gives %s', async (accepted, encoding, decompress) => {
    for (const target of [PAGE, '/pagefind/pagefind.js']) {
      const { headers, bytes } = await site.get(target, 'GET', { 'accept-encoding': accepted })
      expect(headers).toMatchObject({ 'content-encoding': encoding, vary: expect.stringContaining('accept-encoding') })
      const whole = await site.get(target)
      expect(decompress(bytes).equals(whole.bytes)).toBe(true)
      expect(bytes.length).toBeLessThan(whole.bytes.length / 2)
    }
  })

  test('and otherwise plain, and a HEAD has no body', async () => {
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
    ['br;q=0.1, gzip', 'gzip'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
  ])('accept-encoding %j chooses %s', (accepted, encoding) => expect(chooseEncoding(accepted)).toBe(encoding))
})

test('styles and script are inline, so no other request is needed, and the policy allows them by their hash', async () => {
  const { html, headers } = await site.get(PAGE)
  const policy = String(headers['content-security-policy'])
  const rulesOf = (name: string) => policy.split(';').find(rule => rule.trim().startsWith(`${name}-src `)) ?? ''
  for (const name of ['style', 'script'] as const) {
    const texts = textsOf(html, name)
    expect(texts.length).toBeGreaterThan(0)
    for (const one of texts) expect(rulesOf(name)).toContain(` 'sha256-${createHash('sha256').update(one).digest('base64')}'`)
  }
  expect(policy).not.toContain('unsafe')
  expect(tagsOf(html).filter(tag => tag.includes('stylesheet') || /^<script.*\ssrc=/.test(tag))).toEqual([])
  const styles = textsOf(html, 'style')
    .join('')
    .replace(/@font-face\{.*?\}/gs, '')
  expect(gzipSync(styles, { level: 9 }).length).toBeLessThan(STYLES_BYTES)
  expect(gzipSync(textsOf(html, 'script').join(''), { level: 9 }).length).toBeLessThan(SCRIPT_BYTES)
})

test('the fonts are files of this origin that never change, and those of English and German are preloaded', async () => {
  const { html } = await site.get(PAGE)
  const preloads = tagsOf(html).filter(tag => tag.startsWith('<link') && tag.includes('rel="preload"'))
  expect(preloads.length).toBe(2)
  for (const tag of preloads) {
    const font = await site.get(/href="([^"]*)"/.exec(tag)?.[1] ?? '')
    expect(font.status).toBe(200)
    expect(font.headers).toMatchObject({ 'content-type': 'font/woff2', 'cache-control': 'public, max-age=31536000, immutable' })
    expect(font.bytes.length).toBeLessThan(FONT_BYTES)
  }
  const styles = textsOf(html, 'style').join('')
  expect(styles.match(/@font-face/g)?.length).toBeGreaterThan(2)
  expect(styles).not.toMatch(/url\((?:"|')?(?:https?:|\/\/|data:)/)
})

test('/favicon.ico is the icon, for programs that request it without reading a page', async () => {
  const { status, headers, bytes } = await site.get('/favicon.ico')
  expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=3600'])
  expect(headers['content-type']).toMatch(/^image\/(?:x-icon|vnd\.microsoft\.icon)$/)
  expect([...bytes.subarray(0, 4)]).toEqual([0, 0, 1, 0])
})

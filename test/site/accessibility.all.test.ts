import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ANSWERS, findFaultsOfPages, type Variant } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

const desk = { width: 1280, height: 800 }
const VARIANTS: [string, Variant][] = [
  ['at a desk', { viewport: desk, colorScheme: 'light' }],
  ['at 320 pixels', { viewport: { width: 320, height: 640 } }],
  ['in forced colors', { viewport: desk, forcedColors: 'active' }],
  ['from right to left', { viewport: desk, isRightToLeft: true }],
  [
    'from right to left on a phone, in the dark',
    { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isRightToLeft: true },
  ],
  ['in German, at 320 pixels', { viewport: { width: 320, height: 640 }, locale: 'de-DE' }],
  ['in German, in the dark', { viewport: desk, colorScheme: 'dark', locale: 'de-DE' }],
  ['without script', { viewport: { width: 360, height: 740 }, javaScriptEnabled: false }],
  [
    'with less motion and more contrast, in the dark',
    { viewport: desk, colorScheme: 'dark', reducedMotion: 'reduce', contrast: 'more' },
  ],
]

describe.skipIf(!hasBrowser)('what a page shows can be read, named and pressed', () => {
  let browser: Browser
  let site: Site

  beforeAll(async () => {
    site = await openSite(ANSWERS, { hosts: ['local', 'gh'] })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  test.each(VARIANTS)('%s', async (_, variant) => {
    expect(await findFaultsOfPages(browser, site, variant)).toEqual([])
  })
})

import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ANSWERS, findFaultsOfPages, type Look } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

const desk = { width: 1280, height: 800 }
const VISITS: [string, Look[], BrowserContextOptions?][] = [
  [
    'at a desk, in forced colors, with more contrast, on small windows, and from right to left',
    [
      { viewport: desk },
      { viewport: { width: 320, height: 640 } },
      { viewport: desk, forcedColors: 'active' },
      { viewport: desk, colorScheme: 'dark', reducedMotion: 'reduce', contrast: 'more' },
      { viewport: desk, isRightToLeft: true },
      { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isRightToLeft: true },
    ],
  ],
  [
    'in German, at 320 pixels and in the dark',
    [{ viewport: { width: 320, height: 640 } }, { viewport: desk, colorScheme: 'dark' }],
    { locale: 'de-DE' },
  ],
  ['without script', [{ viewport: { width: 360, height: 740 } }], { javaScriptEnabled: false }],
]

describe.skipIf(!hasBrowser)('the content of a page is readable, labelled and operable', () => {
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

  test.each(VISITS)('%s', async (_, looks, options) => {
    expect(await findFaultsOfPages(browser, site, looks, options)).toEqual([])
  })
})

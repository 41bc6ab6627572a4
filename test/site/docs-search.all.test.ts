import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { openSite, type Site } from './support/site.ts'

describe.skipIf(!hasBrowser)('the search of the documentation', () => {
  let site: Site
  let browser: Browser
  beforeAll(async () => {
    site = await openSite({}, { hosts: ['local', 'gh'] })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Opens a page and acts on it. Nothing may break its policy or leave the site. */
  async function visit(target: string, act: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
    const context = await browser.newContext(options)
    const faults: string[] = []
    try {
      const page = await context.newPage()
      page.on('console', message => message.type() === 'error' && faults.push(message.text()))
      page.on('pageerror', error => faults.push(error.message))
      page.on('request', request => !request.url().startsWith(`${site.origin}/`) && faults.push(request.url()))
      await page.goto(site.origin + target)
      await act(page)
    } finally {
      await context.close()
    }
    expect(faults).toEqual([])
  }

  test('finds pages by words of their texts, and leads by keys to a section', () =>
    visit('/docs', async page => {
      await page.keyboard.press('/')
      await page.keyboard.type('conditional writes')
      await page.locator('.docs-results mark').first().waitFor()
      expect(await page.locator('.docs-results').textContent()).toContain('Settings')
      await page.keyboard.press('Tab')
      await page.getByRole('link', { name: 'Buckets' }).click()
      await page.waitForURL('**/docs/settings#buckets')
    }))

  test('finds German pages for a German visitor, and keeps a chosen language', async () => {
    await visit(
      '/docs',
      async page => {
        await page.getByRole('searchbox').fill('bedingtes Schreiben')
        expect(await (await firstResult(page)).getAttribute('href')).toMatch(/^\/docs\/(?:settings|operating)/)
      },
      { locale: 'de-DE' },
    )
    await visit('/docs?lang=de', async page => {
      await page.getByRole('searchbox').fill('Manifest')
      expect(await (await firstResult(page)).getAttribute('href')).toMatch(/\?lang=de/)
    })
  })

  test('reports an empty result, and is cleared by Escape', () =>
    visit('/docs/limits', async page => {
      // Letters that no page has: Pagefind also takes words that a query begins with, such as the "x" of `chmod +x`.
      await page.getByRole('searchbox').fill('ξψζχ')
      await page.getByText('No page has these words.').waitFor()
      await page.getByRole('searchbox').press('Escape')
      await page.getByText('No page has these words.').waitFor({ state: 'detached' })
      expect(await page.getByRole('searchbox').inputValue()).toBe('')
    }))

  test('is not shown without script, and only its pages may run WebAssembly', async () => {
    await visit('/docs', async page => expect(await page.locator('docs-search search').isHidden()).toBe(true), {
      javaScriptEnabled: false,
    })
    const policyOf = async (path: string) => String((await site.get(path)).headers['content-security-policy'])
    expect(await policyOf('/docs/rest')).toContain("'wasm-unsafe-eval'")
    for (const path of ['/', '/nothing', '/open']) expect(await policyOf(path)).not.toContain('wasm')
  })
})

async function firstResult(page: Page) {
  const link = page.locator('.docs-results a').first()
  await link.waitFor()
  return link
}

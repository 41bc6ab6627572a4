import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browsePage, readyMount, skillPage } from './support/answers.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { attributesOf, textOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const PAGE = '/local/acme/tools'
const BROWSE = `${PAGE}?view=browse`
const SKILL = `${PAGE}?view=skill&path=skills/pdf/SKILL.md`

let site: Site
beforeAll(async () => {
  site = await openSite(
    { mounts: () => readyMount(), skills: () => skillPage(), browse: () => browsePage() },
    { hosts: ['local', 'gh'] },
  )
})
afterAll(() => site?.close())

test('the footer leads programs to one page, and has no other link for them', async () => {
  const { html } = await site.get(SKILL)
  const footer = html.slice(html.indexOf('<footer'), html.indexOf('</footer>'))
  expect(textOf(footer)).toMatch(/^Documentation For programs Security Version \S+ Deutsch Colors /)
  expect(attributesOf(footer, 'a', 'href')).toEqual([
    '/docs',
    '/docs/agents',
    '/docs/security',
    expect.stringContaining('lang=de'),
  ])
  const page = textOf((await site.get('/docs/agents')).html)
  expect(page).toContain('/api/v1/openapi.json')
  expect(page).toContain('?format=markdown')
})

test('the field that opens a repository has another sign than those that search', async () => {
  const signsOf = (html: string) =>
    Object.fromEntries(
      [...html.matchAll(/<(div class="header-field"|search class="find-form")>([\s\S]*?)<\/(?:div|search)>/g)].map(
        ([, name = '', field = '']) => [name.includes('header') ? 'header' : 'find', attributesOf(field, 'path', 'd')],
      ),
    )
  const { header, find } = signsOf((await site.get(SKILL)).html)
  expect(header).toHaveLength(1)
  expect(find).toHaveLength(1)
  expect(header).not.toEqual(find)
  expect(signsOf((await site.get('/docs')).html)['header']).toEqual(find)
})

describe.skipIf(!hasBrowser)('the frame of a page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  async function inContext(options: BrowserContextOptions, act: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(options)
    const errors: string[] = []
    try {
      const page = await context.newPage()
      page.on('console', message => message.type() === 'error' && errors.push(message.text()))
      page.on('pageerror', error => errors.push(error.message))
      await act(page)
    } finally {
      await context.close()
    }
    expect(errors).toEqual([])
  }

  const sizeOf = (page: Page, selector: string) => page.locator(selector).boundingBox()

  test.each([320, 390, 680, 768, 1280])('has a header of one row on a window of %i pixels', async width => {
    for (const [target, locale] of [
      [PAGE, 'de'],
      [SKILL, 'en'],
      ['/docs', 'de'],
      ['/', 'en'],
    ] as const) {
      await inContext({ viewport: { width, height: 800 }, locale }, async page => {
        await page.goto(site.origin + target)
        expect((await sizeOf(page, '.site-header'))?.height).toBe(53)
        expect((await sizeOf(page, '.brand'))?.height).toBe(44)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      })
    }
  })

  test('opens the field of a phone from a sign, without a script', () =>
    inContext({ viewport: { width: 360, height: 800 }, javaScriptEnabled: false }, async page => {
      await page.goto(site.origin + SKILL)
      const field = page.locator('#header-address')
      expect(await field.boundingBox()).toMatchObject({ width: 44, height: 44 })
      await field.click()
      expect((await field.boundingBox())?.width).toBeGreaterThan(200)
      await field.fill('local/acme/tools')
      await field.press('Enter')
      await page.waitForURL(`**${PAGE}`)
    }))

  const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const [LIGHT, DARK] = ['rgb(251, 248, 241)', 'rgb(22, 20, 15)']

  test('follows the colors of the system until others are chosen, and paints the next page in those at once', () =>
    inContext({ colorScheme: 'dark' }, async page => {
      await page.goto(site.origin + PAGE)
      expect(await ground(page)).toBe(DARK)
      await page.getByLabel('Colors').selectOption('light')
      expect(await ground(page)).toBe(LIGHT)
      // What the page looks like before its body is read: the script in the head has run.
      await page.addInitScript(`new MutationObserver((_, observer) => {
        if (!document.body) return
        window.first = getComputedStyle(document.documentElement).colorScheme
        observer.disconnect()
      }).observe(document, { childList: true, subtree: true })`)
      await page.goto(site.origin + SKILL)
      expect(await page.evaluate('window.first')).toBe('light')
      expect(await page.getByLabel('Colors').inputValue()).toBe('light')
      const other = await page.context().newPage()
      await other.goto(site.origin + PAGE)
      await other.getByLabel('Colors').selectOption('dark')
      await page.waitForFunction('document.querySelector("#page-scheme").value === "dark"')
      expect(await ground(page)).toBe(DARK)
      await page.getByLabel('Colors').selectOption('as the system')
      await page.emulateMedia({ colorScheme: 'light' })
      expect(await ground(page)).toBe(LIGHT)
    }))

  test('has the colors of the system without a script, and those that were chosen where nothing can be stored', async () => {
    await inContext({ colorScheme: 'dark', javaScriptEnabled: false }, async page => {
      await page.goto(site.origin + PAGE)
      expect(await ground(page)).toBe(DARK)
      expect(await page.getByLabel('Colors').isVisible()).toBe(false)
    })
    await inContext({}, async page => {
      await page.addInitScript('Object.defineProperty(window, "localStorage", { get() { throw new Error("closed") } })')
      await page.goto(site.origin + PAGE)
      await page.getByLabel('Colors').selectOption('dark')
      expect(await ground(page)).toBe(DARK)
    })
  })

  test('is not on paper, and neither is anything to press', () =>
    inContext({ colorScheme: 'dark' }, async page => {
      await page.goto(site.origin + SKILL)
      await page.getByLabel('Colors').selectOption('dark')
      await page.emulateMedia({ media: 'print' })
      expect(await ground(page)).toBe(LIGHT)
      expect(
        await page.evaluate(`[...document.querySelectorAll('header, footer, nav, button, input, select, summary, dialog')]
          .filter(element => element.checkVisibility()).map(element => element.outerHTML.slice(0, 80))`),
      ).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width)
    }))

  /** How far the page moves (CLS) while fonts that were late arrive, with this style before. */
  async function shiftOf(target: string, style = ''): Promise<number> {
    let shift = -1
    await inContext({ viewport: { width: 1000, height: 900 }, bypassCSP: true }, async page => {
      const { promise: shown, resolve: show } = Promise.withResolvers<void>()
      await page.route('**/*.woff2', async route => {
        await shown
        await route.continue()
      })
      await page.addInitScript(`window.shift = 0
        new PerformanceObserver(list => list.getEntries().forEach(({ value }) => { window.shift += value })).observe({ type: 'layout-shift', buffered: true })`)
      await page.goto(site.origin + target, { waitUntil: 'domcontentloaded' })
      if (style !== '') await page.addStyleTag({ content: style })
      const isPainted = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))'
      await page.evaluate(isPainted)
      show()
      await page.evaluate('document.fonts.ready')
      await page.evaluate(isPainted)
      expect(await page.evaluate('[...document.fonts].filter(({ status }) => status === "loaded").length')).toBeGreaterThan(1)
      shift = await page.evaluate<number>('window.shift')
    })
    return shift
  }

  test('does not move when fonts arrive late, nor when they were there before', async () => {
    for (const target of ['/', PAGE, BROWSE, '/docs']) expect(await shiftOf(target), target).toBe(0)
    await inContext({}, async page => {
      for (const target of [PAGE, BROWSE]) {
        await page.addInitScript(`window.shift = 0
          new PerformanceObserver(list => list.getEntries().forEach(({ value }) => { window.shift += value })).observe({ type: 'layout-shift', buffered: true })`)
        await page.goto(site.origin + target)
        await page.evaluate('document.fonts.ready')
        expect(await page.evaluate('window.shift')).toBe(0)
      }
    })
    // The measures of the fallback are why: those of another font move the page.
    expect(await shiftOf(PAGE, ':root { --mono: "IBM Plex Mono", serif !important }')).toBeGreaterThan(0)
  })
})

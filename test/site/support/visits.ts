import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Reference, serveReference } from '#test/support/reference.ts'
import { type Service, startService } from '#test/support/service.ts'
import { openBrowser } from './browser.ts'
import { ensureBuilt } from './built-site.ts'

const SKILL = 'reading/read-by-rest/SKILL.md'

async function waitUntilRendered(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Exact text' }).waitFor()
  await page.locator('.prose').first().waitFor()
}

const VARIANTS: readonly [string, BrowserContextOptions][] = [
  ['at a desk', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ['on a phone, in the dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
  ['without script', { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false }],
]

/**
 * What visitors do in a browser: from the first page to the last byte, over a real process.
 *
 * @param variants how many looks of the browser. Default: all
 */
export function visitsAt(segment: 'local' | 'gh', variants = VARIANTS.length): void {
  const handbook = `/${segment}/mountglass/handbook`
  let operator: string
  let reference: Reference | undefined
  let service: Service
  let browser: Browser

  beforeAll(async () => {
    await ensureBuilt()
    operator = await mkdtemp(join(tmpdir(), 'mountglass-operator-'))
    await writeFile(join(operator, 'featured.yaml'), `- address: ${handbook}\n`)
    reference = segment === 'gh' ? await serveReference() : undefined
    const settings = reference?.settings ?? { MOUNTGLASS_GITHUB: 'off' }
    service = await startService({ ...settings, MOUNTGLASS_OPERATOR: operator })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await reference?.close()
    await rm(operator, { recursive: true, force: true })
  })

  test.each(VARIANTS.slice(0, variants))(
    '%s a visitor clicks from the front page to the end of a skill',
    async (_name, options) => {
      const watched = await openWatched(browser, options)
      const { page } = watched
      await page.goto(service.baseUrl)
      await expectFits(page)

      await page
        .locator('.repositories')
        .getByRole('link', { name: handbook.slice(1) })
        .click()
      // The first visitor of all sees the repository being indexed; the page looks again by itself.
      await page.getByRole('heading', { name: 'Mountglass Handbook', level: 2 }).waitFor()
      await expectFits(page)

      await page.getByRole('link', { name: 'read-by-rest', exact: true }).click()
      await page.getByRole('heading', { name: 'read-by-rest', exact: true }).waitFor()
      await waitUntilRendered(page)
      await expectFits(page)
      await page.getByRole('link', { name: 'Exact text' }).click()
      await page.locator('pre.exact').first().waitFor()
      await expectFits(page)
      // A person has all pages of the interface at once.
      expect((await exactTexts(page)).join('')).toBe((await joinedSkill(service, handbook)).join(''))

      await watched.close(service.baseUrl)
    },
  )

  test('the address field, the folders, the search and a file are reached by hand', async () => {
    const watched = await openWatched(browser, { viewport: { width: 360, height: 740 } })
    const { page } = watched
    await page.goto(service.baseUrl)
    await page.getByLabel('A repository, or words to search for').fill(`${handbook}@v1/reading`)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /handbook@v1\/reading/ }).waitFor()

    await page.goto(`${service.baseUrl}${handbook}`)
    await page.getByRole('link', { name: 'Browse', exact: true }).click()
    await page.getByRole('link', { name: 'docs/' }).click()
    await page.getByRole('link', { name: 'limits.md' }).click()
    await waitUntilRendered(page)
    await page.getByRole('link', { name: 'Exact text' }).click()
    await expectFits(page)
    expect((await exactTexts(page)).join('')).toBe((await service.get('files', handbook, { path: 'docs/limits.md' })).content)

    await page.getByRole('searchbox').fill('hidden text')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'find-hidden-text', exact: true }).first().waitFor()
    await expectFits(page)
    await watched.close(service.baseUrl)
  })

  test('the keyboard alone leads from the front page to the exact text of a skill', async () => {
    const watched = await openWatched(browser, { viewport: { width: 1280, height: 900 } })
    const { page } = watched
    await page.goto(service.baseUrl)
    await page.keyboard.press('/')
    await page.keyboard.type(handbook.slice(1))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mountglass Handbook', level: 2 }).waitFor()
    for (const name of ['read-by-rest', 'Exact text']) {
      await tabTo(page, name)
      await page.keyboard.press('Enter')
      await page.waitForLoadState()
    }
    await page.locator('pre.exact').first().waitFor()
    await watched.close(service.baseUrl)
  })

  test('the first stop of the keyboard leads past the header', async () => {
    const watched = await openWatched(browser, { viewport: { width: 1280, height: 900 } })
    const { page } = watched
    await page.goto(`${service.baseUrl}${handbook}`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('#main:focus').waitFor()
    await watched.close(service.baseUrl)
  })
}

/** A page whose errors and requests are written down until it is closed. */
async function openWatched(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const errors: string[] = []
  const requested: string[] = []
  // The stand-in of the host has accounts without pictures.
  const isIcon = (url: string) => new URL(url).pathname.startsWith('/icon/')
  page.on('console', message => {
    const { url } = message.location()
    if (message.type() === 'error' && !(url !== '' && isIcon(url))) errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(error.message))
  page.on('request', request => requested.push(request.url()))
  return {
    page,
    async close(origin: string) {
      await context.close()
      expect(errors).toEqual([])
      expect(requested.length).toBeGreaterThan(1)
      expect(requested.filter(url => !url.startsWith(`${origin}/`))).toEqual([])
    },
  }
}

/** Presses Tab until the link of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).first().waitFor()
  for (let stops = 0; stops < 200; stops++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate<string>('document.activeElement.textContent')).trim() === name) return
  }
  throw new Error(`the keyboard does not reach ${name}`)
}

/** Nothing of the whole page is wider than the window: a click waits only until its page begins, which has no element yet. */
async function expectFits(page: Page): Promise<void> {
  await page.waitForLoadState()
  const [content, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [number, number]
  expect(content, page.url()).toBeLessThanOrEqual(window)
}

/** What is sent, of the whole page: a click waits only until its page begins. */
async function exactTexts(page: Page): Promise<string[]> {
  await page.waitForLoadState()
  return page.locator('pre.exact:not(.unsent pre)').evaluateAll(blocks => blocks.map(block => block.textContent))
}

/** What an agent receives over all pages of the skill, in order. */
async function joinedSkill(service: Service, handbook: string): Promise<string[]> {
  const texts: string[] = []
  let cursor: string | undefined
  do {
    const answer = await service.get('skills', handbook, { path: SKILL, ...(cursor === undefined ? {} : { cursor }) })
    if (answer.status !== 'ready') throw new Error(answer.status)
    const { skill } = answer
    const parts = [
      ...(skill.ruleChain ?? []).map(part => part.content),
      skill.body,
      ...(skill.includes ?? []).map(part => part.content),
    ]
    texts.push(...parts)
    cursor = answer.nextCursor ?? undefined
  } while (cursor !== undefined)
  return texts
}

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ensureBuilt } from './support/built-site.ts'

const SKILL = '---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\n---\n\nFill it.\n'
const OPENED = '/local/acme/open'

describe.runIf(hasBrowser)('the front page in a browser', () => {
  let repositories: TestRepositories
  let service: Service
  let browser: Browser
  beforeAll(async () => {
    await ensureBuilt()
    repositories = await createRepositories()
    await (await repositories.create('acme', 'open')).commit({ 'pdf/SKILL.md': SKILL })
    const secret = await repositories.create('acme', 'very-secret')
    await secret.commit({ 'pdf/SKILL.md': SKILL })
    await writeFile(join(secret.gitDir, 'mountglass-private'), '')
    service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
    await service.get('browse', OPENED)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await repositories?.remove()
  })

  async function visit(context: BrowserContext, ...paths: string[]): Promise<Page> {
    const page = await context.newPage()
    for (const path of paths) await page.goto(`${service.baseUrl}${path}`, { waitUntil: 'load' })
    return page
  }
  const recentOn = (page: Page) => page.locator('.recent li a').evaluateAll(links => links.map(link => link.getAttribute('href')))

  test('lists what was opened, nothing of a private repository, and nothing once it is cleared', async () => {
    const context = await browser.newContext()
    const page = await visit(context, '/', '/local/acme/very-secret', OPENED, '/')
    expect(await recentOn(page)).toEqual([OPENED])
    await page.locator('.recent button').click()
    expect(await page.locator('.recent').isVisible()).toBe(false)
    await page.reload()
    expect(await recentOn(page)).toEqual([])
    await context.close()
  })

  test('works where nothing can be stored, and without script', async () => {
    const without = await browser.newContext()
    await without.addInitScript(() =>
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('no storage')
        },
      }),
    )
    const scriptless = await browser.newContext({ javaScriptEnabled: false })
    for (const context of [without, scriptless]) {
      const page = await visit(context, OPENED, '/')
      expect(await page.locator('.recent').isVisible()).toBe(false)
      await page.locator('#address').fill('acme/open')
      await page.locator('main button[type=submit]').first().click()
      await page.waitForURL(`${service.baseUrl}${OPENED}`)
      await context.close()
    }
  })

  test.each(['/', `${OPENED}?view=skill&path=pdf/SKILL.md`])('nothing moves on %s', async path => {
    for (const width of [320, 1280]) {
      const context = await browser.newContext({ viewport: { width, height: 800 } })
      await visit(context, OPENED)
      await context.addInitScript(() => {
        Reflect.set(globalThis, 'moved', 0)
        new PerformanceObserver(list => {
          for (const entry of list.getEntries())
            Reflect.set(globalThis, 'moved', Reflect.get(globalThis, 'moved') + Reflect.get(entry, 'value'))
        }).observe({ type: 'layout-shift', buffered: true })
      })
      const page = await visit(context, path)
      await page.evaluate(() => document.fonts.ready)
      expect([width, await page.evaluate(() => Reflect.get(globalThis, 'moved'))]).toEqual([width, 0])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      await context.close()
    }
  })
})

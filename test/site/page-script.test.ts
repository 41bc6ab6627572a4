import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMIT, filePage, findPage, readyMount, skillPage } from './support/answers.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { openSite, type Site } from './support/site.ts'

const PAGE = '/local/acme/tools'

describe.skipIf(!hasBrowser)('the script of a page', () => {
  let site: Site
  let browser: Browser
  let isReady = true
  let indexing: { stage: 'content' | 'write'; progress?: { done: number; total: number } } | undefined

  beforeAll(async () => {
    const license = { kind: 'open', name: 'MIT', source: null } as const
    const found = (name: string) => ({
      kind: 'skill' as const,
      path: `${name}/SKILL.md`,
      directory: name,
      name,
      description: '',
      translations: {},
      license,
      files: [],
      moreFiles: 0,
    })
    site = await openSite({
      mounts: () => (isReady ? readyMount() : readyMount({}, { index: { status: 'indexing', ...indexing } })),
      skills: () => skillPage(),
      find: () => findPage({ items: [found('one'), found('two')] }),
      files: () => filePage({ path: 'a.ts', content: 'const a = 1\n'.repeat(20) }),
    })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  async function visit(target: string, act: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const errors: string[] = []
    try {
      const page = await context.newPage()
      page.on('console', message => message.type() === 'error' && errors.push(message.text()))
      page.on('pageerror', error => errors.push(error.message))
      await page.goto(site.origin + target)
      await act(page)
    } finally {
      await context.close()
    }
    expect(errors).toEqual([])
  }

  test('copies paths and pinned links, and confirms it', () =>
    visit(`${PAGE}?view=skill&path=skills/pdf/SKILL.md`, async page => {
      await page.getByRole('button', { name: 'Copy the path' }).click()
      await page.getByText('Copied.').waitFor({ state: 'attached' })
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('skills/pdf/SKILL.md')
      await page.getByRole('button', { name: 'Copy the pinned link' }).click()
      const pinned = `${PAGE}@${COMMIT}?view=skill&path=skills%2Fpdf%2FSKILL.md`
      await page.waitForFunction(`navigator.clipboard.readText().then(text => text.endsWith('${pinned}'))`)
    }))

  test('leads by keys from the field to a result', () =>
    visit(`${PAGE}?view=find&query=x`, async page => {
      await page.keyboard.press('/')
      expect(await page.evaluate('document.activeElement.id')).toBe('find-query')
      await page.keyboard.press('/')
      expect(await page.getByRole('searchbox').inputValue()).toContain('/')
      await page.keyboard.press('Tab')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('two')
      await page.keyboard.press('Enter')
      await page.waitForURL(/path=two\/SKILL\.md/)
    }))

  test('has no one-character shortcut once they are switched off, on the next page too', () =>
    visit(`${PAGE}?view=find&query=x`, async page => {
      await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
      await page.goto(`${site.origin}${PAGE}?view=find&query=x`)
      expect(await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).isChecked()).toBe(false)
      const before = page.url()
      await page.keyboard.press('/')
      await page.keyboard.press('y')
      expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
      expect(page.url()).toBe(before)
      await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).check()
      await page.keyboard.press('Escape')
      await page.locator('main').focus()
      await page.keyboard.press('/')
      expect(await page.evaluate('document.activeElement.id')).toBe('find-query')
    }))

  test('keeps a range of lines in the URL, and opens the permanent link by a key', () =>
    visit(`${PAGE}?view=file&path=a.ts#L3`, async page => {
      await page.locator('#L5 > a').click({ modifiers: ['Shift'] })
      await page.waitForURL(/#L3-L5$/)
      await page.waitForFunction('document.querySelectorAll(".line.marked").length === 3')
      await page.keyboard.press('y')
      await page.waitForURL(new RegExp(`@${COMMIT}.*#L3-L5$`))
    }))

  test('waits for an index without reloading the page', async () => {
    isReady = false
    await visit(PAGE, async page => {
      await page.getByText('This commit is being indexed').waitFor()
      isReady = true
      await page.getByRole('heading', { name: 'Tools' }).waitFor()
      expect(page.url()).toBe(site.origin + PAGE)
    })
  })

  test('shows the stage of the job while the page waits', async () => {
    isReady = false
    indexing = { stage: 'content', progress: { done: 1_200, total: 15_000 } }
    await visit(PAGE, async page => {
      const current = page.locator('.stages [aria-current=step]')
      await current.filter({ hasText: '1,200 of 15,000 files' }).waitFor()
      await page.evaluate('document.title = "not replaced"')
      indexing = { stage: 'content', progress: { done: 9_000, total: 15_000 } }
      await current.locator('.count', { hasText: '9,000 of 15,000 files' }).waitFor()
      indexing = { stage: 'write' }
      await current.filter({ hasText: 'Writing' }).waitFor()
      expect(await current.count()).toBe(1)
      expect(await page.locator('.stages .done').last().textContent()).toBe('Reading skills and documents')
      expect(await page.title()).toBe('not replaced')
    })
  })
})

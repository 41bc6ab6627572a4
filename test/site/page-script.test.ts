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
      await page.getByRole('button', { name: 'Copy permalink' }).click()
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

  test('lists the keys, and has none of one character once they are switched off, on the next page too', () =>
    visit(`${PAGE}?view=find&query=x`, async page => {
      await page.keyboard.press('?')
      const list = page.getByRole('dialog', { name: 'Keys' })
      expect(await list.locator('kbd').allTextContents()).toEqual(['/', 'n', 'p', 'y', '?'])
      const before = page.url()
      await page.keyboard.press('y')
      await page.getByRole('checkbox', { name: 'Use these keys' }).uncheck()
      await page.keyboard.press('Escape')
      await list.waitFor({ state: 'hidden' })
      await page.goto(before)
      for (const key of ['/', 'y', 'n', '?']) await page.keyboard.press(key)
      expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
      expect(await page.locator('dialog[open]').count()).toBe(0)
      expect(page.url()).toBe(before)
      await page.getByRole('button', { name: 'Keys' }).click()
      await page.getByRole('checkbox', { name: 'Use these keys' }).check()
      await page.getByRole('button', { name: 'Close' }).click()
      await page.locator('main').focus()
      await page.keyboard.press('/')
      expect(await page.evaluate('document.activeElement.id')).toBe('find-query')
    }))

  test('goes to the next and the previous stop, with the focus', () =>
    visit(`${PAGE}?view=file&path=a.ts`, async page => {
      await page.evaluate(`for (const id of ['L2', 'L9', 'L17']) document.getElementById(id).dataset.stop = ''
        document.getElementById('L9').hidden = true
        document.querySelector('main').style.paddingBottom = '200vh'`)
      const press = async (key: string) => {
        await page.keyboard.press(key)
        return page.evaluate<[id: string, top: number]>(
          '[document.activeElement.id, Math.round(document.activeElement.getBoundingClientRect().top)]',
        )
      }
      expect(await press('n')).toEqual(['L2', 16])
      expect(await press('n')).toEqual(['L17', 16])
      expect(await press('n')).toEqual(['L17', 16])
      expect(await press('p')).toEqual(['L2', 16])
      expect((await press('p'))[0]).toBe('L2')
      await page.evaluate(
        'document.activeElement.blur(); scrollTo(0, document.getElementById("L9").parentElement.offsetTop + 150)',
      )
      expect((await press('p'))[0]).toBe('L2')
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.parentElement.id')).toBe('L2')
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

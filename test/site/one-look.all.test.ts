import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ensureBuilt } from './support/built-site.ts'

const KIT = '/local/acme/kit'
/** Pages whose content begins with the name of what they show. */
const VIEWS = ['browse', 'changes', 'find&query=kit', 'findings', 'refs', 'file&path=LICENSE', 'skill&path=kit-1/SKILL.md']
const PAGES = ['/', '/docs', '/open?address=kit', KIT, ...VIEWS.map(view => `${KIT}?view=${view}`)]
/** A field of two parts has its frame around both. */
const FIELDS = 'select, input:not([type="hidden"], [type="radio"], [type="checkbox"], .field input)'

const skill = (name: string) =>
  `---\nname: ${name}\nlicense: MIT\ndescription: Use when a kit is packed${'; and when it is not'.repeat(12)}.\n---\n\n# ${name}\n\nPack.\u202e\n`

describe.skipIf(!hasBrowser)('the parts of pages', () => {
  let repositories: TestRepositories
  let service: Service
  let browser: Browser

  beforeAll(async () => {
    await ensureBuilt()
    repositories = await createRepositories()
    const kit = await repositories.create('acme', 'kit')
    const skills = Array.from({ length: 60 }, (_, index) => [`kit-${index}/SKILL.md`, skill(`kit-${index}`)])
    await kit.tag('v1', await kit.commit({ LICENSE: 'No license.\n', 'e/SKILL.md': skill('e'), ...Object.fromEntries(skills) }))
    await kit.commit({ 'kit-1/SKILL.md': skill('kit-1').replace('packed', 'packed or sent') })
    service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
    await service.get('mounts', `${KIT}@v1`)
    await service.get('mounts', KIT)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await repositories?.remove()
  })

  /** What is asked of each page, without what is the same. */
  async function ofPages(pages: readonly string[], width: number, ask: (page: Page) => Promise<string[]>): Promise<string[]> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, locale: 'de-DE' })
    try {
      const page = await context.newPage()
      const told = new Set<string>()
      for (const path of pages) {
        await page.goto(service.baseUrl + path)
        await page.evaluate('document.fonts.ready.then(() => 0)')
        for (const one of await ask(page)) told.add(one)
      }
      return [...told]
    } finally {
      await context.close()
    }
  }

  const stylesOf = (page: Page, selector: string, names: string[]) =>
    page
      .locator(selector)
      .filter({ visible: true })
      .evaluateAll(
        (all, names) => all.map(one => names.map(name => getComputedStyle(one).getPropertyValue(name)).join(' ')),
        names,
      )

  test('fields and menus have one frame and one height', async () => {
    const names = ['height', 'border', 'border-radius', 'background-color']
    expect(await ofPages(PAGES, 1280, page => stylesOf(page, FIELDS, names))).toHaveLength(1)
  })

  test('buttons that are words in a frame have one height and one weight', async () => {
    const names = ['height', 'border', 'border-radius', 'background-color', 'font-weight']
    const buttons = await ofPages(PAGES, 1280, page =>
      stylesOf(page, '.pager a, main form:not(.address-field *, .ref-form) button', names),
    )
    expect(buttons).toHaveLength(1)
  })

  test('headings of views begin at one distance below the tabs, in one size', async () => {
    const views = VIEWS.map(view => `${KIT}?view=${view}`)
    const tops = await ofPages(views, 1280, async page => [
      await page.evaluate(() => {
        const bottomOf = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().bottom ?? 0
        const heading = document.querySelector('main h2')
        const top = heading?.getBoundingClientRect().top ?? 0
        return `${Math.round(top - bottomOf('.tabs-bar'))} ${heading && getComputedStyle(heading).fontSize}`
      }),
    ])
    expect(tops).toHaveLength(1)
  })

  test.each([320, 390])('the current tab is whole in a window of %i pixels, and not where tabs fade', async width => {
    const hidden = await ofPages(PAGES.slice(3), width, page =>
      page.evaluate(() => {
        const [tabs, current] = [document.querySelector('.tabs'), document.querySelector('.tabs [aria-current]')]
        if (!tabs || !current) return []
        const [frame, tab] = [tabs.getBoundingClientRect(), current.getBoundingClientRect()]
        const fade = (edge: string) => (tabs.classList.contains(edge) ? 40 : 0)
        const isWhole = tab.left >= frame.left + fade('more-before') && Math.floor(tab.right) <= frame.right - fade('more-after')
        return isWhole ? [] : [`${current.textContent} ${tab.left} ${tab.right} of ${frame.left} ${frame.right}`]
      }),
    )
    expect(hidden).toEqual([])
  })
  test('paper has whole sentences', async () => {
    const cut = await ofPages([KIT, `${KIT}?view=find&query=kit`], 1280, async page => {
      await page.emulateMedia({ media: 'print' })
      return page
        .locator('main :is(p, span, div)')
        .evaluateAll(all =>
          all.flatMap(one =>
            one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === 'hidden' && one.clientWidth > 1
              ? [one.outerHTML]
              : [],
          ),
        )
    })
    expect(cut).toEqual([])
  })

  test('words that are new are marked where browsers replace colors', async () => {
    const styles = await ofPages([`${KIT}?view=changes`], 1280, async page => {
      await page.emulateMedia({ forcedColors: 'active' })
      return [
        ...(await stylesOf(page, '.both ins', ['background-color'])),
        ...(await stylesOf(page, 'body', ['background-color'])),
      ]
    })
    expect(styles).toHaveLength(2)
  })
  test('the word of a level has one look in all views', async () => {
    const looks = await ofPages(
      [`${KIT}?view=findings`, `${KIT}?view=findings&by=skill`, `${KIT}?view=skill&path=kit-1/SKILL.md`],
      1280,
      page => stylesOf(page, 'span.level-look, h3.level-look', ['color', 'font-weight']),
    )
    expect(looks).toHaveLength(1)
  })
  test('a row of a folder is one line in a window of 390 pixels, where it has no sentence', async () => {
    const heights = await ofPages([`${KIT}?view=browse`], 390, page =>
      page.locator('.entries > li:not(:has(.entry-about > *))').evaluateAll(rows =>
        rows.map(row => {
          const [name, facts] = [row.querySelector('.entry-name'), row.querySelector('.entry-facts')].map(part =>
            part?.getBoundingClientRect(),
          )
          return name && facts && facts.top < name.bottom ? 'one line' : row.outerHTML
        }),
      ),
    )
    expect(heights).toEqual(['one line'])
  })

  test('words on buttons of texts stay whole words in a window of 320 pixels', async () => {
    const narrow = await ofPages([`${KIT}?view=file&path=kit-1/SKILL.md`, `${KIT}?view=skill&path=kit-1/SKILL.md`], 320, page =>
      page
        .locator('.toolbar .copy')
        .evaluateAll(all => all.map(one => (one.getBoundingClientRect().height <= 44 ? 'whole' : one.outerHTML))),
    )
    expect(narrow).toEqual(['whole'])
  })
  test('names of one letter are as easy to press as others', async () => {
    const sizes = await ofPages([`${KIT}?view=findings`, `${KIT}?view=findings&by=skill`], 390, page =>
      page
        .locator('.findings :is(ul, h3) a')
        .filter({ hasText: /^e$/, visible: true })
        .evaluateAll(all => all.map(one => (one.getBoundingClientRect().width >= 24 ? 'wide' : one.outerHTML))),
    )
    expect(sizes).toEqual(['wide'])
  })
  test('what can be done stands apart from what failed', async () => {
    const gaps = await ofPages([KIT, '/'], 1280, page =>
      page.evaluate(() => {
        document
          .querySelector('main')
          ?.insertAdjacentHTML('beforeend', '<p class="notice">It failed.</p><section>Do this.</section>')
        const [notice, next] = [...document.querySelectorAll('main > :nth-last-child(-n + 2)')].map(part =>
          part.getBoundingClientRect(),
        )
        return notice && next ? [`${next.top - notice.bottom} pixels`] : []
      }),
    )
    expect(gaps).toEqual(['24 pixels'])
  })

  test('links and words of a row of repositories stand on one line', async () => {
    const heights = await ofPages(['/'], 1280, page =>
      page.locator('.row-facts:has(a)').evaluateAll(rows => {
        const range = document.createRange()
        const topOf = (words: Node) => {
          range.selectNodeContents(words)
          return Math.round(range.getBoundingClientRect().top)
        }
        return rows.flatMap(row => {
          const facts = [...row.querySelectorAll(':scope > span, :scope > a, :scope > :not(.row-license) > a, time')]
          const words = facts.flatMap(fact =>
            [...fact.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim()),
          )
          return words.map(one => `${topOf(one) - topOf(words[0] ?? one)} pixels`)
        })
      }),
    )
    expect(heights).toEqual(['0 pixels'])
  })
})

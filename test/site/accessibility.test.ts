import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFaults, thinOut } from './support/accessibility.js'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ANSWERS, findFaultsOfPages, type Look, runAxe } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

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

  test('on a phone, in the dark', async () => {
    const look: Look = { viewport: { width: 360, height: 800 }, colorScheme: 'dark' }
    // The reference of the REST API repeats a few elements hundreds of times, which takes axe a third of the time of all pages: accessibility.all.test.ts.
    const isForAxe = (target: string) => target !== '/docs/rest'
    expect(await findFaultsOfPages(browser, site, [look], {}, isForAxe)).toEqual([])
  })

  test('of repeated elements a few are checked, and every rare one', async () => {
    const row = (cell: string) => `<tr><th>${cell}</th><td><a href=/>x</a></td></tr>`
    const plain = Array.from({ length: 9 }, () => row('plain')).join('')
    const page = await browser.newPage()
    await page.setContent(
      `<main><table>${plain}${row('<em>rare</em>')}${plain}${row('<b class=odd>odd</b>')}${plain}</table></main>`,
    )
    await page.evaluate(thinOut)
    const cells = await page.evaluate<string[]>("[...document.querySelectorAll('th')].map(cell => cell.textContent)")
    await page.close()
    expect(cells).toEqual(['plain', 'plain', 'plain', 'rare', 'odd'])
  })

  test('and faults are detected', async () => {
    const html = `<!doctype html><title> </title><body style="margin:0"><h1>A</h1><h3>B</h3><main><div id=a></div><div id=a></div>
      <a href="#gone"></a><img src=x><p style="color:#999">grey</p><button style="width:20px;height:20px;padding:0">x</button>
      <ul><p>no item</p></ul><label for=gone>L</label><input placeholder=p><p style="width:3000px">wide</p></main>`
    const page = await browser.newPage({ viewport: { width: 500, height: 800 } })
    await page.setContent(html)
    const faults = [...(await page.evaluate(findFaults)), ...(await runAxe(page))]
    await page.close()
    for (const words of [
      'no language',
      'no title',
      '0 of header',
      'level 1',
      'more than items',
      'has no name',
      'no alternative text',
      'the id a is there twice',
      'for leads nowhere',
      'leads nowhere',
      'is 20 by 20 pixels',
      'wider than its window',
      'a contrast of 2.85',
      'image-alt: <img',
    ]) {
      expect(faults.join('\n')).toContain(words)
    }
  })
})

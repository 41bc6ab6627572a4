import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { skillTextOf } from '#api/mcp/sent-text.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ensureBuilt } from './support/built-site.ts'

/* The page of a skill over a real index: what is copied from it, where its text begins on a phone, and where the key End leads. */

const HIDDEN = 'A\u202eB\u200bC\ufeffD\u00adE\u2066F\u2069G\u202cH\u200d\n'
const LONG = Array.from({ length: 2_500 }, (_, line) => `${line}. line with 漢字 and 🎻\n`).join('')
const BLOCKS = Array.from({ length: 900 }, (_, n) =>
  n % 9 === 0 ? `## Part ${n}\n` : `Paragraph ${n}. ${'Words. '.repeat(n % 7)}\n`,
).join('\n')
const DESCRIPTION = 'Use when everything else was tried and a very long description is needed. '.repeat(13).slice(0, 1_024)
const TOOLS = 'allowed-tools: Bash(npx skills add *), Bash(git commit *), Read, Grep, Write, WebFetch(domain:docs.example)\n'

const FILES = {
  'acme/tools': {
    LICENSE: MIT,
    'SKILLSET.md': '---\nname: Tools\n---\nRule.\n',
    'skills/hidden/SKILL.md': skillText('hidden', HIDDEN),
    'skills/long/SKILL.md': skillText('long', LONG, 'include: extra.md\n'),
    'skills/long/extra.md': 'Extra\r\nwith \ufeff mark.\n',
    'skills/blocks/SKILL.md': skillText('blocks', BLOCKS),
    'skills/closed/SKILL.md': skillText('closed', 'Secret.\n', 'license: Proprietary\n'),
  },
  'acme/plain': {
    LICENSE: MIT,
    'described/SKILL.md': `---\nname: described\ndescription: ${DESCRIPTION}\n${TOOLS}---\n# Text\n\nnpx some-tool and https://a.example https://b.example\n`,
    'none/SKILL.md': '---\nname: none\n---\n# Text\n\nWords.\n',
    'emoji/SKILL.md': '---\nname: emoji\ndescription: 🎻🎻🎻\n---\n# Text\n',
    'findings/SKILL.md': `---\nname: Not Right\ndescription: x\n---\n# Text\u202e\n\n<!-- a -->\n\n[a](gone.md) [b](away.md) [c](lost.md)\n`,
  },
} as const

let app: TestApp
let origin: string
let browser: Browser | undefined
beforeAll(async () => {
  await ensureBuilt()
  app = await testApp(FILES, {
    site: async pages => {
      const client = createApiClient(injectTransport(pages))
      const skillText = skillTextOf(TOOL_BYTES.default)
      await pages.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local'], skillText, rendering: PATIENT_RENDERING })
    },
  })
  for (const name of Object.keys(FILES)) await app.open(`/local/${name}`)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}`
  if (hasBrowser) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await app.close()
})

const pageOf = (skill: string, repository = 'acme/tools') => `/local/${repository}?view=skill&path=${skill}/SKILL.md`

/** All that the tool sends of a skill, page by page. */
async function loadedByTool(path: string): Promise<string[]> {
  const texts: string[] = []
  let cursor: string | null | undefined
  do {
    const params = { name: 'load_skill', arguments: { path, ...(cursor ? { cursor } : {}) } }
    const answer = await app.app.inject({
      method: 'POST',
      url: '/mcp/local/acme/tools',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    })
    const message = JSON.parse(/\{.*\}/s.exec(answer.body)?.[0] ?? '{}')
    texts.push(message.result.content[0].text)
    cursor = message.result.structuredContent.nextCursor
  } while (cursor)
  return texts
}

test('a skill is copied byte for byte as load_skill sends it, all pages', async () => {
  for (const [name, pages] of [
    ['skills/hidden', 1],
    ['skills/long', 5],
  ] as const) {
    const texts = await loadedByTool(`${name}/SKILL.md`)
    expect(texts.length).toBeGreaterThanOrEqual(pages)
    const { headers, rawPayload } = await app.app.inject({ url: `${pageOf(name)}&format=sent` })
    expect(rawPayload.equals(Buffer.from(texts.join('\n')))).toBe(true)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  }
})

test('a part is copied as it is sent, and what is only described or not there is not', async () => {
  const part = async (skill: string, at: number) => await app.app.inject({ url: `${pageOf(skill)}&format=sent&part=${at}` })
  expect((await part('skills/long', 2)).statusCode).toBe(404)
  expect((await app.app.inject({ url: `${pageOf('skills/long')}&page=all&format=sent&part=2` })).body).toBe(
    'Extra\r\nwith \ufeff mark.\n',
  )
  expect((await part('skills/hidden', 1)).body).toBe(HIDDEN)
  const { headers } = await part('skills/hidden', 1)
  expect(decodeURIComponent(String(headers['x-copied']))).toMatch(/^Copied, with \d hidden characters\.$/)
  for (const url of [
    `${pageOf('skills/closed')}&format=sent`,
    `${pageOf('skills/gone')}&format=sent`,
    `${pageOf('skills/closed')}&format=sent&part=0`,
  ]) {
    const { statusCode, body } = await app.app.inject({ url })
    expect([statusCode, body]).toEqual([404, 'skill.not_found\n'])
  }
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  const visit = async (target: string) => {
    const context = await (browser as Browser).newContext({
      viewport: { width: 390, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const page = await context.newPage()
    await page.goto(origin + target)
    return page
  }

  test('the clipboard holds the bytes, and the page says how many of its characters are hidden', async () => {
    const page = await visit(`${pageOf('skills/hidden')}&look=exact`)
    const copied = async (name: RegExp) => {
      await page.getByRole('button', { name }).last().click()
      await page.waitForFunction(() => document.getElementById('page-status')?.textContent !== '')
      const said = await page.locator('#page-status').textContent()
      await page.evaluate(() => document.getElementById('page-status')?.replaceChildren())
      return [await page.evaluate(() => navigator.clipboard.readText()), said]
    }
    const count = /\d+/.exec((await page.locator('button.copy[data-said]').first().getAttribute('data-said')) ?? '')?.[0]
    expect(Number(count)).toBeGreaterThan(5)
    expect(await copied(/this text as it is sent/)).toEqual([HIDDEN, `Copied, with ${count} hidden characters.`])
    expect(await copied(/as sent$/)).toEqual([
      (await loadedByTool('skills/hidden/SKILL.md')).join('\n'),
      `Copied, with ${count} hidden characters.`,
    ])
    await page.context().close()
  })

  test('the text of a skill begins on the first screen of a phone, whatever its description, tools and findings', async () => {
    const skills = [
      ...['skills/hidden', 'skills/long', 'skills/blocks'].map(name => pageOf(name)),
      ...['described', 'none', 'emoji', 'findings'].map(name => pageOf(name, 'acme/plain')),
    ]
    for (const target of skills) {
      const page = await visit(target)
      const [top, width] = await page.evaluate(() => [
        document.querySelector('.fragment .prose')?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY,
        document.documentElement.scrollWidth,
      ])
      expect([target, Number(top) <= 480 ? 'in time' : top, width]).toEqual([target, 'in time', 390])
      await page.context().close()
    }
  })

  test('nothing scrolls sideways on the narrowest phone, in German', async () => {
    for (const target of [
      `${pageOf('skills/hidden')}&look=exact`,
      pageOf('described', 'acme/plain'),
      '/local/acme/tools?view=file&path=LICENSE',
    ]) {
      const page = await visit(`${target}&lang=de`)
      await page.setViewportSize({ width: 320, height: 700 })
      expect([target, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([target, 320])
      await page.context().close()
    }
  })

  test('the key End leads to the end of a text of very many blocks, and it stays there', async () => {
    const page = await visit(`/local/acme/tools?view=file&path=skills/blocks/SKILL.md`)
    expect(await page.locator('.run').count()).toBeGreaterThan(10)
    await page.keyboard.press('End')
    const distance = () => document.documentElement.scrollHeight - innerHeight - Math.round(scrollY)
    await page.waitForFunction(() => document.documentElement.scrollHeight - innerHeight - scrollY <= 2, undefined, {
      timeout: 30_000,
    })
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(Math.abs(await page.evaluate(distance))).toBeLessThanOrEqual(2)
    await page.context().close()
  })

  test('a text of fewer blocks is laid out at once', async () => {
    const page = await visit(pageOf('skills/hidden'))
    expect(await page.locator('.run').count()).toBe(0)
    await page.context().close()
  })
})

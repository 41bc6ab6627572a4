import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findFaults } from './support/accessibility.js'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { runAxe } from './support/page-states.ts'
import { openPeopleSite, type PeopleSite } from './support/people-site.ts'

const CLOSED = '/gh/acme/closed'
const run = promisify(execFile)

/** A page of another origin, and what it was asked for. */
interface Elsewhere {
  server: Server
  origin: string
  asked: string[]
  html: string
}

let site: PeopleSite
let browser: Browser
let elsewhere: Elsewhere
beforeAll(async () => {
  site = await openPeopleSite()
  const ada = await site.signIn(site.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await site.index()
  browser = await openBrowser()
  elsewhere = await openElsewhere()
})
afterAll(async () => {
  await browser.close()
  elsewhere.server.close()
  await site.close()
})
beforeEach(() => {
  site.github.world.browser = { user: site.ada, approves: true }
})

function openElsewhere(): Promise<Elsewhere> {
  return new Promise(resolve => {
    const opened: Elsewhere = { server: createServer(), origin: '', asked: [], html: '<!doctype html><title>Elsewhere</title>' }
    opened.server.on('request', (request, response) => {
      opened.asked.push(request.url ?? '')
      response.setHeader('content-type', 'text/html').end(opened.html)
    })
    opened.server.listen(0, '127.0.0.1', () => {
      opened.origin = `http://127.0.0.1:${(opened.server.address() as AddressInfo).port}`
      resolve(opened)
    })
  })
}

async function inContext<Result>(
  work: (page: Page, context: BrowserContext) => Promise<Result>,
  options: Parameters<Browser['newContext']>[0] = {},
) {
  const context = await browser.newContext({ locale: 'en', ...options })
  try {
    return await work(await context.newPage(), context)
  } finally {
    await context.close()
  }
}

/** Clicks, and waits for the whole page to which that leads: a click waits only until it begins. */
async function follow(target: Locator): Promise<void> {
  await target.click()
  await target.page().waitForLoadState()
}

const signIn = (page: Page) => page.goto(`${site.origin}/auth/sign-in?return=/account`)

/** As somebody does at a terminal. */
async function read(token: string): Promise<{ status: number; text: string }> {
  const url = `${site.origin}/api/v1/files${CLOSED}?path=docs/guide.md`
  const { stdout } = await run('curl', [
    '--silent',
    '--header',
    `authorization: Bearer ${token}`,
    '--write-out',
    '\n%{http_code}',
    url,
  ])
  const end = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) }
}

const call = (token: string) =>
  fetch(`${site.origin}/mcp${CLOSED}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_repo_file', arguments: { path: 'docs/guide.md' } },
    }),
  })

test.runIf(hasBrowser).each([true, false])(
  'a person signs in, opens a private repository, makes a token, reads with it, deletes it and is refused (script: %s)',
  async javaScriptEnabled => {
    await inContext(
      async page => {
        await page.goto(site.origin + CLOSED)
        expect(await page.textContent('main')).toContain('Not found closed')
        await follow(page.getByRole('link', { name: 'sign in', exact: true }))
        expect(new URL(page.url()).pathname).toBe(CLOSED)
        expect(await page.textContent('.mount-facts')).toContain('private')
        await follow(page.getByRole('link', { name: 'Your account: ada' }))
        await follow(page.getByRole('link', { name: 'Make a token for closed' }))
        expect(await page.inputValue('#token-address')).toBe(CLOSED)
        await page.fill('#token-label', 'Night build')
        await page.selectOption('#token-days', '7')
        await follow(page.getByRole('button', { name: 'Make token' }))
        const token = (await page.textContent('.shown-once')) ?? ''
        expect((await read(token)).text).toContain('The closed guide')
        expect(await (await call(token)).text()).toContain('The closed guide')
        await page.reload()
        expect(await page.content()).not.toContain(token)
        await page.locator('li', { hasText: 'Night build' }).locator('summary').click()
        await follow(page.locator('li', { hasText: 'Night build' }).getByRole('button', { name: 'Delete token' }))
        expect(await page.textContent('#tokens')).toContain('The token is deleted')
        expect((await read(token)).status).toBe(401)
        expect((await call(token)).status).toBe(401)
        await follow(page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true }))
        expect(new URL(page.url()).pathname).toBe('/')
        await page.goto(site.origin + CLOSED)
        expect(await page.content()).not.toContain('The closed')
      },
      { javaScriptEnabled },
    )
  },
)

test.runIf(hasBrowser).each([320, 360])('on a screen of %i pixels the header is one row, signed in or not', async width => {
  const long = site.github.user('somebody-with-a-name-of-39-characters-x')
  for (const user of [null, site.ada, long]) {
    for (const locale of ['en', 'de']) {
      await inContext(
        async page => {
          if (user !== null) site.github.world.browser = { user, approves: true }
          // Until the fonts are there, the text is set in another one, which may be wider.
          await page.route('**/*.woff2', route => route.abort())
          await page.goto(user === null ? `${site.origin}/docs` : `${site.origin}/auth/sign-in?return=/account`)
          const boxOf = async (selector: string) =>
            (await page.locator(`.site-header ${selector}`).boundingBox()) ?? { x: -1, y: -1, width: 0, height: -1 }
          const [brand, links, field] = [await boxOf('.brand'), await boxOf('.site-links'), await boxOf('.header-field')]
          expect([user?.login, locale, links.y, links.height]).toEqual([user?.login, locale, brand.y, brand.height])
          expect(field.y).toBe(brand.y)
          expect(brand.x + brand.width).toBeLessThanOrEqual(links.x)
          expect(links.x + links.width).toBeLessThanOrEqual(field.x)
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        },
        { locale, viewport: { width, height: 640 } },
      )
    }
  }
})

test.runIf(hasBrowser)('the account names the browsers in which a person is signed in', async () => {
  await inContext(async page => {
    await signIn(page)
    await page.goto(`${site.origin}/account`)
    expect(await page.locator('.session', { hasText: 'this browser' }).textContent()).toMatch(/^\s*Chrome on Linux\s/)
  })
})

test.runIf(hasBrowser)('a person who signs out everywhere in one browser is signed out in the other', async () => {
  await inContext(async here => {
    await signIn(here)
    await inContext(async there => {
      await signIn(there)
      await there.getByRole('button', { name: 'Sign out everywhere' }).click()
    })
    await here.goto(site.origin + CLOSED)
    expect(await here.getByRole('link', { name: 'Sign in', exact: true }).count()).toBe(1)
    expect(await here.content()).not.toContain('The closed')
  })
})

test.runIf(hasBrowser)('a page of another origin can send no form of any type, and can frame no page', async () => {
  await inContext(async page => {
    await signIn(page)
    // Another port of this machine is the same site, so its requests carry the cookies.
    for (const [action, type] of [
      ['/account/tokens', 'application/x-www-form-urlencoded'],
      ['/account/tokens', 'multipart/form-data'],
      ['/account/sessions/others/end', 'text/plain'],
      ['/auth/sign-out', 'application/x-www-form-urlencoded'],
      ['/oauth/consent', 'application/x-www-form-urlencoded'],
    ] as const) {
      elsewhere.html = `<!doctype html><form method="post" enctype="${type}" action="${site.origin}${action}"><input name="address" value="${CLOSED}"><input name="label" value="stolen"><input name="days" value="7"><button>Go</button></form>`
      await page.goto(elsewhere.origin)
      const answered = page.waitForResponse(site.origin + action)
      await page.click('button')
      expect([action, type, (await answered).status()]).toEqual([action, type, 403])
      await page.waitForLoadState()
      expect(await page.textContent('h1')).toBe('This form was refused')
    }
    const consent = await site.askFor('https://notes.example/cb')
    for (const framed of [`${site.origin}/account`, consent]) {
      elsewhere.html = `<!doctype html><iframe src="${framed}"></iframe>`
      const refused = page.waitForEvent('console', message => message.text().includes('frame-ancestors'))
      await page.goto(elsewhere.origin)
      await refused
    }
    await page.goto(`${site.origin}/account`)
    expect(await page.textContent('#tokens')).not.toContain('stolen')
    expect(await page.getByRole('banner').getByRole('button', { name: 'Sign out', exact: true }).count()).toBe(1)
  })
})

test.runIf(hasBrowser)('a person refuses or approves an app by keyboard, and the browser returns to the app', async () => {
  await inContext(async page => {
    const asked = await site.askFor(`${elsewhere.origin}/callback`)
    await page.goto(asked)
    await page.getByRole('link', { name: 'Sign in to decide' }).press('Enter')
    expect(page.url()).toBe(asked)
    expect(elsewhere.asked.some(url => url.startsWith('/callback'))).toBe(false)
    const [refuse, approve] = [page.getByRole('button', { name: 'Refuse' }), page.getByRole('button', { name: 'Approve' })]
    const [left, right] = [await refuse.boundingBox(), await approve.boundingBox()]
    expect([left?.width, left?.height]).toEqual([right?.width, right?.height])
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab')
      if (await refuse.evaluate(button => button === document.activeElement)) break
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(`${elsewhere.origin}/**`)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
    await page.goto(asked)
    await refuse.focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.waitForURL(`${elsewhere.origin}/**`)
    expect(new URL(page.url()).searchParams.get('code')).not.toBeNull()
    expect(new URL(page.url()).searchParams.get('iss')).toBe(site.origin)
  })
})

test
  .runIf(hasBrowser)
  .each(['cursor://anysphere.cursor-mcp/callback', 'com.example.notes:/callback', 'https://notes.example:8443/cb'])(
  'the policy of the page lets the answer lead to %s',
  async redirect => {
    await inContext(async page => {
      await signIn(page)
      const blocked: string[] = []
      page.on('console', message => message.text().includes('form-action') && blocked.push(message.text()))
      await page.goto(await site.askFor(redirect))
      const led = page.waitForResponse(`${site.origin}/oauth/consent`)
      await page.getByRole('button', { name: 'Approve' }).click()
      const { location = '' } = await (await led).allHeaders()
      expect(location.startsWith(redirect)).toBe(true)
      await page.evaluate(() => true).catch(() => {})
      expect(blocked).toEqual([])
    })
  },
)

test.runIf(hasBrowser)('the pages of people fit wide and narrow screens, light and dark, in both languages', async () => {
  const faults: string[] = []
  const consent = await site.askFor('http://127.0.0.1:33418/callback', {
    name: 'An app with a name as long as its author could make it, before it is cut',
    uri: 'https://notes.example/about',
  })
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    await inContext(
      async page => {
        page.on(
          'console',
          message => message.type() === 'error' && !message.text().startsWith('Failed to load') && faults.push(message.text()),
        )
        const look = async (target: string) => {
          await page.goto(target)
          await page.evaluate("for (const details of document.querySelectorAll('main details')) details.open = true")
          faults.push(
            ...[...(await page.evaluate(findFaults)), ...(await runAxe(page))].map(fault => `${width} ${target} ${fault}`),
          )
        }
        const targets = [
          `${site.origin}/account`,
          consent,
          `${consent}&lang=de`,
          `${site.origin}/account?lang=de`,
          site.origin + CLOSED,
        ]
        for (const target of [...targets, `${site.origin}/auth/callback`, `${site.origin}/oauth/consent`]) await look(target)
        await signIn(page)
        await page.fill('#token-address', CLOSED)
        await page.fill('#token-label', `${colorScheme} ${'long '.repeat(8)}`)
        await follow(page.getByRole('button', { name: 'Make token' }))
        faults.push(...(await runAxe(page)))
        for (const target of targets) await look(target)
      },
      { colorScheme, viewport: { width, height: 800 } },
    )
  }
  expect(faults).toEqual([])
})

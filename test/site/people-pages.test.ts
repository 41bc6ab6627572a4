import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from '../support/people-scene.ts'
import { attributesOf, tagsOf, textOf } from './support/html.ts'
import { openPeopleSite, type PeopleSite } from './support/people-site.ts'
import { openSite } from './support/site.ts'

const CLOSED = '/gh/acme/closed'
let site: PeopleSite
let ada: Browser
beforeAll(async () => {
  site = await openPeopleSite()
  ada = await site.signIn(site.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await site.index()
})
afterAll(() => site.close())

/** A page as the browser shows it. */
async function page(browser: Browser, target: string) {
  const { status, headers, body } = await browser.navigate(target)
  return { status, headers, html: body, text: textOf(body) }
}

/** What the form leads to. */
async function submitted(browser: Browser, form: string, fields: Record<string, string>) {
  const answer = await browser.submit(form, fields)
  expect([form, answer.status, answer.headers['cache-control']]).toEqual([form, 303, 'no-store'])
  return await page(browser, answer.headers.location ?? '')
}

const makeToken = (browser: Browser, label: string, address = CLOSED) =>
  submitted(browser, '/account/tokens', { address, label, days: '30' })
const secretOf = (html: string) => /<code class="shown-once">(mgp_\w+)</.exec(html)?.[1] ?? ''

test('the header links to a sign-in that returns to the page, and then names the person', async () => {
  const out = await page(site.browser(), '/docs/rest?x=1')
  expect(attributesOf(out.html, 'a', 'href')).toContain(`/auth/sign-in?return=${encodeURIComponent('/docs/rest?x=1')}`)
  const { text, html } = await page(ada, '/docs/rest?x=1')
  expect(text).toContain('ada Sign out')
  expect(attributesOf(html, 'form', 'action')).toContain('/auth/sign-out')
  expect(attributesOf(html, 'a', 'href').filter(href => href.startsWith('/auth/'))).toEqual([])
})

test('without sign-in, pages show no trace of it', async () => {
  const plain = await openSite({})
  for (const target of ['/', '/docs', '/gh/acme/closed']) expect((await plain.get(target)).html).not.toMatch(/\/auth\/|\/account/)
  for (const target of ['/account', '/oauth/consent?request=x']) expect((await plain.get(target)).status).toBe(404)
  for (const target of ['/account/tokens', '/oauth/consent']) expect((await plain.get(target, 'POST')).status).toBe(404)
  await plain.close()
})

test('a private repository is shown to its people, is marked on every page, and is kept in no cache for others', async () => {
  const stranger = site.browser()
  for (const view of ['', '?view=browse', '?view=find', '?view=skill&path=one/SKILL.md', '?view=file&path=docs/guide.md']) {
    const shown = await page(ada, CLOSED + view)
    expect([view, shown.status, shown.headers['cache-control']]).toEqual([view, 200, 'no-store'])
    expect(tagsOf(shown.html).filter(tag => tag.includes('chip private'))).toHaveLength(1)
    const hidden = await page(stranger, CLOSED + view)
    expect([view, hidden.status]).toEqual([view, 404])
    expect(hidden.html).not.toMatch(/closed (?:guide|skill)/)
  }
  expect((await page(ada, `${CLOSED}?format=markdown`)).html).toContain('Private repository.')
})

test('the page for signed-out visitors offers to sign in, and is the same for private and missing repositories', async () => {
  const bob = await site.signIn(site.bob)
  for (const browser of [site.browser(), bob]) {
    const [unseen, missing] = await Promise.all([page(browser, CLOSED), page(browser, '/gh/acme/absent')])
    expect(unseen.status).toBe(404)
    expect(unseen.html.replaceAll('closed', 'absent').replace(/data-\w+="[^"]*"/g, '')).toBe(
      missing.html.replace(/data-\w+="[^"]*"/g, ''),
    )
  }
  expect((await page(site.browser(), CLOSED)).html).toContain(`/auth/sign-in?return=${encodeURIComponent(CLOSED)}`)
  expect((await page(bob, CLOSED)).text).toContain('A private repository is shown if bob can see it')
})

test('a token reads the pages of its repository, and a bad one is refused as the interface refuses it', async () => {
  const secret = secretOf((await makeToken(ada, 'pages')).html)
  const bearer = (token: string, target: string) =>
    site.app.inject({ url: target, headers: { authorization: `Bearer ${token}`, accept: 'text/markdown' } })
  expect((await bearer(secret, CLOSED)).body).toContain('gh/acme/closed')
  const refused = await bearer(`${secret}x`, CLOSED)
  expect([refused.statusCode, refused.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
})

test('the account lists repositories by account, tokens, apps and sessions', async () => {
  const { status, text, html, headers } = await page(ada, '/account')
  expect([status, headers['cache-control'], headers['referrer-policy']]).toEqual([200, 'no-store', 'same-origin'])
  expect(String(headers['content-security-policy'])).toContain("frame-ancestors 'none'")
  for (const words of ['Signed in as ada', 'acme organization all repositories', 'Agent tokens', 'Apps', 'Sessions', 'Forget me'])
    expect(text).toContain(words)
  expect(text).toContain('this browser')
  expect(attributesOf(html, 'a', 'href')).toContain(CLOSED)
  expect(attributesOf(html, 'option', 'value')).toContain(CLOSED)
  expect((await page(site.browser(), '/account')).status).toBe(401)
})

test('a token is made, shown once, listed without its secret, and deleted', async () => {
  const made = await makeToken(ada, 'CI <of us>')
  const secret = secretOf(made.html)
  expect(secret).toMatch(/^mgp_\w{83}$/)
  expect(made.text).toContain('It is shown once, and never again.')
  const later = await page(ada, '/account')
  expect(later.html).not.toContain(secret)
  expect(later.text).toContain('CI <of us>')
  const asked = () => site.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: { authorization: `Bearer ${secret}` } })
  expect((await asked()).statusCode).toBe(200)
  const [form = ''] = attributesOf(later.html, 'form', 'action').filter(action => action.endsWith('/delete'))
  const deleted = await submitted(ada, form, {})
  expect(deleted.text).toContain('The token is deleted')
  expect((await asked()).statusCode).toBe(401)
  expect((await submitted(ada, form, {})).text).toContain('You have no such token')
  expect((await page(ada, '/account')).text).not.toContain('You have no such token')
})

test.each([
  ['/gh/acme/closed@main', 'leave out the version and the path'],
  ['/gh/acme/tools', 'veryone may read this repository'],
  ['/gh/acme/absent', 'does not exist'],
  ['nonsense', 'The address does not name a repository'],
])('a token for %s is refused on the page, which keeps what was written', async (address, words) => {
  const { text, html } = await submitted(ada, '/account/tokens', { address, label: 'Keep "me"', days: '90', lang: 'en' })
  expect(text).toContain('Nothing was changed')
  expect(text).toContain(words)
  expect(attributesOf(html, 'input', 'value')).toEqual(expect.arrayContaining([address, 'Keep "me"']))
})

test('the result of a form is shown to its own session alone', async () => {
  const other = await site.signIn(site.ada)
  const answer = await ada.submit('/account/tokens', { address: CLOSED, label: 'mine', days: '7' })
  expect(answer.headers.location).toBe('/account')
  const carried = ada.cookies.get('__Host-notice') ?? ''
  expect(carried).not.toContain('mgp_')
  other.cookies.set('__Host-notice', carried)
  expect(secretOf((await page(other, '/account')).html)).toBe('')
  expect(secretOf((await page(ada, '/account')).html)).toMatch(/^mgp_/)
})

test('sessions end one by one, all others at once, and everywhere', async () => {
  const [here, there] = [await site.signIn(site.ada), await site.signIn(site.ada)]
  const { html } = await page(here, '/account')
  const [form = ''] = attributesOf(html, 'form', 'action').filter(action => action.startsWith('/account/sessions/'))
  expect((await submitted(here, form, {})).text).toContain('The session is ended')
  expect((await page(there, '/account')).status).toBe(401)
  const third = await site.signIn(site.ada)
  await submitted(here, '/account/sessions/others/end', {})
  expect((await page(third, '/account')).status).toBe(401)
  expect((await page(here, '/account')).status).toBe(200)
  expect((await here.submit('/auth/sign-out', { what: 'everywhere', lang: 'de' })).headers.location).toBe('/?lang=de')
  expect((await page(here, '/account')).status).toBe(401)
  ada = await site.signIn(site.ada)
})

test.each([
  '/account/tokens',
  '/account/tokens/x/delete',
  '/account/grants/x/delete',
  '/account/sessions/x/end',
  '/oauth/consent',
  '/auth/sign-out',
])('v5.0.0-3.5.1: %s takes forms of own pages only', async target => {
  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': undefined, origin: 'null' },
    { 'sec-fetch-site': undefined, origin: undefined },
  ]) {
    const answer = await ada.submit(target, { what: 'session' }, { accept: 'text/html', ...headers })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined])
    expect(textOf(answer.body)).toContain('This form was refused')
  }
  const stranger = await site.browser().submit(target, {})
  expect(stranger.status).toBe(303)
  const json = await ada.post(target, { what: 'nothing', address: CLOSED })
  expect(json.status).toBe(400)
  expect(ada.cookies.has('__Host-session')).toBe(true)
})

test('a failed sign-in is reported on a page, without a word of the request', async () => {
  for (const target of ['/auth/callback', '/auth/callback?code=%3Cb%3E&state=mine', '/auth/callback?error=access_denied']) {
    const { status, text, html, headers } = await page(site.browser(), target)
    expect([status, headers['cache-control']]).toEqual([400, 'no-store'])
    expect(text).toContain('You are not signed in')
    expect(html).not.toContain('mine')
  }
})

test('v5.0.0-10.7.1: the consent page names the app, the scope, the redirect URI and the duration', async () => {
  const asked = await site.askFor('https://notes.example/cb', { name: 'No\u202etes <b>', uri: 'https://notes.example/about' })
  const { pathname, search } = new URL(asked)
  const { status, text, html, headers } = await page(ada, pathname + search)
  expect([status, headers['cache-control'], headers['referrer-policy']]).toEqual([200, 'no-store', 'same-origin'])
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self' https://notes.example:*")
  for (const words of [
    'Notes <b>',
    'own words; nobody checked them',
    'notes.example',
    'Approve only if you know whose site it is',
    'acme/closed',
    '90 days at most',
    'ada',
    'Refuse',
    'Approve',
  ])
    expect(text).toContain(words)
  expect(html).not.toContain('\u202e')
  const out = await page(site.browser(), pathname + search)
  expect(out.text).toContain('Sign in to decide')
  expect(out.html).not.toContain('name="decision"')
  expect(attributesOf(out.html, 'a', 'href')).toContain(`/auth/sign-in?return=${encodeURIComponent(pathname + search)}`)
  for (const redirect of ['http://127.0.0.1:33418/cb', 'cursor://anysphere.cursor-mcp/cb']) {
    const other = new URL(await site.askFor(redirect))
    expect((await page(ada, other.pathname + other.search)).text).toContain('Approve only if you started this yourself')
  }
  const bob = await page(await site.signIn(site.bob), pathname + search)
  expect(bob.text).toContain('You cannot approve this')
  expect(attributesOf(bob.html, 'button', 'value')).toEqual(['refuse'])
})

test('a decision returns to the app, and an invalid request is reported on the page', async () => {
  const asked = new URL(await site.askFor('https://notes.example/cb'))
  const request = asked.searchParams.get('request') ?? ''
  const decide = (browser: Browser, decision: string) => browser.submit('/oauth/consent', { request, decision })
  const refused = new URL((await decide(ada, 'refuse')).headers.location ?? '')
  expect([refused.origin, refused.searchParams.get('error')]).toEqual(['https://notes.example', 'access_denied'])
  const bob = await site.signIn(site.bob)
  const back = (await decide(bob, 'approve')).headers.location ?? ''
  expect(back).toBe(asked.pathname + asked.search)
  expect((await page(bob, back)).text).toContain('You cannot open this repository')
  const approved = new URL((await decide(ada, 'approve')).headers.location ?? '')
  expect(approved.searchParams.get('code')).not.toBeNull()
  expect((await ada.submit('/oauth/consent', { request, decision: 'perhaps' })).headers.location).toBe(back)
  expect((await page(ada, '/oauth/consent?request=edited')).status).toBe(400)
  const unknown = await page(ada, '/oauth/consent')
  expect(unknown.text).toContain('This request cannot be answered')
  expect(unknown.text).toContain('Open the front page')
})

test('forget me ends everything', async () => {
  await ada.submit('/auth/sign-out', { what: 'everything' })
  expect((await page(ada, '/account')).status).toBe(401)
  ada = await site.signIn(site.ada)
  expect((await page(ada, '/account')).text).toContain('You have no tokens.')
})

import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createRecordIds } from '#api/people/records.ts'
import { personKey } from '#core/snapshot/store-keys.ts'
import { ID_KEY } from '#test/support/open-test-people.ts'
import { openPeopleScene, type PeopleScene, SESSION_COOKIE, SIGN_IN_COOKIE } from '#test/support/people-scene.ts'
import { BASE_URL } from '#test/support/test-app.ts'

let scene: PeopleScene
const lines: string[] = []
beforeAll(async () => {
  scene = await openPeopleScene({ logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } } })
})
afterAll(() => scene.close())
afterEach(() => {
  expect(scene.github.mistakes).toEqual([])
  scene.github.reset()
})

const audits = () => lines.map(line => JSON.parse(line)).filter(line => line.audit !== undefined)
const recordOf = async (user: { id: number }) =>
  (await scene.states.read(personKey(createRecordIds(ID_KEY).person(`gh-${user.id}`))))?.value as never

test('v5.0.0-10.2.1: a sign-in goes to the host with state and challenge, and returns to the page where it began', async () => {
  const browser = scene.browser()
  const begun = await browser.navigate('/auth/sign-in?return=%2Fgh%2Facme%2Fclosed%3Fa%3Db')
  expect([begun.status, begun.headers['cache-control'], begun.headers['referrer-policy']]).toEqual([
    302,
    'no-store',
    'no-referrer',
  ])
  const target = new URL(begun.headers.location ?? '')
  expect(target.origin + target.pathname).toBe(`${scene.github.origins.web}/login/oauth/authorize`)
  expect(Object.fromEntries(target.searchParams)).toEqual({
    client_id: scene.githubApp.clientId,
    redirect_uri: `${BASE_URL}/auth/callback`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  const ended = await browser.navigate(await browser.visitHost(target.href, scene.ada))
  expect([ended.status, ended.headers.location]).toEqual([303, '/gh/acme/closed?a=b'])
  expect([...browser.cookies.keys()]).toEqual([SESSION_COOKIE])
  expect((await browser.get('/api/v1/me')).json).toEqual({
    user: { host: 'gh', login: 'ada', name: 'Ada', avatar: expect.stringContaining('http') },
  })
})

test('v5.0.0-3.3.1, v5.0.0-3.3.2, v5.0.0-3.3.3 and v5.0.0-3.3.4: both cookies are secure, bound to the host, and out of reach of scripts', async () => {
  const browser = scene.browser()
  const begun = await browser.navigate('/auth/sign-in')
  const ended = await browser.navigate(await browser.visitHost(begun.headers.location ?? '', scene.ada))
  const sent = [begun, ended].flatMap(({ headers }) => [headers['set-cookie']].flat())
  expect(sent).toEqual([
    expect.stringMatching(/^__Host-signin=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/),
    '__Host-signin=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
    expect.stringMatching(/^__Host-session=mgs_\w{83}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=5184000$/),
  ])
})

test('v5.0.0-7.2.4: a sign-in makes a new session and ends the one that the browser carried', async () => {
  const browser = await scene.signIn(scene.ada)
  const before = browser.cookies.get(SESSION_COOKIE) ?? ''
  await browser.signIn(scene.ada)
  const after = browser.cookies.get(SESSION_COOKIE) ?? ''
  expect(after).not.toBe(before)
  const old = scene.browser()
  old.cookies.set(SESSION_COOKIE, before)
  expect((await old.get('/api/v1/me')).json).toEqual({ user: null })
  // Somebody else signs in at the same browser.
  await browser.signIn(scene.bob)
  expect((await browser.get('/api/v1/me')).json.user.login).toBe('bob')
  old.cookies.set(SESSION_COOKIE, after)
  expect((await old.get('/api/v1/me')).json).toEqual({ user: null })
})

test('v5.0.0-13.3.1: the stored record of a sign-in is useless to a reader of the store', async () => {
  const browser = await scene.signIn(scene.ada)
  const stored = JSON.stringify(await recordOf(scene.ada))
  const token = browser.cookies.get(SESSION_COOKIE) ?? ''
  expect(stored).toContain(createHash('sha256').update(token).digest('base64url'))
  for (const secret of [token, ...scene.github.world.tokens.keys(), ...scene.github.world.refreshTokens.keys()])
    expect(stored).not.toContain(secret)
})

test('v5.0.0-10.3.3: a person is known by the id of the account, also after a change of the login', async () => {
  const eve = scene.github.user('eve')
  const browser = await scene.signIn(eve)
  const before = (await recordOf(eve)) as { uk: string }
  Object.assign(eve, { login: 'eva' })
  const again = scene.browser()
  await again.signIn(eve)
  expect((await again.get('/api/v1/me')).json.user.login).toBe('eva')
  expect(((await recordOf(eve)) as { uk: string }).uk).toBe(before.uk)
  expect((await browser.get('/api/v1/me')).json.user.login).toBe('eva')
})

const failures: [name: string, path: (path: string) => string, status?: number][] = [
  ['without a state', path => path.replace(/[?&]state=[^&]*/, '')],
  ['with a state of nobody', path => path.replace(/state=.{4}/, 'state=AAAA')],
  ['with two states', path => `${path}&state=x`],
  ['without a code', path => path.replace(/code=[^&]*/, '')],
  ['with a made up code', path => path.replace(/code=[^&]*/, 'code=made-up')],
  ['with two codes', path => `${path}&code=x`],
]

test.each(failures)('a callback with %s is a page with status 400, and signs nobody in', async (_name, change) => {
  const browser = scene.browser()
  const begun = await browser.navigate('/auth/sign-in?return=/x')
  const failed = await browser.navigate(change(await browser.visitHost(begun.headers.location ?? '', scene.ada)))
  expect([failed.status, failed.headers['content-type'], failed.headers['cache-control']]).toEqual([
    400,
    'text/html; charset=utf-8',
    'no-store',
  ])
  expect(failed.headers['content-security-policy']).toContain("default-src 'none'")
  expect(browser.cookies.has(SESSION_COOKIE)).toBe(false)
  expect((await browser.get('/api/v1/me')).json).toEqual({ user: null })
})

test('a callback from another browser signs nobody in: a state belongs to the browser that began', async () => {
  const [mine, theirs] = [scene.browser(), scene.browser()]
  const begun = await mine.navigate('/auth/sign-in')
  await theirs.navigate('/auth/sign-in')
  const path = await mine.visitHost(begun.headers.location ?? '', scene.ada)
  for (const browser of [theirs, scene.browser()]) {
    expect((await browser.navigate(path)).status).toBe(400)
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false)
  }
  expect((await mine.navigate(path)).status).toBe(303)
})

test('a callback works once, even with the cookie kept', async () => {
  const browser = scene.browser()
  const begun = await browser.navigate('/auth/sign-in')
  const thief = scene.browser()
  thief.cookies.set(SIGN_IN_COOKIE, browser.cookies.get(SIGN_IN_COOKIE) ?? '')
  const path = await browser.visitHost(begun.headers.location ?? '', scene.ada)
  expect((await browser.navigate(path)).status).toBe(303)
  expect((await browser.navigate(path)).status).toBe(400)
  expect((await thief.navigate(path)).status).toBe(400)
  expect(thief.cookies.has(SESSION_COOKIE)).toBe(false)
  expect((await browser.get('/api/v1/me')).json.user.login).toBe('ada')
})

test('two tabs may sign in at once, in any order, and each returns to its own page', async () => {
  const browser = scene.browser()
  const first = await browser.navigate('/auth/sign-in?return=/first')
  const second = await browser.navigate('/auth/sign-in?return=/second')
  const secondEnd = await browser.navigate(await browser.visitHost(second.headers.location ?? '', scene.ada))
  const firstEnd = await browser.navigate(await browser.visitHost(first.headers.location ?? '', scene.ada))
  expect([firstEnd, secondEnd].map(({ status, headers }) => [status, headers.location])).toEqual([
    [303, '/first'],
    [303, '/second'],
  ])
})

test('sign-ins that one leaves unfinished never make the cookie longer than a browser takes, and the newest one works', async () => {
  const browser = scene.browser()
  const long = `/oauth/consent?request=${'a'.repeat(1_900)}`
  for (let tab = 0; tab < 5; tab++) {
    const begun = await browser.navigate(`/auth/sign-in?return=${encodeURIComponent(`${long}${tab}`)}`)
    expect(Buffer.byteLength([begun.headers['set-cookie']].flat().join(''))).toBeLessThan(4_096)
    const ended = await browser.at(scene.app).visitHost(begun.headers.location ?? '', scene.ada)
    if (tab === 4) expect((await browser.navigate(ended)).headers.location).toBe(`${long}${tab}`)
  }
})

test('a sign-in that took longer than ten minutes, or whose cookie was edited, fails', async () => {
  const slow = scene.browser()
  const begun = await slow.navigate('/auth/sign-in')
  const path = await slow.visitHost(begun.headers.location ?? '', scene.ada)
  scene.advanceClock(601)
  expect((await slow.navigate(path)).status).toBe(400)
  const edited = scene.browser()
  const again = await edited.navigate('/auth/sign-in')
  const value = edited.cookies.get(SIGN_IN_COOKIE) ?? ''
  edited.cookies.set(SIGN_IN_COOKIE, `${value.slice(0, -5)}AAAAA`)
  expect((await edited.navigate(await edited.visitHost(again.headers.location ?? '', scene.ada))).status).toBe(400)
})

test('a person who refuses at the host sees that, and nothing changes', async () => {
  const browser = scene.browser()
  expect((await browser.signIn(null)).status).toBe(400)
  expect(audits().at(-1)).toMatchObject({ audit: 'signin.fail', reason: 'denied' })
})

test.each([
  [
    'answers 200 with an error of the app',
    { body: '{"error":"incorrect_client_credentials"}' },
    '/login/oauth/access_token',
    503,
  ],
  ['answers 200 with an error of the code', { body: '{"error":"bad_verification_code"}' }, '/login/oauth/access_token', 400],
  ['answers 5xx', { status: 502, html: true as const }, '/login/oauth/access_token', 503],
  ['answers nothing', { reset: true as const }, '/login/oauth/access_token', 503],
  ['answers something else', { html: true as const }, '/login/oauth/access_token', 503],
  ['limits the rate', { status: 403, headers: { 'x-ratelimit-remaining': '0', 'retry-after': '7' }, body: '{}' }, '/user', 503],
  ['fails at the account', { status: 500, body: '{}' }, '/user', 503],
])('a host that %s signs nobody in', async (_name, fault, path, status) => {
  const quiet = await openQuiet()
  const browser = quiet.browser()
  const begun = await browser.navigate('/auth/sign-in')
  const back = await browser.visitHost(begun.headers.location ?? '', quiet.ada)
  quiet.github.faults.add({ match: { path }, times: 3, ...fault })
  const failed = await browser.navigate(back)
  expect(failed.status).toBe(status)
  expect(failed.headers['retry-after']).toBe(path === '/user' && status === 503 && 'headers' in fault ? '7' : undefined)
  expect(browser.cookies.has(SESSION_COOKIE)).toBe(false)
  quiet.github.faults.clear()
})

let quietScene: PeopleScene | null = null
/** Warnings for the operator are expected there. */
async function openQuiet(): Promise<PeopleScene> {
  quietScene ??= await openPeopleScene({ onWarning: () => {} })
  return quietScene
}
afterAll(() => quietScene?.close())

test('HEAD neither begins nor ends a sign-in', async () => {
  for (const url of ['/auth/sign-in', '/auth/callback?code=x&state=y']) {
    const { statusCode, headers } = await scene.app.inject({ method: 'HEAD', url })
    expect([statusCode, headers.allow]).toEqual([405, 'GET'])
  }
})

test('v5.0.0-16.3.1: sign-ins are in the audit log, without a secret and without a name', () => {
  expect(audits()).toContainEqual(
    expect.objectContaining({
      audit: 'signin.ok',
      person: expect.stringMatching(/^[0-9a-f]{24}$/),
      reqId: expect.any(String),
      ip: '127.0.0.1',
    }),
  )
  expect(audits()).toContainEqual(expect.objectContaining({ audit: 'signin.fail', reason: 'state' }))
  const log = lines.join('')
  const { tokens, refreshTokens, codes } = scene.github.world
  for (const secret of [...tokens.keys(), ...refreshTokens.keys(), ...codes.keys(), 'mgs_', 'eyJ'])
    expect(log).not.toContain(secret)
})

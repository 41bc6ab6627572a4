import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openRecords } from '#api/people/records.ts'
import type { Account } from '#test/support/fake-github/world.ts'
import { openPeopleScene, type PeopleScene, SESSION_COOKIE } from '#test/support/people-scene.ts'

let scene: PeopleScene
beforeAll(async () => {
  scene = await openPeopleScene()
})
afterAll(() => scene.close())
afterEach(() => {
  expect(scene.github.mistakes).toEqual([])
  scene.github.reset()
})

const DAY = 86_400
const nameOf = async (browser: { get: PeopleScene['get'] }) => (await browser.get('/api/v1/me')).json.user?.login ?? null
const recordOf = async (user: Account) => {
  const person = scene.deps.people?.context.recordIds.person(`gh-${user.id}`) ?? ''
  return { person, record: await openRecords(scene.states).people.read(person) }
}
const tokensOf = (user: Account) =>
  [...scene.github.world.tokens.values()].filter(token => token.kind === 'user' && token.user === user)
const newUser = (login: string) => {
  const user = scene.github.user(login)
  scene.acme.members.set(user, 'member')
  return user
}

test('v5.0.0-7.3.1: a session ends after 14 days without a request', async () => {
  const browser = await scene.signIn(scene.ada)
  for (let day = 0; day < 26; day += 13) {
    scene.advanceClock(13 * DAY)
    expect(await nameOf(browser)).toBe('ada')
    await scene.deps.people?.close()
  }
  scene.advanceClock(14 * DAY + 1)
  expect(await nameOf(browser)).toBeNull()
})

test('v5.0.0-7.3.2: a session ends after 60 days, even if it is used', async () => {
  const browser = await scene.signIn(scene.ada)
  for (let day = 0; day < 50; day += 10) {
    scene.advanceClock(10 * DAY)
    expect(await nameOf(browser)).toBe('ada')
    await scene.deps.people?.close()
  }
  scene.advanceClock(10 * DAY + 1)
  expect(await nameOf(browser)).toBeNull()
})

test('v5.0.0-7.2.3: a session is 256 random bits, and no two are the same', async () => {
  const sessions = await Promise.all(
    [1, 2, 3].map(async () => (await scene.signIn(newUser('cy'))).cookies.get(SESSION_COOKIE) ?? ''),
  )
  expect(new Set(sessions.map(session => session.slice(38, 81))).size).toBe(3)
})

test('v5.0.0-7.5.2: the list of sessions shows all of a person, and one that is ended there is refused by every process', async () => {
  const dora = newUser('dora')
  const [one, other] = [await scene.signIn(dora), await scene.signIn(dora)]
  const replica = await scene.replica()
  const people = scene.deps.people
  const viewer = await people?.bySession({ cookie: `${SESSION_COOKIE}=${one.cookies.get(SESSION_COOKIE)}` })
  if (viewer?.kind !== 'person') throw new Error('nobody')
  const acting = { viewer, origin: null }
  const listed = (await people?.account?.sessions(acting)) ?? []
  expect(listed.map(({ isCurrent }) => isCurrent)).toEqual([false, true])
  await people?.account?.endSession(acting, listed[0]?.id ?? '')
  expect(await nameOf(other.at(replica))).toBeNull()
  expect(await nameOf(one.at(replica))).toBe('dora')
  await people?.account?.endSession(acting, 'f'.repeat(24))
})

test('a person has at most 20 sessions: the oldest ends', async () => {
  const emil = newUser('emil')
  const browsers = []
  for (let index = 0; index < 21; index++) browsers.push(await scene.signIn(emil))
  const names = await Promise.all(browsers.map(nameOf))
  expect(names).toEqual([null, ...Array.from({ length: 20 }, () => 'emil')])
})

test('v5.0.0-7.4.1: signing out ends the session, and the cookie opens nothing any more', async () => {
  const fay = newUser('fay')
  const [one, other] = [await scene.signIn(fay), await scene.signIn(fay)]
  const kept = one.cookies.get(SESSION_COOKIE) ?? ''
  const answer = await one.submit('/auth/sign-out', {})
  expect([answer.status, answer.headers.location, answer.headers['clear-site-data']]).toEqual([303, '/', '"cache", "storage"'])
  expect(one.cookies.has(SESSION_COOKIE)).toBe(false)
  one.cookies.set(SESSION_COOKIE, kept)
  expect(await nameOf(one)).toBeNull()
  expect(await nameOf(other)).toBe('fay')
  // Again, by nobody: there is nothing left to do.
  expect((await one.submit('/auth/sign-out', { what: 'session' })).status).toBe(303)
  expect((await one.submit('/auth/sign-out', { what: 'everywhere' })).status).toBe(401)
})

test('with the last session the credential of the host ends, unless a token reads in the name of the person', async () => {
  const [gus, hal] = [newUser('gus'), newUser('hal')]
  const [plain, holder] = [await scene.signIn(gus), await scene.signIn(hal)]
  const made = await holder.post('/api/v1/me/tokens', { address: '/gh/acme/closed', label: 'x', expiresInDays: 9 })
  expect(made.status).toBe(201)
  for (const browser of [plain, holder]) expect((await browser.submit('/auth/sign-out', { what: 'everywhere' })).status).toBe(303)
  expect([tokensOf(gus).length, (await recordOf(gus)).record?.cred]).toEqual([0, null])
  expect([tokensOf(hal).length, (await recordOf(hal)).record?.sessions]).toEqual([1, []])
  const viewer = await scene.deps.people?.byBearer(made.json.token)
  if (viewer?.kind !== 'token') throw new Error('no token')
  expect(await scene.deps.people?.see(viewer, 'acme', 'closed')).toMatchObject({ status: 'ok', value: { visibility: 'private' } })
})

const LATER = '2100-01-01T00:00:00Z'

test('forget me ends everything, here and at the host, and leaves no record', async () => {
  const ida = newUser('ida')
  const browser = await scene.signIn(ida)
  const made = await browser.post('/api/v1/me/tokens', { address: '/gh/acme/closed', label: 'x', expiresInDays: 9 })
  const { person, record } = await recordOf(ida)
  const records = openRecords(scene.states)
  const at = record?.sessions[0]?.createdAt ?? ''
  const client = { h: 'h', id: 'c', name: 'An app', uri: null, kind: 'dcr' as const }
  const grant = {
    v: 1 as const,
    id: 'd'.repeat(24),
    uk: person,
    uid: record?.host?.id ?? '',
    client,
    address: '/gh/acme/closed',
    repoId: 'gh-1',
    scope: 'read',
    createdAt: at,
    lastUsedAt: null,
    ended: 0,
    families: [{ fid: 'f'.repeat(24), createdAt: at, exp: LATER, idleExp: LATER, gen: 0, rh: 'h', old: [], prev: null, at: [] }],
    exp: LATER,
  }
  await records.grants.update([person, grant.id], () => grant)
  expect((await browser.get('/api/v1/me/grants')).json.items).toEqual([
    { id: grant.id, client: { name: 'An app', uri: null }, address: '/gh/acme/closed', createdAt: at, lastUsedAt: null },
  ])
  expect((await browser.submit('/auth/sign-out', { what: 'everything' })).status).toBe(303)
  expect([(await recordOf(ida)).record, await records.grantsOf(person, 10), tokensOf(ida)]).toEqual([null, [], []])
  expect(await nameOf(browser)).toBeNull()
  await expect(scene.deps.people?.byBearer(made.json.token)).rejects.toMatchObject({ code: 'auth.required' })
})

test('forget me, while the host is down, deletes all records here, names what remains at the host, and retries until the host answers', async () => {
  const ina = newUser('ina')
  const browser = await scene.signIn(ina)
  const made = await browser.post('/api/v1/me/tokens', { address: '/gh/acme/closed', label: 'x', expiresInDays: 9 })
  const { record: before } = await recordOf(ina)
  const away = { match: { path: /^\/applications\/.*\/grant/ }, status: 503, times: 9 }
  scene.github.faults.add(away)
  const answer = await browser.submit('/auth/sign-out', { what: 'everything' })
  expect([answer.status, answer.body]).toEqual([202, expect.stringContaining('asked again once a day')])
  const { record } = await recordOf(ina)
  expect(record).toMatchObject({ host: null, sessions: [], tokens: [], forgottenAt: expect.any(String) })
  expect(record?.since).not.toBe(before?.since)
  expect(JSON.stringify(record)).not.toContain('ina')
  await expect(scene.deps.people?.byBearer(made.json.token)).rejects.toMatchObject({ code: 'auth.required' })

  await scene.deps.people?.keepAlive()
  expect((await recordOf(ina)).record).not.toBeNull()
  scene.github.faults.clear()
  await scene.deps.people?.keepAlive()
  expect([(await recordOf(ina)).record, tokensOf(ina)]).toEqual([null, []])
})

test('a person who signs in again before the host was asked to forget keeps the new sign-in', async () => {
  const ivo = newUser('ivo')
  const browser = await scene.signIn(ivo)
  scene.github.faults.add({ match: { path: /^\/applications\/.*\/grant/ }, status: 503, times: 9 })
  expect((await browser.submit('/auth/sign-out', { what: 'everything' })).status).toBe(202)
  scene.github.faults.clear()
  const again = await scene.signIn(ivo)
  await scene.deps.people?.keepAlive()
  expect(await nameOf(again)).toBe('ivo')
})

test('forget me, after the person ended the authorization at the host, leaves no record', async () => {
  const uma = newUser('uma')
  const browser = await scene.signIn(uma)
  const { tokens } = scene.github.world
  for (const [value, token] of tokens) if (token.kind === 'user' && token.user === uma) tokens.delete(value)
  expect((await browser.submit('/auth/sign-out', { what: 'everything' })).status).toBe(303)
  expect((await recordOf(uma)).record).toBeNull()
})

test('a grant is ended by its person alone', async () => {
  const browser = await scene.signIn(scene.ada)
  for (const id of ['', 'x', 'e'.repeat(24), '../x']) {
    const answer = await browser.delete(`/api/v1/me/grants/${encodeURIComponent(id)}`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'grant.not_found'])
  }
})

test('the repositories of a person come from the host, by installation, as far as person and app reach', async () => {
  const browser = await scene.signIn(scene.ada)
  const { json } = await browser.get('/api/v1/me/repositories')
  expect(json).toEqual({
    installUrl: `${scene.github.origins.web}/apps/reader/installations/new`,
    installations: [
      {
        account: { login: 'acme', kind: 'organization', avatar: expect.stringContaining('http') },
        manageUrl: expect.stringContaining('/settings/installations/'),
        selection: 'all',
        repositories: expect.arrayContaining([
          { address: '/gh/acme/closed', owner: 'acme', name: 'closed', description: null, visibility: 'private' },
        ]),
        truncated: false,
      },
    ],
    truncated: false,
  })
  scene.installation.suspendedAt = scene.deps.clock.now().toISOString()
  expect((await browser.get('/api/v1/me/repositories')).json.installations).toEqual([])
  scene.installation.suspendedAt = null
  expect((await (await scene.signIn(scene.bob)).get('/api/v1/me/repositories')).json.installations).toEqual([])
  expect((await scene.browser().get('/api/v1/me/repositories')).json.error.code).toBe('auth.required')
  scene.github.faults.add({ match: { path: '/user/installations' }, times: 9, status: 502, body: '' })
  expect((await browser.get('/api/v1/me/repositories')).json.error.code).toBe('mount.unavailable')
})

test('v5.0.0-8.3.2: a person whose credential the host rejects is signed out by the answer that reports it', async () => {
  const jan = newUser('jan')
  const [one, other] = [await scene.signIn(jan), await scene.signIn(jan)]
  const made = await one.post('/api/v1/me/tokens', { address: '/gh/acme/closed', label: 'x', expiresInDays: 9 })
  for (const [value, token] of scene.github.world.tokens)
    if (token.kind === 'user' && token.user === jan) scene.github.world.tokens.delete(value)
  const answer = await one.get('/api/v1/me/repositories')
  expect([answer.status, answer.json.error.code]).toEqual([401, 'auth.required'])
  expect([await nameOf(one), await nameOf(other)]).toEqual([null, null])
  const viewer = await scene.deps.people?.byBearer(made.json.token)
  if (viewer?.kind !== 'token') throw new Error('no token')
  await expect(scene.deps.people?.see(viewer, 'acme', 'closed')).rejects.toMatchObject({ code: 'auth.required' })
  // The token lives on, and reads again once the person signed in.
  await scene.signIn(jan)
  const again = await scene.deps.people?.byBearer(made.json.token)
  if (again?.kind !== 'token') throw new Error('no token')
  expect(await scene.deps.people?.see(again, 'acme', 'closed')).toMatchObject({ status: 'ok' })
})

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { BASE_URL } from '#test/support/test-app.ts'
import { message } from './scene.ts'

const CLOSED = '/gh/acme/closed'
const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\n# Pdf\n\nFill the form.\n'
let scene: PeopleScene
let ada: Browser
let token: string

beforeAll(async () => {
  scene = await openPeopleScene({ contents: { 'acme/closed': { 'skills/pdf/SKILL.md': SKILL } } })
  ada = await scene.signIn(scene.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await scene.open('/gh/acme/tools')
  const made = await ada.post('/api/v1/me/tokens', { address: CLOSED, label: 'agent', expiresInDays: 30 })
  token = made.json.token
})
afterAll(() => scene.close())
afterEach(() => expect(scene.github.mistakes).toEqual([]))

async function send(url: string, method: string, params = {}, headers: Record<string, string> = {}) {
  const sent = message(method, params)
  const answer = await scene.app.inject({ method: 'POST', url, headers: { ...sent.headers, ...headers }, payload: sent.payload })
  return { status: answer.statusCode, headers: answer.headers, json: answer.json(), body: answer.body }
}

const bearer = (value = token) => ({ authorization: `Bearer ${value}` })
const load = { name: 'load_skill', arguments: { path: 'skills/pdf/SKILL.md' } }
const challengeOf = (address: string, error = '') =>
  `Bearer ${error}resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource/mcp${address}", scope="read"`

test('a token reads its repository by the tools, and its results are marked as private', async () => {
  const called = await send(`/mcp${CLOSED}`, 'tools/call', load, bearer())
  expect([called.status, called.headers['cache-control']]).toEqual([200, 'no-store'])
  expect(called.json.result.content[0].text).toContain('Fill the form.')
  for (const method of ['tools/list', 'server/discover', 'resources/list', 'skills/list']) {
    const { json } = await send(`/mcp${CLOSED}`, method, {}, bearer())
    expect([method, json.result.cacheScope]).toEqual([method, 'private'])
  }
  const open = await send('/mcp/gh/acme/tools', 'tools/list')
  expect(open.json.result.cacheScope).toBe('public')
})

test('without a token, a private repository and a missing one have the same challenge, for any message', async () => {
  for (const [method, params] of [
    ['server/discover', {}],
    ['tools/list', {}],
    ['tools/call', load],
    ['skills/list', {}],
  ] as const) {
    const [hidden, missing] = [await send(`/mcp${CLOSED}`, method, params), await send('/mcp/gh/acme/nothing', method, params)]
    expect([hidden.status, hidden.headers['www-authenticate']]).toEqual([401, challengeOf(CLOSED)])
    expect(hidden.json.error.data.code).toBe('auth.required')
    expect([missing.status, missing.headers['www-authenticate'], missing.body]).toEqual([
      401,
      challengeOf('/gh/acme/nothing'),
      hidden.body,
    ])
  }
  const folder = await send(`/mcp${CLOSED}@main/skills`, 'tools/list')
  expect(folder.headers['www-authenticate']).toBe(challengeOf(`${CLOSED}@main/skills`))
})

test('the session cookie is ignored, since pages of any origin may send messages', async () => {
  const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  expect((await send(`/mcp${CLOSED}`, 'tools/list', {}, { cookie })).status).toBe(401)
})

test('a token that is bad or of another repository is refused, on public addresses too', async () => {
  for (const [address, value] of [
    [CLOSED, 'nonsense'],
    ['/gh/acme/tools', token],
    ['/gh/acme/nothing', token],
    ['/gh/acme/tools', 'nonsense'],
  ] as const) {
    const refused = await send(`/mcp${address}`, 'tools/list', {}, bearer(value))
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, challengeOf(address, 'error="invalid_token", ')])
  }
})

test('the server without an address reads public repositories, and no credential', async () => {
  const params = (address: string) => ({ name: 'browse_repo', arguments: { address } })
  for (const headers of [{}, bearer(), bearer('nonsense')]) {
    const read = await send('/mcp', 'tools/call', params('/gh/acme/tools'), headers)
    expect([read.status, read.json.result.isError]).toEqual([200, undefined])
    const hidden = await send('/mcp', 'tools/call', params(CLOSED), headers)
    expect(hidden.json.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'mount.repo_not_found' } } })
  }
})

test('after its person lost access, a valid token gets the refusal from the tools alone', async () => {
  scene.acme.members.delete(scene.ada)
  scene.advanceClock(31)
  const called = await send(`/mcp${CLOSED}`, 'tools/call', load, bearer())
  expect(called.status).toBe(200)
  expect(called.json.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'mount.repo_not_found' } } })
  for (const method of ['server/discover', 'tools/list']) {
    const { status, json, body } = await send(`/mcp${CLOSED}`, method, {}, bearer())
    expect([status, json.error]).toEqual([200, undefined])
    expect(body).not.toMatch(/acme|\/closed/)
  }
  const listed = await send(`/mcp${CLOSED}`, 'skills/list', {}, bearer())
  expect(listed.json.error.data.code).toBe('mount.repo_not_found')
  scene.acme.members.set(scene.ada, 'member')
  scene.advanceClock(11)
  expect((await send(`/mcp${CLOSED}`, 'tools/call', load, bearer())).json.result.isError).toBeUndefined()
})

test('a host that cannot be asked is 503, and one that ended the sign-in 401', async () => {
  scene.advanceClock(31)
  scene.github.faults.add({ match: { host: 'api', path: '/repos/acme/closed' }, times: 4, status: 500 })
  expect((await send(`/mcp${CLOSED}`, 'tools/call', load, bearer())).status).toBe(503)
  scene.github.faults.clear()
  scene.advanceClock(61)
  for (const [value, { kind }] of scene.github.world.tokens) if (kind === 'user') scene.github.world.tokens.delete(value)
  scene.github.world.refreshTokens.clear()
  const refused = await send(`/mcp${CLOSED}`, 'tools/call', load, bearer())
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, challengeOf(CLOSED, 'error="invalid_token", ')])
})

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'

let scene: PeopleScene
let browser: Browser
let records: string[]
const lines: string[] = []
let warnings: string[] = []
beforeAll(async () => {
  scene = await openPeopleScene({
    logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } },
    onWarning: warning => void warnings.push(warning),
  })
  records = []
})
afterAll(() => scene.close())
beforeEach(async () => {
  warnings = []
  browser = await scene.signIn(scene.ada)
})
afterEach(async () => {
  await browser.submit('/auth/sign-out', { what: 'everything' })
  expect(scene.github.mistakes).toEqual([])
  expect(warnings).toEqual([])
  scene.github.reset()
})

const URL = '/api/v1/me/tokens'
const BODY = { address: '/gh/acme/closed', label: 'CI', expiresInDays: 30 }

async function make(body: object = {}, at = browser): Promise<{ token: string; item: { id: string } & Record<string, unknown> }> {
  const answer = await at.post(URL, { ...BODY, ...body })
  if (answer.status !== 201) throw new Error(answer.body)
  records.push(answer.json.token)
  return answer.json
}

const refusal = async (answer: Promise<{ status: number; json: { error: { code: string } } }>) => {
  const { status, json } = await answer
  return [status, json.error.code]
}

test('a token is shown once with its secret, and listed without it, newest first', async () => {
  const first = await make()
  expect(first).toEqual({
    token: expect.stringMatching(/^mgp_[0-9A-Za-z]{83}$/),
    item: {
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      address: '/gh/acme/closed',
      label: 'CI',
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
    },
  })
  const { createdAt, expiresAt } = first.item as unknown as { createdAt: string; expiresAt: string }
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000)
  const second = await make({ label: 'laptop' })
  const listed = await browser.get(URL)
  expect(listed.json).toEqual({ items: [second.item, first.item], limit: 50 })
  expect(listed.body).not.toContain('mgp_')
})

test('the address is stored in the spelling of the host, and accepted in any case', async () => {
  expect((await make({ address: '/gh/ACME/Closed' })).item.address).toBe('/gh/acme/closed')
  expect((await make({ address: '/gh/acme/closed/' })).item.address).toBe('/gh/acme/closed')
})

test('a label has 1 to 60 characters of any kind, and a token lives 1 to 366 days', async () => {
  for (const label of ['x', 'ü'.repeat(60), '😀'.repeat(60), ' ', '<script>', '"\'&'])
    expect((await make({ label })).item.label).toBe(label)
  for (const expiresInDays of [1, 366]) await make({ expiresInDays })
})

const MALFORMED: [name: string, body: unknown][] = [
  ['no body', ''],
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['nothing in it', {}],
  ['no address', { ...BODY, address: undefined }],
  ['an address that is no text', { ...BODY, address: 1 }],
  ['an address that does not parse', { ...BODY, address: '/gh/acme' }],
  ['an address with a bad escape', { ...BODY, address: '/gh/acme/%ZZ' }],
  ['an address without its slash', { ...BODY, address: 'gh/acme/closed' }],
  ['an empty address', { ...BODY, address: '' }],
  ['a URL', { ...BODY, address: 'https://github.com/acme/closed' }],
  ['a local address', { ...BODY, address: '/local/acme/closed' }],
  ['an address of no host', { ...BODY, address: '/xx/acme/closed' }],
  ['an empty label', { ...BODY, label: '' }],
  ['a label that is too long', { ...BODY, label: 'x'.repeat(61) }],
  ['a label with too many characters beyond the basic plane', { ...BODY, label: '😀'.repeat(61) }],
  ['a label with a line break', { ...BODY, label: 'a\nb' }],
  ['a label that is no text', { ...BODY, label: 1 }],
  ['no days', { ...BODY, expiresInDays: undefined }],
  ['0 days', { ...BODY, expiresInDays: 0 }],
  ['367 days', { ...BODY, expiresInDays: 367 }],
  ['a fraction of days', { ...BODY, expiresInDays: 1.5 }],
  ['days as text', { ...BODY, expiresInDays: '30' }],
  ['a field that is not known', { ...BODY, scope: 'all' }],
  ['a prototype', '{"address":"/gh/acme/closed","label":"x","expiresInDays":1,"__proto__":{"a":1}}'],
]

test.each(MALFORMED)('v5.0.0-2.2.1 and v5.0.0-15.3.6: a body with %s is 400 token.invalid', async (_name, body) => {
  expect(await refusal(browser.post(URL, body))).toEqual([400, 'token.invalid'])
  expect((await browser.get(URL)).json.items).toEqual([])
})

test('a body that is too long is 413, and an unknown parameter 400', async () => {
  expect(await refusal(browser.post(URL, { ...BODY, label: 'x'.repeat(70_000) }))).toEqual([413, 'request.too_large'])
  expect(await refusal(browser.post(`${URL}?a=b`, BODY))).toEqual([400, 'request.invalid'])
})

test.each(['/gh/acme/closed@main', '/gh/acme/closed/docs', '/gh/acme/closed@v1/docs', '/gh/acme/nothing@main'])(
  '%s is no repository: 400 token.not_a_repository',
  async address => {
    expect(await refusal(browser.post(URL, { ...BODY, address }))).toEqual([400, 'token.not_a_repository'])
  },
)

test('a token for a public repository is refused', async () => {
  expect(await refusal(browser.post(URL, { ...BODY, address: '/gh/acme/tools' }))).toEqual([400, 'token.public_repository'])
})

test('v5.0.0-8.2.2: a repository that the person cannot open is answered as a name that is nothing', async () => {
  const stranger = await scene.signIn(scene.bob)
  const [hidden, nothing] = await Promise.all(
    ['closed', 'nothing'].map(name => stranger.post(URL, { ...BODY, address: `/gh/acme/${name}` })),
  )
  expect([hidden?.status, hidden?.json]).toEqual([nothing?.status, nothing?.json])
  expect(hidden?.json.error.code).toBe('mount.repo_not_found')
  expect(await refusal(browser.post(URL, { ...BODY, address: '/gh/acme/nothing' }))).toEqual([404, 'mount.repo_not_found'])
})

test('a host that cannot be asked is 503, and makes no token', async () => {
  scene.github.faults.choose(({ path }) => (path.startsWith('/repos/acme/closed') ? { status: 502, body: '' } : null))
  expect((await browser.post(URL, BODY)).status).toBe(503)
  scene.github.faults.clear()
  expect((await browser.get(URL)).json.items).toEqual([])
})

test('v5.0.0-2.3.4 and v5.0.0-15.4.2: of 60 tokens that are asked for at once over two processes, exactly 50 are made', async () => {
  const replica = await scene.replica()
  const both = [browser, browser.at(replica)]
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => both[index % 2]?.post(URL, { ...BODY, label: `${index}` })),
  )
  const made = answers.filter(answer => answer?.status === 201)
  expect(made).toHaveLength(50)
  for (const answer of answers)
    if (answer?.status !== 201) expect([answer?.status, answer?.json.error.code]).toEqual([409, 'token.limit'])
  const { items } = (await browser.get(URL)).json
  expect(items.map(({ id }: { id: string }) => id).sort()).toEqual(made.map(answer => answer?.json.item.id).sort())
  await browser.delete(`${URL}/${items[0].id}`)
  expect((await browser.post(URL, BODY)).status).toBe(201)
  expect((await browser.post(URL, BODY)).status).toBe(409)
})

test('a deleted token is over at once, in every process, and is deleted once', async () => {
  const replica = await scene.replica()
  const { token, item } = await make()
  const read = (app = scene.app) =>
    app.inject({ url: '/api/v1/mounts/gh/acme/tools', headers: { authorization: `Bearer ${token}` } })
  // Whether it may read that address is another question: here only who it is counts.
  await scene.deps.people?.byBearer(token)
  const deleted = await browser.delete(`${URL}/${item.id}`)
  expect([deleted.status, deleted.body]).toEqual([204, ''])
  for (const app of [scene.app, replica]) {
    const { statusCode, headers } = await read(app)
    expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
  }
  expect(await refusal(browser.delete(`${URL}/${item.id}`))).toEqual([404, 'token.not_found'])
})

test.each(['', '/', '/x', `/${'0'.repeat(24)}`, '/%ZZ', '/a/b', `/${'9'.repeat(3000)}`])('there is no token%s', async id => {
  const { status, json } = await browser.delete(URL + id)
  expect([status, json.error.code]).toEqual(id === '' ? [405, 'request.method_not_allowed'] : [404, 'token.not_found'])
})

test('v5.0.0-8.4.1: the token of another person is not found', async () => {
  const { item } = await make()
  const stranger = await scene.signIn(scene.bob)
  expect(await refusal(stranger.delete(`${URL}/${item.id}`))).toEqual([404, 'token.not_found'])
  expect((await stranger.get(URL)).json.items).toEqual([])
  expect((await browser.get(URL)).json.items).toHaveLength(1)
})

test('an expired token is on no list, opens nothing, and counts no more', async () => {
  const { token } = await make({ expiresInDays: 1 })
  for (let index = 1; index < 50; index++) await make({ label: String(index) })
  expect((await browser.post(URL, BODY)).status).toBe(409)
  scene.advanceClock(86_400)
  await expect(scene.deps.people?.byBearer(token)).rejects.toMatchObject({ code: 'auth.required' })
  expect((await browser.get(URL)).json.items).toHaveLength(49)
  expect((await browser.post(URL, BODY)).status).toBe(201)
})

test('v5.0.0-10.3.1: a stolen cookie is no token, a token no cookie, and an edited one neither', async () => {
  const { token } = await make()
  const session = browser.cookies.get('__Host-session') ?? ''
  const people = scene.deps.people
  const wrong = [
    session,
    token.slice(0, -1),
    `${token}x`,
    token.replace('mgp_', 'mga_'),
    token.toLowerCase(),
    '',
    'null',
    'x'.repeat(5_000),
  ]
  for (const text of wrong) await expect(people?.byBearer(text), text).rejects.toMatchObject({ code: 'auth.required' })
  const thief = scene.browser()
  for (const text of [token, session.slice(1), `${session}.`, session.toUpperCase(), '', `"${session}"`]) {
    thief.cookies.set('__Host-session', text)
    expect((await thief.get('/api/v1/me')).json, text).toEqual({ user: null })
  }
})

test('a token is no session: me reports no person, and the other routes of me are 401', async () => {
  const { token } = await make()
  const headers = { authorization: `Bearer ${token}` }
  expect((await browser.get('/api/v1/me', headers)).json).toEqual({ user: null })
  for (const url of [URL, '/api/v1/me/repositories', '/api/v1/me/grants']) {
    expect(await refusal(browser.get(url, headers))).toEqual([401, 'auth.required'])
  }
  expect(await refusal(browser.post(URL, BODY, headers))).toEqual([401, 'auth.required'])
})

test('an IP allow list that refuses this server ends no session and no token: both are asked to retry', async () => {
  const { token, item } = await make()
  const ask = async () => [
    await refusal(browser.get('/api/v1/mounts/gh/acme/closed')),
    await refusal(scene.get('/api/v1/mounts/gh/acme/closed', { headers: { authorization: `Bearer ${token}` } })),
  ]
  scene.acme.refusesAddress = true
  scene.advanceClock(31)
  expect(await ask()).toEqual([
    [503, 'mount.unavailable'],
    [503, 'mount.unavailable'],
  ])
  expect(await refusal(browser.post(URL, BODY))).toEqual([503, 'mount.unavailable'])
  expect((await browser.get('/api/v1/me')).json.user).toMatchObject({ login: 'ada' })
  expect((await browser.get(URL)).json.items).toMatchObject([{ id: item.id }])
  expect(warnings.splice(0)).toEqual([expect.stringContaining('the IP allow list of an organization')])
  scene.acme.refusesAddress = false
  scene.advanceClock(31)
  expect((await browser.get('/api/v1/mounts/gh/acme/closed')).status).toBe(200)
  expect((await scene.get('/api/v1/mounts/gh/acme/closed', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
})

test('the last use of a token is noted, and again an hour later', async () => {
  const { token, item } = await make()
  const lastUse = async () => {
    await scene.deps.people?.byBearer(token)
    await scene.deps.people?.close()
    return (await browser.get(URL)).json.items.find(({ id }: { id: string }) => id === item.id).lastUsedAt
  }
  const first = await lastUse()
  expect(first).toBe(scene.deps.clock.now().toISOString())
  scene.advanceClock(3_000)
  expect(await lastUse()).toBe(first)
  scene.advanceClock(601)
  expect(await lastUse()).toBe(scene.deps.clock.now().toISOString())
})

test('v5.0.0-16.2.5 and v5.0.0-14.2.1: no secret and no name of a private repository is in the log', () => {
  const log = lines.join('')
  for (const secret of [...records, ...scene.github.world.tokens.keys()]) expect(log).not.toContain(secret)
  const audits = log.split('\n').filter(line => line.includes('"audit"'))
  expect(audits.join('')).not.toMatch(/acme|closed/)
  expect(audits.map(line => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      audit: 'token.create',
      repo: expect.stringMatching(/^h_[\w-]{16}$/),
      repositoryId: `gh-${scene.closed.id}`,
    }),
  )
  expect(audits.join('')).toContain('"audit":"token.delete"')
})

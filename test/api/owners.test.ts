import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { FILES, ownerPages } from './support/owner-pages.ts'

let app: TestApp
const { ask, page, names, addMany, openAll } = ownerPages(() => app)

beforeEach(async () => {
  app = await testApp(FILES, { github: { withToken: true } })
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

describe('the account', () => {
  test('is a person, in the spelling of the host', async () => {
    app.github.user('acme', { name: 'Ada', bio: ' Makes tools.\n' })
    const { owner } = await page('ACME')
    expect(owner).toEqual({
      host: 'gh',
      login: 'acme',
      name: 'Ada',
      bio: 'Makes tools.',
      kind: 'user',
      avatar: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/u\/\d+/),
      url: `${app.github.origins.web}/acme`,
      publicRepositories: 4,
    })
  })

  test('is an organisation, with its profile fields, and null for missing fields', async () => {
    app.github.organization('acme', { name: 'Acme Corp', description: 'Tools for paper' })
    app.github.organization('silent')
    expect((await page()).owner).toMatchObject({ kind: 'organization', name: 'Acme Corp', bio: 'Tools for paper' })
    expect(await page('Silent')).toMatchObject({
      owner: { login: 'silent', kind: 'organization', name: null, bio: null, publicRepositories: 0 },
      indexed: [],
      repositories: [],
      nextPage: null,
    })
  })

  test('that changed its login keeps its indexed repositories', async () => {
    await openAll('/gh/acme/tools')
    const account = await app.github.world.account('acme')
    Object.assign(account ?? {}, { login: 'renamed' })
    app.advanceClock(301)
    expect((await names('renamed')).indexed).toEqual(['tools'])
    expect((await ask('acme')).json.error.code).toBe('owner.not_found')
  })
})

describe('the requests of an owner page', () => {
  test('are three for an organisation with indexed repositories, none for the next visitors, and 304s a minute later', async () => {
    app.github.organization('acme')
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    app.github.log.clear()
    await page()
    expect(app.github.log.rest.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'GET /users/acme 200',
      'GET /orgs/acme 200',
      'GET /users/acme/repos?type=owner&sort=pushed&direction=desc&per_page=30&page=1 200',
    ])
    app.github.log.clear()
    await Promise.all([page(), page('Acme'), page('ACME')])
    expect(app.github.log.all).toEqual([])
    app.advanceClock(61)
    await page()
    expect(app.github.log.lines.toSorted()).toEqual([
      'GET /repos/acme/kit 304',
      'GET /repos/acme/tools 304',
      'GET /users/acme/repos?type=owner&sort=pushed&direction=desc&per_page=30&page=1 304',
    ])
    expect(app.github.log.all.every(({ counted }) => !counted)).toBe(true)
  })

  test('are two for a person, and no more for twenty visitors at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(app.github.log.rest.length).toBe(2)
  })

  test('fetch no repository and leave no job: git reports blocked ones, and nothing is indexed', async () => {
    await page()
    const asked = app.github.log.git.map(({ path, git }) => `${path.split('/')[2]} ${git?.command}`)
    const repositories = ['kit', 'later', 'plain', 'tools']
    expect(asked.toSorted()).toEqual(repositories.map(name => `${name}.git ls-refs`))
    expect(await app.queue.take('test')).toBeNull()
    expect((await page()).indexed).toEqual([])
  })
})

describe('the repositories', () => {
  test('have the order of the host, most recently pushed first', async () => {
    await app.github.shown('acme', 'tools', {
      description: 'For paper',
      stars: 7,
      archived: true,
      pushedAt: '2026-03-01T10:00:00Z',
    })
    await app.github.shown('acme', 'kit', { pushedAt: '2026-03-02T10:00:00Z' })
    await app.github.shown('acme', 'plain', { pushedAt: '2026-02-01T10:00:00Z', forkOf: await app.github.shown('acme', 'later') })
    await app.github.shown('acme', 'later', { pushedAt: '2026-01-01T10:00:00Z' })
    const { repositories } = await page()
    expect(repositories.map(({ name }) => name)).toEqual(['kit', 'tools', 'plain', 'later'])
    expect(repositories[1]).toEqual({
      address: '/gh/acme/tools',
      name: 'tools',
      description: 'For paper',
      fork: false,
      archived: true,
      stars: 7,
      pushedAt: '2026-03-01T10:00:00.000Z',
    })
    expect(repositories[2]).toMatchObject({ fork: true, archived: false, description: null })
  })

  test('are given page by page, each once, up to the hundredth page', async () => {
    await addMany(101 * 30)
    const seen = new Set<string>()
    for (const number of [1, 2, 99, 100]) {
      const { repositories, nextPage } = await page('acme', `?page=${number}`)
      for (const { name } of repositories) seen.add(name)
      expect([repositories.length, nextPage]).toEqual([30, number === 100 ? null : number + 1])
    }
    expect(seen.size).toBe(120)
  })

  test('are none behind the last page', async () => {
    expect(await page('acme', '?page=2')).toMatchObject({ owner: { login: 'acme' }, repositories: [], nextPage: null })
  })
})

test('the page is the same for all visitors, with or without credentials', async () => {
  await openAll('/gh/acme/kit')
  const token = app.github.personalToken(app.github.user('somebody'), ['repo'])
  const carried = [{}, { cookie: '__Host-session=mgs_x' }, { authorization: `Bearer ${token}` }, { 'accept-language': 'de' }]
  const answers = await Promise.all(carried.map(headers => app.get('/api/v1/owners/gh/acme', { headers })))
  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
  expect(app.github.log.all.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${token}`)
})

describe('errors', () => {
  test.each([
    '',
    '/',
    '/gh',
    '/gh/',
    '/gh//',
    '/acme',
    '/local/acme',
    '/hub/acme',
    '/GH/acme',
    '/gh/-acme',
    '/gh/ac.me',
    '/gh/ac me'.replace(' ', '%20'),
    '/gh/%2e%2e',
    '/gh/acme%2Ftools',
    '/gh/%ZZ',
    '/gh/%FF',
    '/gh/acme/tools',
    `/gh/${'a'.repeat(40)}`,
    '/~',
  ])('the path %j after /owners is 400 owner.invalid, and the host is not asked', async rest => {
    const answer = await app.get(`/api/v1/owners${rest}`)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'owner.invalid'])
    expect(app.github.log.all).toEqual([])
  })

  test('an owner in another spelling is found: escaped, with a slash at the end', async () => {
    for (const owner of ['acme/', '%61cme', 'aCmE?page=1']) expect((await page(owner)).owner.login).toBe('acme')
  })

  test('an account that the host does not show is 404 owner.not_found', async () => {
    for (const url of ['/api/v1/owners/gh/nobody', '/api/v1/owners/gh/nobody?page=7']) {
      expect(await app.get(url)).toMatchObject({ status: 404, json: { error: { code: 'owner.not_found' } } })
    }
    expect(app.github.log.lines).toEqual(['GET /users/nobody 404'])
  })

  test('a rate limit of the host is 503 with Retry-After, while known pages are still served', async () => {
    await openAll('/gh/acme/kit')
    const before = (await ask()).body
    app.github.limits.set('personal', 0)
    app.github.limits.exhaust(null, { seconds: 300 })
    app.advanceClock(61)
    expect((await ask()).body).toBe(before)
    const refused = await ask('somebody')
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'mount.rate_limited' } } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  })

  test.each([
    ['is broken', { status: 500 }],
    ['answers a page for people', { html: true as const }],
    ['resets', { reset: true as const }],
    ['answers without end', { status: 200, endless: true as const }],
    ['leads elsewhere', { redirect: 'http://127.0.0.1:9/' }],
    ['answers something else', { status: 200, body: '{"id":1}' }],
  ])('a host that %s is 503 mount.unavailable, for each of its requests', async (_, fault) => {
    await openAll('/gh/acme/kit')
    for (const path of [/^\/users\/acme$/, /^\/users\/acme\/repos/, /^\/repos\/acme\/kit/]) {
      expect((await ask()).status).toBe(200)
      app.advanceClock(700)
      app.github.faults.add({ ...fault, times: 9, match: { host: 'api', path } })
      expect(await ask(), path.source).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
      app.github.faults.clear()
      app.advanceClock(5)
    }
  })

  test('a host that is silent is 503 as soon as the patience of a visitor ends', async () => {
    await openAll('/gh/acme/kit')
    app.advanceClock(700)
    app.github.faults.add({ delaySeconds: 0.1, times: 1, match: { host: 'api', path: '/users/acme' } })
    app.github.faults.add({ delaySeconds: 60, times: 99, match: { host: 'api', path: /^\/repos\/|^\/users\/acme\/repos/ } })
    Object.assign(app.deps, { patienceMs: { card: IMPATIENT_MS, listings: IMPATIENT_MS } })
    expect(await ask()).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
  })

  test('a store that does not answer is 503 skill.unavailable', async () => {
    const { listings } = app.deps
    Object.assign(app.deps, { listings: { ...listings, of: () => Promise.reject(new Error('no store')) } })
    expect(await ask()).toMatchObject({ status: 503, json: { error: { code: 'skill.unavailable' } } })
  })
})

test('without a host with accounts there is no such route', async () => {
  const without = await testApp({})
  onTestFinished(() => without.close())
  for (const rest of ['/gh/acme', '/local/acme', '/gh', '', '/gh/%zz']) {
    const answer = await without.get(`/api/v1/owners${rest}`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'request.not_found'])
  }
})

import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { recordedStore } from '#test/support/recorded-store.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'
import { ADDRESS, FILES, githubMounts, SKILL } from './support/github-address.ts'

let app: TestApp
const { mount, learnToken } = githubMounts(() => app)

/** Calls of the stores since the list was emptied. */
const storeCalls: string[] = []

beforeEach(async () => {
  storeCalls.length = 0
  app = await testApp(
    { 'acme/tools': FILES, 'acme/empty': {} },
    {
      blobs: recordedStore<BlobStore>(createMemoryBlobStore(systemClock), storeCalls),
      states: recordedStore<StateStore>(createMemoryStateStore(), storeCalls),
      github: { withToken: true },
    },
  )
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

test('the snapshot is the same as of the same repository in a folder', async () => {
  await app.open(ADDRESS)
  await app.open('/local/acme/tools')
  const answers = async (host: string) => {
    const address = `/${host}/acme/tools`
    const { repository: _, address: __, ...overview } = await app.ask('mounts', address)
    const { indexedAt: ___, ...index } = overview.index as { indexedAt?: string }
    const file = async (path: string) => (await app.get(`/api/v1/files${address}?path=${path}`)).json
    return {
      ...overview,
      index,
      browse: await app.askReady('browse', address, { path: 'skills/one' }),
      guide: await file('docs/guide.md'),
      linked: await file('src/main.ts'),
      picture: (await file('skills/one/logo.png')).error.code,
    }
  }
  const atGitHub = await answers('gh')
  expect(atGitHub).toEqual(await answers('local'))
  expect(atGitHub).toMatchObject({ picture: 'file.not_text', linked: { content: 'export {}\n' } })
})

test('a skill with large files has the same archive as in a folder', async () => {
  const files = {
    'package.json': '{"license":"MIT"}\n',
    'a/SKILL.md': SKILL,
    'a/film.png': new Uint8Array(2_000_000).fill(9),
    'a/long.css': '/**/\n'.repeat(400_000),
  }
  const large = await testApp({ 'acme/large': files }, { github: { withToken: true } })
  onTestFinished(() => large.close())
  const digestAt = async (host: string) => {
    await large.open(`/${host}/acme/large`)
    return (await large.get(`/${host}/acme/large/.well-known/agent-skills/index.json`)).json.skills[0].digest
  }
  expect(await digestAt('gh')).toBe(await digestAt('local'))
})

test('a withheld file links to its source at the host', async () => {
  await app.open(ADDRESS)
  const answer = await app.get(`/api/v1/files${ADDRESS}?path=skills/one/logo.png`)
  const sourceUrl = `${app.github.origins.web}/acme/tools/raw/${app.commitOf('acme/tools')}/skills/one/logo.png`
  expect(answer).toMatchObject({ status: 415, json: { error: { code: 'file.not_text', sourceUrl } } })
})

describe('a repository that the host does not show to everyone', () => {
  beforeEach(learnToken)

  const states: [string, (repository: Repository) => void][] = [
    ['absent', repository => app.github.world.remove(repository)],
    ['private', repository => Object.assign(repository, { visibility: 'private' })],
    ['internal', repository => Object.assign(repository, { visibility: 'internal' })],
    [
      'blocked by law',
      repository => Object.assign(repository, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } }),
    ],
    [
      'blocked by terms',
      repository => Object.assign(repository, { blocked: { reason: 'tos', createdAt: '2026-01-01T00:00:00Z' } }),
    ],
  ]

  test('is answered with the same bytes and headers, after the same questions to the host and to the stores', async () => {
    const seen: unknown[] = []
    for (const [index, [, hide]] of states.entries()) {
      // Names of one length, so that everything may be compared.
      const repository = await app.repositories.create('acme', `hidden-${index}`)
      await repository.commit(FILES)
      hide(await app.github.shown('acme', repository.name))
      app.github.log.clear()
      storeCalls.length = 0
      const { status, headers, body } = await mount(`/gh/acme/${repository.name}`)
      const { 'x-request-id': _, date: __, ...rest } = headers
      const asked = app.github.log.all.map(({ host, method }) => `${host} ${method}`)
      seen.push({ status, headers: rest, body, asked, stores: [...storeCalls] })
    }
    expect(seen).toEqual(seen.map(() => seen[0]))
    expect(seen[0]).toMatchObject({
      status: 404,
      body: expect.stringContaining('mount.repo_not_found'),
      asked: ['web POST'],
      stores: [],
    })
  })

  test.each(states)('is on no route a minute after it was indexed, if it is %s', async (_, hide) => {
    await app.open(ADDRESS)
    const commit = app.commitOf('acme/tools')
    await mount(`${ADDRESS}@${commit}`)
    hide(await app.github.shown('acme', 'tools'))
    app.advanceClock(60)
    for (const url of [
      `mounts${ADDRESS}`,
      `mounts${ADDRESS}@${commit}`,
      `browse${ADDRESS}`,
      `find${ADDRESS}?query=first`,
      `skills${ADDRESS}@${commit}?path=skills/one/SKILL.md`,
      `files${ADDRESS}?path=docs/guide.md`,
    ]) {
      expect(await app.get(`/api/v1/${url}`), url).toMatchObject({
        status: 404,
        json: { error: { code: 'mount.repo_not_found' } },
      })
    }
  })
})

test('a renamed repository answers under its new address, with its existing index', async () => {
  await app.open(ADDRESS)
  app.github.world.rename(await app.github.shown('acme', 'tools'), { owner: app.github.organization('Moved'), name: 'Kit' })
  app.advanceClock(301)
  for (const address of [ADDRESS, '/gh/moved/kit', '/gh/MOVED/Kit']) {
    expect((await mount(address)).json).toMatchObject({
      address: '/gh/Moved/Kit',
      repository: { owner: 'Moved', name: 'Kit' },
      index: { status: 'ready' },
    })
  }
})

test('a commit that only a fork holds is no ref of the original', async () => {
  const fork = await app.repositories.create('evil', 'tools')
  await fork.commit(FILES)
  const impostor = await fork.commit({ 'skills/one/SKILL.md': SKILL.replace('Do it', 'Do evil') })
  await app.github.shown('evil', 'tools', { forkOf: await app.github.shown('acme', 'tools') })
  expect((await mount(`/gh/evil/tools@${impostor}`)).json).toMatchObject({ pinned: true, commit: impostor })
  expect(await mount(`${ADDRESS}@${impostor}`)).toMatchObject({ status: 404, json: { error: { code: 'mount.ref_not_found' } } })
})

test('an empty repository has no ref', async () => {
  expect(await mount('/gh/acme/empty')).toMatchObject({ status: 404, json: { error: { code: 'mount.ref_not_found' } } })
})

describe('a host that cannot be asked', () => {
  test('because of its limit is 503 with Retry-After, while indexed addresses are still served', async () => {
    await app.open(ADDRESS)
    for (const [pause, status] of [
      [() => app.github.limits.exhaust(null, { seconds: 300 }), 403],
      [() => app.github.limits.secondary({ status: 429, retryAfterSeconds: 30, times: 9 }), 429],
    ] as const) {
      app.github.limits.set('personal', 0)
      pause()
      expect((await mount()).json.index.status, String(status)).toBe('ready')
      const refused = await mount('/gh/acme/empty')
      expect(refused).toMatchObject({ status: 503, json: { error: { code: 'mount.rate_limited' } } })
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      app.advanceClock(301)
      app.github.limits.reset()
      expect((await mount()).status).toBe(200)
    }
  })

  test('but answers late is awaited', async () => {
    app.github.faults.add({ delaySeconds: 0.2, times: 9, match: { host: 'api' } })
    expect((await mount()).status).toBe(200)
  })

  test('because it does not answer is 503 after the patience of a visitor', async () => {
    const impatient = await openImpatient()
    impatient.github.faults.add({ delaySeconds: 60, times: 9, match: { host: 'api' } })
    expect(await impatient.get('/api/v1/mounts/gh/acme/empty')).toMatchObject(UNAVAILABLE)
  })

  test('soon enough for two lookups is 503: a default branch that is not there may be a tag, and both share the patience', async () => {
    const impatient = await openImpatient()
    const mounted = () => impatient.get('/api/v1/mounts/gh/acme/empty@main')
    await until(async () => (await mounted()).status === 404)
    impatient.advanceClock(301)
    // One answer comes in time, two do not.
    impatient.github.faults.add({ delaySeconds: (IMPATIENT_MS / 1000) * 0.7, times: 99 })
    expect(await mounted()).toMatchObject(UNAVAILABLE)
  })

  const UNAVAILABLE = { status: 503, json: { error: { code: 'mount.unavailable' } } }

  async function openImpatient(): Promise<TestApp> {
    const impatient = await testApp({ 'acme/empty': {} }, { github: { withToken: true }, patienceMs: IMPATIENT_MS })
    onTestFinished(() => impatient.close())
    return impatient
  }
})

test('a repository that cannot be fetched fails with its code', async () => {
  await learnToken()
  app.github.faults.add({ reset: true, times: 99, match: { host: 'web' } })
  await mount()
  await app.index()
  expect((await mount()).json.index).toMatchObject({ status: 'failed', errorCode: 'index.fetch_failed' })
})

test.each([
  [429, 'mount.rate_limited'],
  [403, 'mount.rate_limited'],
  [503, 'mount.unavailable'],
])('while git is paused by %i, known addresses are answered and the rest is refused with Retry-After', async (status, code) => {
  await app.open(ADDRESS)
  app.github.faults.add({ match: { host: 'web' }, status, body: '', headers: { 'retry-after': '600' } })
  const refs = () => app.get(`/api/v1/refs${ADDRESS}`)
  app.advanceClock(61)
  for (const seconds of ['600', '500']) {
    const answer = await refs()
    expect([answer.status, answer.json.error.code, answer.headers['retry-after']]).toEqual([503, code, seconds])
    app.advanceClock(100)
  }
  expect(app.github.faults.pending).toEqual([])
  const asked = app.github.log.git.length
  expect((await app.get(`/api/v1/mounts${ADDRESS}`)).status).toBe(200)
  expect((await refs()).status).toBe(503)
  expect(app.github.log.git.length).toBe(asked)
  app.advanceClock(401)
  expect((await refs()).status).toBe(200)
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import type { FakeGitHub } from '#test/support/fake-github/server.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { recordedStore } from '#test/support/recorded-store.ts'
import { type Answer, type TestApp, testApp } from '#test/support/test-app.ts'

const SKILL = '---\nname: one\ndescription: The first.\n---\nDo it.\n'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'skills/one/SKILL.md': SKILL,
  'skills/one/logo.png': new Uint8Array(3_000),
  'docs/guide.md': '# Guide\n\nSee [the code](../src/main.ts).\n',
  'src/main.ts': 'export {}\n',
}
const ADDRESS = '/gh/acme/tools'

let app: TestApp
/** Calls of the stores since the list was emptied. */
const storeCalls: string[] = []

beforeEach(async () => {
  storeCalls.length = 0
  app = await start()
})

function start(tokenOf?: (github: FakeGitHub) => string): Promise<TestApp> {
  return testApp(
    { 'acme/tools': FILES, 'acme/empty': {} },
    {
      blobs: recordedStore<BlobStore>(createMemoryBlobStore(systemClock), storeCalls),
      docs: recordedStore<DocStore>(createMemoryDocStore(), storeCalls),
      github: { withToken: true, ...(tokenOf ? { tokenOf } : {}) },
    },
  )
}

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

const mount = (address = ADDRESS): Promise<Answer> => app.get(`/api/v1/mounts${address}`)
const counts = () => ({ rest: app.github.log.rest.length, git: app.github.log.git.length })

/** Has the host tell what the token may see: until then it might be anything, and git looks first, as nobody. */
async function learnToken(): Promise<void> {
  await mount('/gh/acme/empty')
  app.github.log.clear()
}

describe('the requests of an address', () => {
  beforeEach(learnToken)

  /** Every way to name a commit, and what the first visit with its indexing takes. Nothing may take more than three and five. */
  const REFS: readonly [what: string, ref: (side: Side) => string | null, rest: number, git: number][] = [
    ['the default branch', () => null, 3, 2],
    ['the default branch by its name', () => 'main', 3, 2],
    ['HEAD', () => 'HEAD', 3, 2],
    ['a branch', () => 'feature/x', 3, 3],
    ['a branch in full', () => 'refs/heads/feature/x', 3, 2],
    ['a branch with the name of a tag', () => 'both', 3, 3],
    ['a tag', () => 'v1', 3, 3],
    ['a tag in full', () => 'refs/tags/v1', 3, 2],
    ['an annotated tag', () => 'v2', 3, 3],
    ['a tag of a tag', () => 'v3', 3, 3],
    ['a pull request', () => 'refs/pull/1/head', 3, 2],
    ['a commit at the tip of the default branch', ({ main }) => main, 3, 2],
    ['a commit of the default branch', ({ first }) => first, 3, 2],
    ['a commit at the tip of another branch', ({ tip }) => tip, 3, 3],
    ['a commit of another branch', ({ behind }) => behind, 3, 4],
    ['a commit behind a tag', ({ tagged }) => tagged, 3, 3],
    ['a commit that shares nothing with the default branch', ({ unrelated }) => unrelated, 3, 4],
  ]

  type Side = Record<'first' | 'main' | 'behind' | 'tip' | 'tagged' | 'unrelated', string>

  async function makeSide(): Promise<Side> {
    const repository = app.repository('acme/tools')
    const behind = await repository.commit(
      { 'docs/side.md': '# Side\n' },
      { branch: 'feature/x', parent: app.commitOf('acme/tools') },
    )
    const tip = await repository.commit({ 'docs/side.md': '# Further\n' }, { branch: 'feature/x' })
    const tagged = await repository.commit({ ...FILES, 'docs/tagged.md': '# Tagged\n' }, { branch: null })
    const unrelated = await repository.commit({ ...FILES, 'docs/else.md': '# Else\n' }, { branch: 'unrelated' })
    await repository.commit({ 'docs/side.md': '# Else\n' }, { branch: 'unrelated' })
    await repository.branch('both', tip)
    await repository.tag('both', tagged)
    await repository.tag('v1', tagged)
    const annotated = await repository.tag('v2', tagged, { annotated: true })
    await repository.tag('v3', annotated, { annotated: true, targetType: 'tag' })
    await repository.git('update-ref', 'refs/pull/1/head', tagged)
    const main = await repository.commit({ 'docs/guide.md': '# Newer\n' })
    return { first: app.commitOf('acme/tools'), main, behind, tip, tagged, unrelated }
  }

  test.each(REFS)(
    'of %s: some for the first visit, none for the next, and one 304 a minute later',
    async (_, refOf, rest, git) => {
      const ref = refOf(await makeSide())
      const address = `${ADDRESS}${ref === null ? '' : `@${encodeURIComponent(ref)}`}`
      await app.open(address)
      expect(counts()).toEqual({ rest, git })
      expect(rest).toBeLessThanOrEqual(3)
      expect(git).toBeLessThanOrEqual(5)
      app.github.log.clear()
      expect((await mount(address)).json).toMatchObject({ index: { status: 'ready', counts: { skills: 1 } } })
      await app.askReady('skills', address, { path: 'skills/one/SKILL.md' })
      expect(app.github.log.all).toEqual([])
      for (let minute = 0; minute < 4; minute++) {
        app.advanceClock(61)
        app.github.log.clear()
        expect((await mount(address)).json.index.status).toBe('ready')
        expect(app.github.log.all.map(({ host, status, counted }) => ({ host, status, counted }))).toEqual([
          { host: 'api', status: 304, counted: false },
        ])
      }
    },
  )

  test.each(REFS)(
    'of %s, by somebody who sees more: one of git besides, by which everyone looks',
    async (_, refOf, rest, git) => {
      await app.close()
      app = await start(github => github.personalToken(github.user('acme')))
      const ref = refOf(await makeSide())
      const address = `${ADDRESS}${ref === null ? '' : `@${encodeURIComponent(ref)}`}`
      await app.open(address)
      expect(counts()).toEqual({ rest, git: git + 1 })
      expect(git + 1).toBeLessThanOrEqual(5)
      app.github.log.clear()
      expect((await mount(address)).json).toMatchObject({ index: { status: 'ready', counts: { skills: 1 } } })
      expect(app.github.log.all).toEqual([])
      for (let minute = 0; minute < 4; minute++) {
        app.advanceClock(61)
        app.github.log.clear()
        expect((await mount(address)).json.index.status).toBe('ready')
        const asked = app.github.log.all.map(({ host, status, counted, credential }) => ({ host, status, counted, credential }))
        const looked = { host: 'web', status: 200, counted: false, credential: 'anonymous' }
        const unchanged = { host: 'api', status: 304, counted: false, credential: 'personal' }
        // Of a commit nothing can change but whether the repository is shown.
        expect(asked).toEqual(/^[0-9a-f]{40}$/.test(ref ?? '') ? [looked] : [looked, unchanged])
      }
    },
  )

  test('of a ref that nobody pushed: none of the API, and one of git a minute, however many names are tried', async () => {
    await app.open(ADDRESS)
    app.github.log.clear()
    for (let name = 0; name < 50; name++)
      expect((await mount(`${ADDRESS}@none-${name}`)).json.error.code).toBe('mount.ref_not_found')
    expect(counts()).toEqual({ rest: 0, git: 1 })
  })

  test('of a tag: another of git five minutes later, by which a branch of its name is noticed', async () => {
    const { tagged, tip } = await makeSide()
    await app.open(`${ADDRESS}@v1`)
    await app.repository('acme/tools').branch('v1', tip)
    app.advanceClock(61)
    expect((await mount(`${ADDRESS}@v1`)).json.commit).toBe(tagged)
    app.advanceClock(240)
    expect((await mount(`${ADDRESS}@v1`)).json.commit).toBe(tip)
  })

  test('are no more for twenty visitors at once, who leave one job', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => mount()))
    expect(answers.map(({ json }) => json.index.status)).toEqual(answers.map(() => 'indexing'))
    expect(await app.index()).toBe(1)
    expect(counts()).toEqual({ rest: 3, git: 2 })
  })

  test('are none where an owner or a name is not of the form of GitHub', async () => {
    for (const [address, code] of [
      ['/gh/-acme/tools', 'address.invalid_owner'],
      ['/gh/ac.me/tools', 'address.invalid_owner'],
      [`/gh/${'a'.repeat(40)}/tools`, 'address.invalid_owner'],
      ['/gh/acme/tools.git', 'address.invalid_repository'],
      [`/gh/acme/${'n'.repeat(101)}`, 'address.invalid_repository'],
      ['/gh/acme/tools@--upload-pack=x', 'address.invalid_ref'],
    ] as const) {
      expect((await mount(address)).json.error.code).toBe(code)
    }
    expect(app.github.log.all).toEqual([])
  })
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

test('what is refused is found at the host', async () => {
  await app.open(ADDRESS)
  const answer = await app.get(`/api/v1/files${ADDRESS}?path=skills/one/logo.png`)
  const sourceUrl = `${app.github.origins.web}/acme/tools/raw/${app.commitOf('acme/tools')}/skills/one/logo.png`
  expect(answer).toMatchObject({ status: 415, json: { error: { code: 'file.not_text', sourceUrl } } })
})

describe('what the host does not show to everyone', () => {
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
      asked: ['api GET'],
      stores: [],
    })
  })

  test.each(states)('is on no route a minute after it was indexed, when it is %s', async (_, hide) => {
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

test('a renamed repository answers under its new address, with the index that it has', async () => {
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
  test('because of its limit is 503 with the seconds to wait, while what is indexed goes on being served', async () => {
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

  test('in time is 503 within six seconds, also when every answer is late', async () => {
    app.github.faults.add({ delaySeconds: 2.6, times: 9, match: { host: 'api' } })
    const late = performance.now()
    expect((await mount()).status).toBe(200)
    expect(performance.now() - late).toBeLessThan(6_000)
    app.github.faults.clear()
    app.github.faults.add({ delaySeconds: 60, times: 9, match: { host: 'api' } })
    const silent = performance.now()
    expect(await mount('/gh/acme/empty')).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
    expect(performance.now() - silent).toBeLessThan(6_000)
  })

  test('in time for each of two lookups is 503 within six seconds: a default branch that is not there may be a tag', async () => {
    await learnToken()
    app.advanceClock(301)
    app.github.faults.add({ delaySeconds: 2.5, times: 9 })
    const late = performance.now()
    expect(await mount('/gh/acme/empty@main')).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
    expect(performance.now() - late).toBeLessThan(6_000)
  })
})

test('a repository that cannot be fetched fails with its code', async () => {
  await learnToken()
  app.github.faults.add({ reset: true, times: 99, match: { host: 'web' } })
  await mount()
  await app.index()
  expect((await mount()).json.index).toMatchObject({ status: 'failed', errorCode: 'index.fetch_failed' })
})

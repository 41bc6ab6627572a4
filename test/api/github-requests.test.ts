import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import type { FakeGitHub } from '#test/support/fake-github/server.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { ADDRESS, FILES, githubMounts } from './support/github-address.ts'

let app: TestApp
const { mount, learnToken } = githubMounts(() => app)
const counts = () => ({ rest: app.github.log.rest.length, git: app.github.log.git.length })

beforeEach(async () => {
  app = await start()
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

function start(tokenOf?: (github: FakeGitHub) => string): Promise<TestApp> {
  return testApp(
    { 'acme/tools': FILES, 'acme/empty': {} },
    {
      blobs: createMemoryBlobStore(systemClock),
      states: createMemoryStateStore(),
      github: { withToken: true, ...(tokenOf ? { tokenOf } : {}) },
    },
  )
}

describe('the requests of an address', () => {
  beforeEach(learnToken)

  /** Every way to name a commit, and what the first visit with its indexing takes. Nothing may take more than three and five. */
  const REFS: readonly [what: string, ref: (side: Side) => string | null, rest: number, git: number][] = [
    ['the default branch', () => null, 3, 4],
    ['the default branch by its name', () => 'main', 3, 4],
    ['a branch', () => 'feature/x', 3, 4],
    ['a branch in full', () => 'refs/heads/feature/x', 3, 4],
    ['a branch with the name of a tag', () => 'both', 3, 4],
    ['a tag', () => 'v1', 3, 4],
    ['a tag in full', () => 'refs/tags/v1', 3, 4],
    ['an annotated tag', () => 'v2', 3, 4],
    ['a tag of a tag', () => 'v3', 3, 4],
    ['a commit at the tip of the default branch', ({ main }) => main, 3, 3],
    ['a commit of the default branch', ({ first }) => first, 3, 3],
    ['a commit at the tip of another branch', ({ tip }) => tip, 3, 4],
    ['a commit of another branch', ({ behind }) => behind, 3, 5],
    ['a commit behind a tag', ({ tagged }) => tagged, 3, 4],
    ['a commit that shares nothing with the default branch', ({ unrelated }) => unrelated, 3, 5],
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
    'of %s, by somebody who sees more: the same, and one of git a minute later, by which everyone looks',
    async (_, refOf, rest, git) => {
      await app.close()
      app = await start(github => github.personalToken(github.user('acme')))
      const ref = refOf(await makeSide())
      const address = `${ADDRESS}${ref === null ? '' : `@${encodeURIComponent(ref)}`}`
      await app.open(address)
      expect(counts()).toEqual({ rest, git })
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

  test('of a ref that is neither a branch nor a tag: none but those for the repository', async () => {
    await makeSide()
    for (const ref of ['refs/pull/1/head', 'HEAD'])
      expect((await mount(`${ADDRESS}@${encodeURIComponent(ref)}`)).json.error.code).toBe('mount.ref_not_found')
    expect(counts()).toEqual({ rest: 1, git: 1 })
  })

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
    expect(counts()).toEqual({ rest: 3, git: 4 })
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

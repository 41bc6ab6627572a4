import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { ADDRESS, FILES, githubMounts } from './support/github-address.ts'
import { makeNamedCommits, REFS } from './support/named-commits.ts'

let app: TestApp
const { mount, learnToken } = githubMounts(() => app)
const counts = () => ({ rest: app.github.log.rest.length, git: app.github.log.git.length })

beforeEach(async () => {
  app = await testApp(
    { 'acme/tools': FILES, 'acme/empty': {} },
    { blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore(), github: { withToken: true } },
  )
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

describe('the requests of an address', () => {
  beforeEach(learnToken)

  test.each(REFS)(
    'of %s: some for the first visit, none for the next, and one 304 a minute later',
    async (_, refOf, rest, git) => {
      const ref = refOf(await makeNamedCommits(app))
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

  test('of a ref that is neither a branch nor a tag: only those for the repository', async () => {
    await makeNamedCommits(app)
    for (const ref of ['refs/pull/1/head', 'HEAD'])
      expect((await mount(`${ADDRESS}@${encodeURIComponent(ref)}`)).json.error.code).toBe('mount.ref_not_found')
    expect(counts()).toEqual({ rest: 1, git: 1 })
  })

  test('of a ref that does not exist: none to the API, and one to git a minute, for any number of names', async () => {
    await app.open(ADDRESS)
    app.github.log.clear()
    for (let name = 0; name < 50; name++)
      expect((await mount(`${ADDRESS}@none-${name}`)).json.error.code).toBe('mount.ref_not_found')
    expect(counts()).toEqual({ rest: 0, git: 1 })
  })

  test('of a tag: another one to git five minutes later, which detects a branch of the same name', async () => {
    const { tagged, tip } = await makeNamedCommits(app)
    await app.open(`${ADDRESS}@v1`)
    await app.repository('acme/tools').branch('v1', tip)
    app.advanceClock(61)
    expect((await mount(`${ADDRESS}@v1`)).json.commit).toBe(tagged)
    app.advanceClock(240)
    expect((await mount(`${ADDRESS}@v1`)).json.commit).toBe(tip)
  })

  test('are no more for twenty simultaneous visitors, who leave one job', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => mount()))
    expect(answers.map(({ json }) => json.index.status)).toEqual(answers.map(() => 'indexing'))
    expect(await app.index()).toBe(1)
    expect(counts()).toEqual({ rest: 2, git: 3 })
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

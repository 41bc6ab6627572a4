import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { ADDRESS, FILES, githubMounts } from './support/github-address.ts'
import { makeNamedCommits, REFS } from './support/named-commits.ts'

let app: TestApp
const { mount } = githubMounts(() => app)
const counts = () => ({ rest: app.github.log.rest.length, git: app.github.log.git.length })

beforeEach(async () => {
  app = await testApp(
    { 'acme/tools': FILES },
    {
      blobs: createMemoryBlobStore(systemClock),
      states: createMemoryStateStore(),
      github: { withToken: true, tokenOf: github => github.personalToken(github.user('acme')) },
    },
  )
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

test.each(REFS)(
  'the requests of %s, with a token that sees more: the same and one to git, and another a minute later as everyone',
  async (_, refOf, rest, git) => {
    const ref = refOf(await makeNamedCommits(app))
    const address = `${ADDRESS}${ref === null ? '' : `@${encodeURIComponent(ref)}`}`
    await app.open(address)
    // Before a job reads with the token, everybody is asked once more, which costs no quota.
    expect(counts()).toEqual({ rest, git: git + 1 })
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

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { describeAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, create, look, asked } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

/** Questions of one hour without a token. */
const HOUR = 60
/** The part that names, hashes and accounts which may not exist use at most, each. */
const SHARE = HOUR / 5

const madeUp = (number: number) => number.toString(16).padStart(40, 'a')
const spent = () => HOUR - (host.quota?.()?.remaining ?? HOUR)

async function createWithCommit() {
  const repository = await create()
  return { repository, commit: await repository.commit({ a: repository.name }) }
}

/** A repository that this host has not been asked for is opened, and so is one that it knows. */
async function expectOpen(known?: { repository: TestRepository; commit: string }): Promise<void> {
  const { repository, commit } = await createWithCommit()
  expect(await look(repository, null, host), 'new').toEqual(ok(commit))
  github.clock.advance(61)
  if (known) expect(await look(known.repository, null, host), 'known').toEqual(ok(known.commit))
}

describe('an hour of the API outlasts', () => {
  test('a hundred made-up names, one after another and at once: git tells that they are nothing', async () => {
    for (let name = 0; name < 60; name++) expect(await host.repository('acme', `none-${name}`)).toEqual(MISSING)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, name) => host.repository(`none-${name}`, 'tools')))
    for (const answer of answers) expect(answer.status).toMatch(/^(missing|unavailable)$/)
    expect(asked()).toEqual([])
    github.log.clear()
    for (let name = 0; name < 60; name++) await host.repository('acme', `none-${name}`)
    expect(github.log.all, 'a name that was missing is not looked at again').toEqual([])
    await expectOpen()
  })

  test.each<[string, Parameters<typeof github.faults.add>[0]]>([
    ['breaks off', { reset: true, match: { host: 'web' } }],
    [
      'is throttled',
      { status: 429, body: 'Too many requests\n', headers: { 'content-type': 'text/plain' }, match: { host: 'web' } },
    ],
    [
      'asks for a credential',
      { status: 401, body: 'Authentication required\n', headers: { 'content-type': 'text/plain' }, match: { host: 'web' } },
    ],
  ])('made-up names while git %s, which says nothing about a repository', async (_, fault) => {
    const known = await createWithCommit()
    expect(await look(known.repository, null, host)).toEqual(ok(known.commit))
    github.faults.add({ ...fault, times: 1_000 })
    const { repository } = await createWithCommit()
    expect(await host.repository('acme', repository.name)).toMatchObject({ status: 'ok' })
    for (let name = 0; name < 100; name++)
      expect((await host.repository('acme', `none-${name}`)).status).toMatch(/^(missing|rate_limited)$/)
    expect(spent()).toBeLessThanOrEqual(SHARE + 4)
    github.faults.clear()
    await expectOpen(known)
  })

  test('made-up hashes: git proves what is pinned, once the share of the API is spent', async () => {
    const { repository, commit } = await createWithCommit()
    const latest = await repository.commit({ a: 'latest' })
    const described = await describeAt(host, repository)
    for (let hash = 0; hash < 60; hash++) expect(await host.resolve(described, madeUp(hash))).toEqual(MISSING)
    expect(spent()).toBeLessThanOrEqual(SHARE + 2)
    expect(await host.resolve(described, commit)).toEqual(ok(commit))
    await expectOpen({ repository, commit: latest })
  })

  test('made-up accounts', async () => {
    for (let login = 0; login < 60; login++)
      expect((await host.accounts?.account(`none-${login}`))?.status).toMatch(/^(missing|rate_limited)$/)
    expect(spent()).toBeLessThanOrEqual(SHARE + 1)
    await expectOpen()
  })
})

test('a made-up hash is asked about once while branches and tags stay, however often it is asked for', async () => {
  const { repository } = await createWithCommit()
  const described = await describeAt(host, repository)
  expect(await host.resolve(described, madeUp(1))).toEqual(MISSING)
  for (let minute = 0; minute < 5; minute++) {
    github.clock.advance(60)
    github.log.clear()
    expect(await host.resolve(described, madeUp(1))).toEqual(MISSING)
    expect(asked()).toEqual([])
    expect(github.log.git.map(({ git }) => git?.command)).toEqual(['ls-refs'])
  }
})

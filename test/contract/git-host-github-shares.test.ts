import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AccountDirectory, GitHost } from '#core/ports/git-host.ts'
import { answered } from '#test/support/answered.ts'
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
/** The part that names, hashes, refs, accounts and pages of accounts use at most, each. */
const SHARE = HOUR / 5
/** The part that they use at most together. */
const ALL_SHARES = (HOUR * 2) / 5

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
  test('a hundred invented names, sequential and concurrent: git answers that they do not exist', async () => {
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
  ])('invented names while git %s, which proves nothing about a repository', async (_, fault) => {
    const known = await createWithCommit()
    expect(await look(known.repository, null, host)).toEqual(ok(known.commit))
    github.faults.add({ ...fault, times: 1_000 })
    const { repository } = await createWithCommit()
    expect(await host.repository('acme', repository.name)).toMatchObject({ status: 'ok' })
    for (let name = 0; name < 100; name++)
      expect((await host.repository('acme', `none-${name}`)).status).toMatch(/^(missing|rate_limited)$/)
    expect(spent()).toBeLessThanOrEqual(SHARE + 4)
    github.faults.clear()
    // A host that limits git is not asked by git for a minute.
    github.clock.advance(61)
    await expectOpen(known)
  })

  test('invented hashes: git proves pinned commits once the share of the API is spent', async () => {
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

  test('made-up accounts at once, as the first questions of this process and of an hour', async () => {
    for (const hour of ['first', 'next']) {
      await Promise.all(Array.from({ length: 40 }, (_, login) => host.accounts?.account(`none-${hour}-${login}`)))
      expect(spent()).toBeLessThanOrEqual(SHARE)
      await expectOpen()
      github.clock.advance(3_601)
    }
  })

  test('invented full refs: git answers that they do not exist', async () => {
    const { repository } = await createWithCommit()
    const described = await describeAt(host, repository)
    github.log.clear()
    for (let ref = 0; ref < 60; ref++) {
      for (const folder of ['heads', 'tags']) expect(await host.resolve(described, `refs/${folder}/none-${ref}`)).toEqual(MISSING)
    }
    expect(asked()).toEqual([])
    expect(github.log.git).toHaveLength(1)
    await expectOpen()
  })

  test.each(['none', 'refs/heads/none'])('made-up refs such as %s while git is throttled', async name => {
    const { repository } = await createWithCommit()
    const described = await describeAt(host, repository)
    const throttled = { status: 429, body: 'Too many requests\n', headers: { 'content-type': 'text/plain' } }
    github.faults.add({ ...throttled, match: { host: 'web' }, times: 1_000 })
    for (let ref = 0; ref < 60; ref++)
      expect((await host.resolve(described, `${name}-${ref}`)).status).toMatch(/^(missing|rate_limited|unavailable)$/)
    expect(spent()).toBeLessThanOrEqual(SHARE + 2)
    github.faults.clear()
    await expectOpen()
  })

  test.each(['', 'refs/heads/'])(
    'sixty branches of one repository by %j and their names, minute by minute: git reports their tips',
    async prefix => {
      const { repository, commit } = await createWithCommit()
      for (let branch = 0; branch < 60; branch++) await repository.branch(`branch-${branch}`, commit)
      const described = await describeAt(host, repository)
      for (let minute = 0; minute < 3; minute++) {
        for (let branch = 0; branch < 60; branch++)
          expect(await host.resolve(described, `${prefix}branch-${branch}`)).toEqual(ok(commit))
        github.clock.advance(61)
      }
      expect(spent()).toBeLessThanOrEqual(SHARE + 1)
      await expectOpen({ repository, commit })
    },
  )

  test('pages of an account behind its last one, which are not asked for, and those of a large account', async () => {
    const { repository } = await createWithCommit()
    const accounts = accountsOf(host)
    const account = answered(await accounts.account(repository.owner))
    github.log.clear()
    for (let page = Math.ceil(account.publicRepositories / 30) + 1; page <= 100; page++)
      expect(await accounts.repositories(account, page)).toEqual(ok({ items: [], hasNext: false }))
    expect(github.log.all).toEqual([])
    for (let minute = 0; minute < 2; minute++) {
      for (let page = 2; page <= 40; page++)
        expect((await accounts.repositories({ ...account, publicRepositories: 3_000 }, page)).status).toMatch(
          /^(ok|rate_limited)$/,
        )
      github.clock.advance(61)
    }
    expect(spent()).toBeLessThanOrEqual(SHARE + 2)
    await expectOpen()
  })

  test('all of these together', async () => {
    const { repository, commit } = await createWithCommit()
    const described = await describeAt(host, repository)
    for (let branch = 0; branch < 20; branch++) await repository.branch(`branch-${branch}`, commit)
    for (let number = 0; number < 20; number++) {
      await Promise.all([
        host.resolve(described, `branch-${number}`),
        host.resolve(described, madeUp(number)),
        host.accounts?.account(`none-${number}`),
      ])
    }
    expect(spent()).toBeLessThanOrEqual(ALL_SHARES + 1)
    await expectOpen()
  })
})

/** The stand-in's host, which has accounts. */
function accountsOf({ accounts }: GitHost): AccountDirectory {
  if (!accounts) throw new Error('the host has no accounts')
  return accounts
}

test('an invented hash is asked about once while branches and tags stay, for any number of requests', async () => {
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

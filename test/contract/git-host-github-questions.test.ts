import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { describeAt, listAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, create, open, shownAs, look, asked } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

describe('requests to the host', () => {
  test('are two for a first visit, none for another within a minute, and then one that is answered as unchanged', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const at = await open({ token: github.personalToken(github.user('reader'), []) })
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(asked()).toEqual([`/repos/acme/${repository.name} 200`, `/repos/acme/${repository.name}/commits/heads%2Fmain 200`])
    github.log.clear()
    github.clock.advance(59)
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(asked()).toEqual([])
    github.clock.advance(2)
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(asked()).toEqual([`/repos/acme/${repository.name}/commits/heads%2Fmain 304`])
    expect(github.log.rest.every(({ counted }) => !counted)).toBe(true)
  })

  test('are made once for twenty simultaneous visitors', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => look(repository)))
    expect(answers).toEqual(answers.map(() => ok(commit)))
    expect(asked()).toHaveLength(2)
  })

  test('are never so many at once that the host refuses everybody', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const at = await open({ token: github.personalToken(github.user('reader'), []) })
    github.faults.add({ delaySeconds: 0.2, times: 200, match: { host: 'api' } })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => at.repository('acme', `none-${index}`)))
    const refused = answers.filter(({ status }) => status !== 'missing')
    expect(refused).toEqual(refused.map(() => ({ status: 'unavailable', retryAfterSeconds: 1 })))
    expect(github.log.rest.map(({ status }) => status)).toEqual(github.log.rest.map(() => 404))
    github.faults.clear()
    expect(await look(repository, null, at)).toEqual(ok(commit))
  })

  test('are none for names outside the form of GitHub', async () => {
    for (const [owner, name] of [
      ['-acme', 'tools'],
      ['a'.repeat(40), 'tools'],
      ['ac.me', 'tools'],
      ['acme', '..'],
      ['acme', 'tools.git'],
      ['acme', 'to ols'],
      ['acme', `${'n'.repeat(101)}`],
    ] as const) {
      expect(await host.repository(owner, name)).toEqual(MISSING)
    }
    expect(github.log.all).toEqual([])
  })

  test('have the version of the API, the user agent of the service and the token, which git receives too', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const token = github.personalToken(github.user('reader'), [])
    const at = await open({ token })
    await look(repository, null, at)
    await listAt(at, repository, commit)
    for (const { headers, credential } of github.log.rest) {
      expect(headers).toMatchObject({ 'x-github-api-version': '2026-03-10', 'user-agent': expect.stringContaining('mountglass') })
      expect(credential).toBe('personal')
    }
    // The first look is taken as nobody, since it is not known yet what the token may see.
    expect(github.log.git.map(({ credential }) => credential)).toEqual(['anonymous', 'personal'])
    expect(JSON.stringify(github.log.all.map(({ path }) => path))).not.toContain(token)
  })

  test('may have a token of the new, long form', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const owner = github.organization('installed')
    const token = github.installationToken(github.install(github.app('reading-app'), owner))
    expect(token.length).toBeGreaterThan(500)
    const at = await open({ token })
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(await listAt(at, repository, commit)).toMatchObject({ entries: [{ path: 'a' }] })
  })
})

describe('a limit', () => {
  test.each([403, 429] as const)(
    'of the hour, signalled by %i, has its seconds; known repositories are still served',
    async status => {
      const repository = await create()
      const commit = await repository.commit({ a: 'a' })
      expect(await look(repository)).toEqual(ok(commit))
      github.limits.exhaust(null, { status, seconds: 500 })
      const other = await create()
      expect(await look(other)).toEqual({ status: 'rate_limited', retryAfterSeconds: expect.any(Number) })
      github.clock.advance(120)
      github.log.clear()
      expect(await look(repository)).toEqual(ok(commit))
      const refused = await look(other)
      expect(refused).toMatchObject({ status: 'rate_limited' })
      if (refused.status === 'rate_limited') {
        expect(refused.retryAfterSeconds).toBeGreaterThan(370)
        expect(refused.retryAfterSeconds).toBeLessThanOrEqual(381)
      }
      expect(github.log.rest).toEqual([])
      expect(github.log.git.map(({ git }) => git?.command)).toEqual(['ls-refs'])
      github.clock.advance(400)
      expect(await look(other)).toEqual(MISSING)
      expect(github.log.rest.length).toBeGreaterThan(0)
    },
  )

  describe.each([
    ['an anonymous client', () => null],
    ['a token that sees more', () => github.personalToken(github.user('acme'))],
  ])('of the hour of %s', (_, tokenOf) => {
    let at: GitHost
    let token: string | null
    beforeEach(async () => {
      token = tokenOf()
      at = await open({ token })
    })

    /** A repository whose default branch, tag and commit somebody has looked at. */
    async function looked(): Promise<{ repository: TestRepository; refs: (string | null)[]; commit: CommitSha }> {
      const repository = await create()
      const commit = await repository.commit({ a: 'a' })
      await repository.tag('v1', commit)
      const refs = [null, 'v1', commit]
      for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      return { repository, refs, commit }
    }

    test('does not hide known repositories: git reports their tips each minute for free', async () => {
      const { repository, refs, commit } = await looked()
      github.limits.exhaust(token, { seconds: 3_500 })
      github.log.clear()
      for (let minute = 1; minute < 58; minute++) {
        github.clock.advance(60)
        for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      }
      expect(github.log.rest.map(({ status }) => status)).toEqual([403])
      expect(github.log.git.length).toBeLessThanOrEqual(2 * 58)
      const next = await repository.commit({ a: 'next' })
      github.clock.advance(60)
      expect(await look(repository, null, at)).toEqual(ok(next))
    })

    test('does not let a branch stand for another one, though its name begins with that and a blank', async () => {
      const { repository, commit } = await looked()
      const next = await repository.commit({ a: 'unreviewed' }, { branch: null })
      await repository.branch('main\u00a0next', next)
      github.limits.exhaust(token, { seconds: 3_500 })
      github.clock.advance(60)
      for (const ref of [null, 'main']) expect(await look(repository, ref, at)).toEqual(ok(commit))
    })

    test.each<[string, (shown: Repository) => void]>([
      ['private', shown => Object.assign(shown, { visibility: 'private' })],
      ['blocked by law', shown => Object.assign(shown, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })],
      ['blocked by terms', shown => Object.assign(shown, { blocked: { reason: 'tos', createdAt: '2026-01-01T00:00:00Z' } })],
      ['removed', shown => github.world.remove(shown)],
    ])('does not keep a repository visible that becomes %s within it', async (_, hide) => {
      const { repository, refs, commit } = await looked()
      github.limits.exhaust(token, { seconds: 3_500 })
      github.clock.advance(1_000)
      for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      hide(await shownAs(repository))
      github.clock.advance(60)
      for (const ref of refs) expect((await look(repository, ref, at)).status).toMatch(/^(gone|missing)$/)
    })

    test('keeps known repositories for ten minutes if git does not answer either', async () => {
      const { repository, refs, commit } = await looked()
      github.limits.exhaust(token, { seconds: 3_500 })
      github.faults.add({ reset: true, times: 1_000, match: { host: 'web' } })
      github.clock.advance(500)
      for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      github.clock.advance(200)
      for (const ref of refs) expect((await look(repository, ref, at)).status).toBe('rate_limited')
    })
  })

  test('is not reached by unknown names: known repositories are checked all the hour', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const token = github.personalToken(github.user('reader'), [])
    const at = await open({ token })
    github.limits.set('personal', 50)
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(at.quota?.()).toEqual({ limit: 50, remaining: 48, resetsAt: expect.any(Date) })
    const others = []
    for (let name = 0; name < 40; name++) others.push(await create())
    const answers = []
    for (const { owner, name } of others) answers.push(await at.repository(owner, name))
    expect(answers.filter(({ status }) => status === 'ok')).toHaveLength(38)
    expect(answers.at(-1)).toEqual({ status: 'rate_limited', retryAfterSeconds: expect.any(Number) })
    expect(at.quota?.()).toMatchObject({ remaining: 10 })
    github.log.clear()
    for (let minute = 1; minute < 59; minute++) {
      github.clock.advance(60)
      await at.repository('acme', `none-${minute}-later`)
      expect(await look(repository, null, at)).toEqual(ok(commit))
    }
    expect(at.quota?.()).toMatchObject({ remaining: 10 })
    expect(new Set(github.log.rest.map(({ status }) => status))).toEqual(new Set([304]))
    // The next hour has its own.
    github.clock.advance(200)
    expect(at.quota?.()).toBeNull()
    expect(await at.repository('acme', 'none-at-last')).toEqual(MISSING)
  })

  test('does not come nearer by refs that do not exist, however many', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    expect(await look(repository)).toEqual(ok(commit))
    github.limits.set('anonymous', 1_000_000)
    const described = await describeAt(host, repository)
    github.log.clear()
    for (let round = 0; round < 2; round++)
      await Promise.all(Array.from({ length: 25_000 }, (_, index) => host.resolve(described, `none-${index}`)))
    expect(await host.resolve(described, null)).toEqual(ok(commit))
    expect(asked()).toEqual([])
  })

  test.each([
    [403, 7, 7],
    [429, 7, 7],
    [403, null, 60],
    [429, 9_999_999_999, 3_600],
  ] as const)('of the moment, signalled by %i and %j, has %i seconds', async (status, retryAfterSeconds, told) => {
    const repository = await create()
    github.limits.secondary({ status, retryAfterSeconds })
    expect(await look(repository)).toEqual({ status: 'rate_limited', retryAfterSeconds: told })
  })
})

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { describeAt, LIMITS, listAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, repositories, create, open, shownAs, look } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

describe('a repository', () => {
  test('has the spelling and the id of the host', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const { id, owner } = await shownAs(repository, { description: '  Tools for paper\n' })
    const answer = await host.repository('ACME', repository.name.toUpperCase())
    expect(answer).toEqual(
      ok({
        id: `gh-${id}`,
        ownerId: `gh-${owner.id}`,
        host: 'gh',
        owner: 'acme',
        name: repository.name,
        defaultBranch: 'main',
        description: 'Tools for paper',
        avatar: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/u\/\d+/),
        visibility: 'public',
      }),
    )
  })

  test('that was renamed answers under its new name with the same id, even for an earlier look-up', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const before = await describeAt(host, repository)
    const shown = await shownAs(repository)
    github.world.rename(shown, { owner: github.organization('moved'), name: 'kit' })
    expect(await host.resolve(before, null)).toEqual(ok(commit))
    github.clock.advance(301)
    const after = await host.repository('acme', repository.name)
    expect(after).toMatchObject({ status: 'ok', value: { id: before.id, owner: 'moved', name: 'kit' } })
    expect(await look({ owner: 'Moved', name: 'KIT' })).toEqual(ok(commit))
    if (after.status === 'ok')
      expect(host.urls.raw(after.value, commit, 'a')).toBe(`${github.origins.web}/moved/kit/raw/${commit}/a`)
  })

  test.each([
    ['absent', null],
    ['private', { visibility: 'private' }],
    ['internal', { visibility: 'internal' }],
    ['blocked by law', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } }],
    ['blocked by terms', { blocked: { reason: 'tos', createdAt: '2026-01-01T00:00:00Z' } }],
  ] as const)('that is %s is missing after one question, and is not asked for again at once', async (_, changes) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    if (changes === null) github.world.remove(await shownAs(repository))
    else await shownAs(repository, changes)
    // Also for a credential that sees it: this service shows everyone the same.
    for (const token of [null, github.personalToken(github.user('acme'))]) {
      github.log.clear()
      const at = await open({ token })
      expect(await at.repository('acme', repository.name)).toEqual(MISSING)
      expect(await at.repository('acme', repository.name)).toEqual(MISSING)
      expect(github.log.all).toHaveLength(1)
      expect(github.log.all[0]?.credential).toBe('anonymous')
    }
  })

  test('is not asked for with a token that sees more while anonymous look-ups fail, unless it was public minutes ago', async () => {
    const [known, other] = [await create(), await create()]
    const commit = await known.commit({ a: 'a' })
    await other.commit({ a: 'a' })
    const at = await open({ token: github.personalToken(github.user('acme')) })
    expect(await look(known, null, at)).toEqual(ok(commit))
    github.clock.advance(61)
    github.faults.add({ reset: true, times: 99, match: { host: 'web' } })
    github.log.clear()
    expect(await at.repository('acme', other.name)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(github.log.rest).toEqual([])
    expect(await look(known, null, at)).toEqual(ok(commit))
  })

  test('is missing within a minute after it became private, blocked or removed: by a ref and by a commit', async () => {
    const hide: ((shown: Repository) => void)[] = [
      shown => Object.assign(shown, { visibility: 'private' }),
      shown => Object.assign(shown, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } }),
      shown => github.world.remove(shown),
    ]
    for (const token of [null, github.personalToken(github.user('acme'))]) {
      for (const hideOne of hide) {
        for (const isPinned of [false, true]) {
          const repository = await create()
          const commit = await repository.commit({ a: 'a' })
          const ref = isPinned ? commit : null
          const at = await open({ token })
          expect(await look(repository, ref, at)).toEqual(ok(commit))
          hideOne(await shownAs(repository))
          github.clock.advance(60)
          expect((await look(repository, ref, at)).status).toMatch(/^(gone|missing)$/)
          expect(await at.repository('acme', repository.name)).toEqual(MISSING)
        }
      }
    }
  })
})

describe('a ref', () => {
  test('of a branch and a tag is the branch, whichever the host prefers', async () => {
    const repository = await create()
    const first = await repository.commit({ a: '1' })
    const second = await repository.commit({ a: '2' })
    await repository.tag('both', first)
    await repository.branch('both', second)
    for (const preferred of ['branch', 'tag'] as const) {
      github.world.ambiguousRefs = preferred
      expect(await look(repository, 'both', await open())).toEqual(ok(second))
      expect(await look(repository, 'refs/tags/both', await open())).toEqual(ok(first))
    }
  })

  test('of an empty repository is missing', async () => {
    const repository = await create()
    expect(await look(repository)).toEqual(MISSING)
    expect(await look(repository, 'main')).toEqual(MISSING)
    expect(await look(repository, 'a'.repeat(40))).toEqual(MISSING)
  })

  test('of 250 characters, or one like an option, reaches the host as one name and never a command line', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const long = 'n'.repeat(250)
    await repository.branch(long, commit)
    expect(await look(repository, long)).toEqual(ok(commit))
    expect(await look(repository, `${'m'.repeat(250)}`)).toEqual(MISSING)
    github.log.clear()
    for (const ref of ['-x', '--upload-pack=touch /tmp/mountglass-was-here', '--all'])
      expect(await look(repository, ref)).toEqual(MISSING)
    expect(github.log.all).toEqual([])
    await expect(host.open(await describeAt(host, repository), '--upload-pack=touch' as CommitSha, LIMITS)).rejects.toMatchObject(
      { code: 'index.fetch_failed' },
    )
    expect(github.log.git).toEqual([])
  })
})

test('an Enterprise Server is asked and read below its own address', async () => {
  const enterprise = await startFakeGitHub({ root: repositories.root, enterprise: true })
  try {
    const at = await open({}, enterprise)
    const repository = await create()
    const commit = await repository.commit({ 'a.md': 'a' })
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(await listAt(at, repository, commit)).toMatchObject({ entries: [{ path: 'a.md' }] })
    expect(enterprise.log.rest.every(({ path }) => path.startsWith('/api/v3/'))).toBe(true)
    expect(enterprise.mistakes).toEqual([])
  } finally {
    await enterprise.close()
  }
})

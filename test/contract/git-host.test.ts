import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { describeAt, MISSING, ok, resolveAt } from './git-host-asking.ts'
import { type DriverScene, GIT_HOST_DRIVERS, openDriverScene } from './git-host-drivers.ts'

describe.each(GIT_HOST_DRIVERS)('the git host $segment', driver => {
  let scene: DriverScene
  let host: GitHost
  const create = () => scene.create()

  beforeAll(async () => {
    scene = await openDriverScene(driver)
    host = scene.host
  })
  afterAll(() => scene.close())

  test('the branches and tags of a repository are listed, loose and packed, and a new one is listed in time', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: '1' })
    await repository.branch('feature/x', commit)
    await repository.tag('v1', commit)
    await repository.git('pack-refs', '--all')
    await repository.tag('v2', commit)
    const listed = async () => {
      const answer = await host.refs(await describeAt(host, repository))
      return answer.status === 'ok' ? Object.fromEntries(answer.value) : answer.status
    }
    const refs = { 'refs/heads/main': commit, 'refs/heads/feature/x': commit, 'refs/tags/v1': commit, 'refs/tags/v2': commit }
    expect(await listed()).toEqual(refs)
    await repository.branch('next', commit)
    scene.pass()
    expect(await listed()).toEqual({ ...refs, 'refs/heads/next': commit })
  })

  describe('a repository', () => {
    test('is described with a stable id, its spelling and its default branch', async () => {
      const repository = await create()
      await repository.commit({ 'a.md': 'a' }, { branch: 'trunk' })
      await repository.setDefaultBranch('trunk')
      const described = await describeAt(host, repository)
      expect(described).toMatchObject({
        host: driver.segment,
        owner: 'acme',
        name: repository.name,
        defaultBranch: 'trunk',
        visibility: 'public',
      })
      expect(described.id).toMatch(new RegExp(`^${driver.segment}-[a-z0-9-]+$`))
      expect(await describeAt(host, repository)).toEqual(described)
      // Callers share it.
      expect(described).toSatisfy(Object.isFrozen)
    })

    test('follows the move of its default branch at once', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' }, { branch: 'next' })
      expect(await resolveAt(host, repository, null)).toEqual(ok(first))
      await repository.setDefaultBranch('next')
      scene.pass()
      expect((await describeAt(host, repository)).defaultBranch).toBe('next')
      expect(await resolveAt(host, repository, null)).toEqual(ok(second))
    })

    test('without commits exists, and has no ref', async () => {
      const repository = await create()
      expect((await describeAt(host, repository)).defaultBranch).toBe('main')
      for (const ref of [null, 'main', 'HEAD', 'a'.repeat(40)]) expect(await resolveAt(host, repository, ref)).toEqual(MISSING)
    })

    test.each([
      ['acme', 'nothing'],
      ['nobody', 'tools'],
      ['acme', '..'],
      ['..', 'acme'],
      ['acme', '.'],
      ['acme', ''],
      ['', ''],
      ['acme', '.hidden'],
      ['acme', 'a/b'],
      ['acme', 'a\0b'],
      ['acme', 'a\nb'],
      ['acme', '-x'],
      ['acme', 'n'.repeat(101)],
      ['acme', 'ünïcode'],
    ])('is missing under the name %j / %j', async (owner, name) => {
      expect(await host.repository(owner, name)).toEqual(MISSING)
    })
  })

  describe('a ref', () => {
    let repository: TestRepository
    let first: CommitSha
    let second: CommitSha
    let other: CommitSha
    let unreachable: CommitSha

    beforeAll(async () => {
      repository = await create()
      first = await repository.commit({ 'a.md': '1' })
      second = await repository.commit({ 'a.md': '2' })
      other = await repository.commit({ 'b.md': '1' }, { branch: 'feature/x/y' })
      unreachable = await repository.commit({ 'secret.md': '1' }, { branch: null })
      await repository.tag('v1', first)
      const annotated = await repository.tag('v1-annotated', first, { annotated: true })
      await repository.tag('v1-nested', annotated, { annotated: true, targetType: 'tag' })
      await repository.branch('both', other)
      await repository.tag('both', first)
      const blob = await repository.writeBlob('blob')
      const tree = await repository.oidAt(second, '')
      await repository.tag('of-blob', blob)
      await repository.tag('of-tree', tree)
      await repository.tag('of-blob-annotated', blob, { annotated: true, targetType: 'blob' })
      await repository.git('update-ref', 'refs/pull/1/head', other)
      await repository.git('update-ref', 'refs/remotes/origin/main', other)
      await repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/feature/x/y')
    })

    test('of a branch, a tag or the default branch gives its commit', async () => {
      expect(await resolveAt(host, repository, null)).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'main')).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'feature/x/y')).toEqual(ok(other))
      expect(await resolveAt(host, repository, 'v1')).toEqual(ok(first))
    })

    test('in full gives its commit, if it is a branch or a tag', async () => {
      expect(await resolveAt(host, repository, 'refs/heads/main')).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'refs/tags/both')).toEqual(ok(first))
      expect(await resolveAt(host, repository, 'refs/pull/1/head')).toEqual(MISSING)
      expect(await resolveAt(host, repository, 'refs/remotes/origin/main')).toEqual(MISSING)
      expect(await resolveAt(host, repository, 'refs/test/unreachable')).toEqual(MISSING)
      expect(await resolveAt(host, repository, 'HEAD')).toEqual(MISSING)
    })

    test('of an annotated tag, or of a tag of a tag, gives the commit behind it', async () => {
      expect(await resolveAt(host, repository, 'v1-annotated')).toEqual(ok(first))
      expect(await resolveAt(host, repository, 'v1-nested')).toEqual(ok(first))
    })

    test('of the name of a branch and a tag is the branch', async () => {
      expect(await resolveAt(host, repository, 'both')).toEqual(ok(other))
    })

    // git forbids the space in names, and no other character that only looks like one.
    test.each(['\u00a0', '\u3000', '\ufeff'])('with a blank and %j behind its name is another ref', async blank => {
      const spaced = await create()
      const commits = [await spaced.commit({ a: '1' }), await spaced.commit({ a: '2' }), await spaced.commit({ a: '3' })] as const
      await spaced.branch('main', commits[0])
      await spaced.tag('v1', commits[0])
      await spaced.branch(`main${blank}next`, commits[1])
      await spaced.branch(`v1${blank}next`, commits[2])
      expect(await resolveAt(host, spaced, 'main')).toEqual(ok(commits[0]))
      expect(await resolveAt(host, spaced, 'v1')).toEqual(ok(commits[0]))
      expect(await resolveAt(host, spaced, `main${blank}next`)).toEqual(ok(commits[1]))
      expect(await resolveAt(host, spaced, `v1${blank}next`)).toEqual(ok(commits[2]))
      await spaced.setDefaultBranch(`main${blank}next`)
      scene.pass()
      expect(await resolveAt(host, spaced, null)).toEqual(ok(commits[1]))
    })

    test('that points at another ref gives the commit of that ref, and follows it', async () => {
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(other))
      await repository.branch('feature/x/y', first)
      scene.pass()
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(first))
      await repository.branch('feature/x/y', other)
      scene.pass()
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(other))
    })

    test('of a full commit hash, in either case, gives the commit if a branch or tag leads to it', async () => {
      expect(await resolveAt(host, repository, first)).toEqual(ok(first))
      expect(await resolveAt(host, repository, first.toUpperCase())).toEqual(ok(first))
      expect(await resolveAt(host, repository, other)).toEqual(ok(other))
      expect(await resolveAt(host, repository, unreachable)).toEqual(MISSING)
    })

    test('of an unreachable commit is found as soon as a branch leads to it', async () => {
      const late = await repository.commit({ 'late.md': '1' }, { branch: null })
      expect(await resolveAt(host, repository, late)).toEqual(MISSING)
      await repository.branch('late', late)
      scene.pass()
      expect(await resolveAt(host, repository, late)).toEqual(ok(late))
    })

    test('of a commit with a wrong clock is found behind its younger-looking descendants', async () => {
      const skewed = await create()
      const root = await skewed.commit({ a: '0' }, { date: 4_000_000_000 })
      for (let step = 1; step <= 12; step++) await skewed.commit({ a: String(step) }, { date: 1_000_000_000 + step })
      expect(await resolveAt(host, skewed, root)).toEqual(ok(root))
    })

    test.each([
      'nope',
      'refs',
      'refs/heads',
      'refs/heads/nope',
      'heads/main',
      'feature',
      'feature/x',
      'main/',
      '/main',
      'main~1',
      'main^',
      'main^{tree}',
      'main^{/2}',
      'HEAD~1',
      'HEAD@{1}',
      '@',
      '@{u}',
      ':/Change',
      'main:a.md',
      'v1-annotated^{}',
      'main..v1',
      'ma*',
      'mai?',
      '[m]ain',
      'm\\ain',
      '-x',
      '--all',
      '--upload-pack=touch /tmp/mountglass-was-here',
      '../../HEAD',
      'refs/../HEAD',
      'refs/heads/../../HEAD',
      'main\n',
      'main\0',
      ' main',
      'main.lock',
      '',
      'of-blob',
      'of-tree',
      'of-blob-annotated',
      'packed-refs',
      'FETCH_HEAD',
      'n'.repeat(300),
      '\ud800',
    ])('%j is missing', async ref => {
      expect(await resolveAt(host, repository, ref)).toEqual(MISSING)
    })

    test('of an abbreviated, longer or unknown hash, or of the hash of a tree or blob, is missing', async () => {
      const tree = await repository.oidAt(second, '')
      const blob = await repository.oidAt(second, 'a.md')
      for (const hash of [second.slice(0, 8), second.slice(0, 39), `${second}0`, '0'.repeat(40), 'f'.repeat(40), tree, blob]) {
        expect(await resolveAt(host, repository, hash)).toEqual(MISSING)
      }
    })

    test('that points at a missing commit names none, until the commit exists', async () => {
      const gone = await create()
      await gone.commit({ a: '1' })
      const lost = await gone.commit({ a: '2' }, { branch: 'lost' })
      const described = await describeAt(host, gone)
      const body = await gone.git('cat-file', 'commit', lost)
      await gone.dropObject(lost)
      // Who has the objects knows that one is lost.
      const damaged = { status: 'unavailable', retryAfterSeconds: null, reason: 'damaged' }
      expect(await host.resolve(described, 'lost')).toEqual(driver.segment === 'local' ? damaged : MISSING)
      expect(await gone.writeObject('commit', body)).toBe(lost)
      scene.pass()
      expect(await host.resolve(described, 'lost')).toEqual(ok(lost))
    })

    test.runIf(driver.segment === 'local')('of a commit whose tree is missing is damaged, also below a tip', async () => {
      const gone = await create()
      const older = await gone.commit({ a: '1' })
      const tag = await gone.tag('v1', older, { annotated: true })
      await gone.commit({ a: '2' })
      const described = await describeAt(host, gone)
      await gone.dropObject(await gone.oidAt(older, ''))
      const damaged = { status: 'unavailable', retryAfterSeconds: null, reason: 'damaged' }
      expect(await host.resolve(described, older)).toEqual(damaged)
      expect(await host.resolve(described, 'v1')).toEqual(damaged)
      // The hash of a tag names no commit.
      expect(await host.resolve(described, tag)).toEqual(MISSING)
      expect(await host.resolve(described, 'main')).toMatchObject({ status: 'ok' })
    })
  })

  test('the raw address of a file encodes every segment of its path', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const url = host.urls.raw(await describeAt(host, repository), commit, 'a b/%5B#?.md')
    expect(url).toContain(commit)
    expect(url).toMatch(/\/a%20b\/%255B%23%3F\.md$/)
  })
})

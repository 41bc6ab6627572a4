import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BlobSelection, GitHost, TreeEntry } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { INDEXED_BLOBS } from '#indexer/select-blobs.ts'
import { HISTORY_BOUNDS } from '#infra/git/histories.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { collect, describeAt, LIMITS, listAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

let repositories: TestRepositories
let github: FakeGitHub
let host: GitHost
let created = 0
const opened: GitHost[] = []

let temporary: string
const usualTemporary = process.env.TMPDIR

beforeAll(async () => {
  repositories = await createRepositories()
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-test-')))
  process.env.TMPDIR = temporary
  github = await startFakeGitHub({ root: repositories.root })
})

beforeEach(async () => {
  github.reset()
  github.world.ambiguousRefs = 'branch'
  host = await open()
})

afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await Promise.all(opened.splice(0).map(one => one.close()))
})

afterAll(async () => {
  await github.close()
  if (usualTemporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = usualTemporary
  await Promise.all([repositories.remove(), rm(temporary, { recursive: true })])
})

async function open(options: Parameters<typeof openGitHubHostAt>[1] = {}, at = github): Promise<GitHost> {
  const one = await openGitHubHostAt(at, options)
  opened.push(one)
  return one
}

const create = (): Promise<TestRepository> => repositories.create('acme', `tools-${++created}`)

/** The stand-in's side of the repository, whose fields say what it shows. */
async function shownAs(repository: TestRepository, changes: Partial<Repository> = {}): Promise<Repository> {
  const found = await github.world.repository(repository.owner, repository.name)
  if (!found) throw new Error('the stand-in does not serve the repository')
  return Object.assign(found, changes)
}

/** What a visitor of the repository is told: of its default branch, or of a ref. */
async function look(repository: Pick<TestRepository, 'owner' | 'name'>, ref: string | null = null, at = host) {
  const answer = await at.repository(repository.owner, repository.name)
  return answer.status === 'ok' ? at.resolve(answer.value, ref) : answer
}

/** Requests of the API since the log was cleared. */
const asked = () => github.log.rest.map(({ path, status }) => `${path} ${status}`)

describe('what is asked', () => {
  test('is two questions for a first visit, none for another within a minute, and then one that nothing changed', async () => {
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

  test('is asked once for twenty visitors at once', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => look(repository)))
    expect(answers).toEqual(answers.map(() => ok(commit)))
    expect(asked()).toHaveLength(2)
  })

  test('is never so much at once that the host refuses everybody', async () => {
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

  test('is nothing about names outside the form of GitHub', async () => {
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

  test('is said with the version of the API, a name of ours and the token, which git is given too', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const token = github.personalToken(github.user('reader'), [])
    const at = await open({ token })
    await look(repository, null, at)
    await listAt(at, repository, commit)
    for (const { headers, credential } of github.log.rest) {
      expect(headers).toMatchObject({ 'x-github-api-version': '2022-11-28', 'user-agent': expect.stringContaining('mountglass') })
      expect(credential).toBe('personal')
    }
    // The first look is taken as nobody, since it is not known yet what the token may see.
    expect(github.log.git.map(({ credential }) => credential)).toEqual(['anonymous', 'personal'])
    expect(JSON.stringify(github.log.all.map(({ path }) => path))).not.toContain(token)
  })

  test('may be asked with a token of the new, long form', async () => {
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

describe('a repository', () => {
  test('is spelled as the host spells it and has the id that the host gave it', async () => {
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

  test('that was renamed answers under its new name with the same id, also to what was resolved before', async () => {
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
  ] as const)('that is %s is missing, after one question, and is not asked for again at once', async (_, changes) => {
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

  test('is not asked for with a token that sees more while nobody can look as everyone, unless everyone saw it minutes ago', async () => {
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

  test('behind a single sign-on that the credential did not do is missing', async () => {
    const member = github.user('unsigned')
    github.organization('sealed', { members: new Map([[member, 'member']]), saml: { authorized: new Set() } })
    const repository = await repositories.create('sealed', 'tools')
    await repository.commit({ a: 'a' })
    const at = await open({ token: github.personalToken(member) })
    expect(await at.repository('sealed', 'tools')).toEqual(MISSING)
  })

  test('is shown no more within a minute after it went private, was blocked or removed: by a ref as by a commit', async () => {
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
  test('of a branch and a tag is the branch, whichever of them the host prefers', async () => {
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

  test('of 250 characters, or one that looks like an option, reaches the host as one name and no command line', async () => {
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

describe('a pinned commit', () => {
  test('of the default branch belongs by one question, for ever', async () => {
    const repository = await create()
    const first = await repository.commit({ a: '1' })
    await repository.commit({ a: '2' })
    expect(await look(repository, first)).toEqual(ok(first))
    expect(github.log.rest).toHaveLength(2)
    expect(github.log.git).toEqual([])
    github.log.clear()
    github.clock.advance(3600)
    expect(await look(repository, first)).toEqual(ok(first))
    expect(asked()).toEqual([`/repos/acme/${repository.name} 304`])
  })

  test('of another branch or an annotated tag belongs, at its tip and behind it; an unknown one costs no history', async () => {
    const repository = await create()
    await repository.commit({ a: '1' })
    const behind = await repository.commit({ b: '1' }, { branch: 'side' })
    const tip = await repository.commit({ b: '2' }, { branch: 'side' })
    const tagged = await repository.commit({ c: '1' }, { branch: null })
    const annotated = await repository.tag('v1', tagged, { annotated: true })
    await repository.tag('of-tree', await repository.oidAt(tip, ''))
    for (const commit of [tip, behind, tagged]) expect(await look(repository, commit)).toEqual(ok(commit))
    expect(await look(repository, annotated)).toEqual(MISSING)
    github.log.clear()
    expect(await look(repository, 'd'.repeat(40))).toEqual(MISSING)
    expect(github.log.git).toEqual([])
    github.clock.advance(61)
    expect(await look(repository, 'e'.repeat(40))).toEqual(MISSING)
    expect(github.log.git.map(({ git }) => git?.command)).toEqual(['ls-refs'])
  })

  test('of a fork is missing: the host gives it out under the name of the original, but nobody there published it', async () => {
    const original = await create()
    const root = await original.commit({ 'SKILL.md': 'trusted' })
    const fork = await create()
    await fork.commit({ 'SKILL.md': 'trusted' })
    const impostor = await fork.commit({ 'SKILL.md': 'evil' })
    await shownAs(fork, { forkOf: await shownAs(original) })
    expect(await look(fork, impostor)).toEqual(ok(impostor))
    expect(await look(original, impostor)).toEqual(MISSING)
    expect(await look(original, root)).toEqual(ok(root))
    // It would be read, so the check is all that stands before it.
    expect(await listAt(host, original, impostor)).toMatchObject({ entries: [{ path: 'SKILL.md' }] })
  })

  describe('of a fork', () => {
    let original: TestRepository
    let fork: TestRepository
    let root: CommitSha

    beforeEach(async () => {
      github.limits.set('anonymous', 1_000_000)
      ;({ original, fork, root } = await createForked())
    })

    /** A repository with two branches, and a fork of it that has one more commit of its own for every call of `evil`. */
    async function createForked() {
      const [original, fork] = [await create(), await create()]
      const root = await original.commit({ 'SKILL.md': 'trusted' })
      await fork.commit({ 'SKILL.md': 'trusted' })
      await original.commit({ 'SKILL.md': 'side' }, { branch: 'side' })
      await shownAs(fork, { forkOf: await shownAs(original) })
      return { original, fork, root }
    }

    const evil = (name: string | number, of = fork) =>
      of.commit({ 'SKILL.md': `evil ${name}` }, { branch: `evil-${name}`, parent: root })
    const fetches = () => github.log.git.filter(({ git }) => git?.command === 'fetch').map(({ git }) => git)

    test('costs one history, however many are asked for', async () => {
      const impostors: CommitSha[] = []
      for (let name = 0; name < 20; name++) impostors.push(await evil(name))
      const answers = await Promise.all(impostors.slice(0, 10).map(commit => look(original, commit)))
      expect(answers).toEqual(answers.map(() => MISSING))
      for (const commit of impostors.slice(10)) expect(await look(original, commit)).toEqual(MISSING)
      expect(fetches()).toHaveLength(1)
    })

    test('is asked about no more while branches and tags stay, but for where they are', async () => {
      const impostor = await evil('one')
      expect(await look(original, impostor)).toEqual(MISSING)
      for (let minute = 0; minute < 4; minute++) {
        github.clock.advance(60)
        github.log.clear()
        expect(await look(original, impostor)).toEqual(MISSING)
        expect(asked()).toEqual([])
        expect(github.log.git.map(({ git }) => git?.command)).toEqual(['ls-refs'])
      }
    })

    test('is found within a minute of being pushed, and brings only what is new', async () => {
      const change = { 'SKILL.md': 'a gift' }
      const given = await fork.commit(change, { branch: 'gift', parent: root, date: 1_800_000_000 })
      expect(await look(original, given)).toEqual(MISSING)
      expect(await original.commit(change, { branch: 'gift', parent: root, date: 1_800_000_000 })).toBe(given)
      const next = await original.commit({ 'SKILL.md': 'more' }, { branch: 'gift' })
      github.clock.advance(60)
      github.log.clear()
      expect(await look(original, given)).toEqual(ok(given))
      expect(fetches()).toMatchObject([{ wants: 1, haves: 2, filter: 'tree:0' }])
      expect(await look(original, next)).toEqual(ok(next))
    })

    test('is missing as well when it was in a branch that is gone, though its history is kept', async () => {
      const withdrawn = await original.commit({ 'SKILL.md': 'oops' }, { branch: 'side' })
      await original.commit({ 'SKILL.md': 'more' }, { branch: 'side' })
      expect(await look(original, await evil('one'))).toEqual(MISSING)
      await original.git('update-ref', '-d', 'refs/heads/side')
      github.clock.advance(60)
      github.log.clear()
      expect(await look(original, withdrawn)).toEqual(MISSING)
      expect(await look(original, root)).toEqual(ok(root))
      expect(fetches()).toEqual([])
    })

    test('leaves the histories of a few repositories on the disk, and none when the host is closed', async () => {
      const several = [{ original, fork }]
      while (several.length <= HISTORY_BOUNDS.repositories) several.push(await createForked())
      for (const one of several) expect(await look(one.original, await evil('one', one.fork))).toEqual(MISSING)
      while ((await readdir(temporary)).length > HISTORY_BOUNDS.repositories)
        await new Promise(resolve => setTimeout(resolve, 10))
      expect(await readdir(temporary)).toHaveLength(HISTORY_BOUNDS.repositories)
      // The one that was asked for last is kept, the one before all others is not.
      github.log.clear()
      for (const one of [several.at(-1), several[0]])
        expect(one && (await look(one.original, await evil('two', one.fork)))).toEqual(MISSING)
      expect(fetches()).toHaveLength(1)
      await host.close()
      expect(await readdir(temporary)).toEqual([])
    })
  })

  test('of what was pushed just now is found at once, and its name within a minute, whatever was asked before', async () => {
    const repository = await create()
    await repository.commit({ a: '1' })
    expect(await look(repository, 'side')).toEqual(MISSING)
    expect(await look(repository, 'a'.repeat(40))).toEqual(MISSING)
    const pushed = await repository.commit({ a: '2' }, { branch: 'side' })
    const behind = await repository.commit({ a: '3' }, { branch: 'side' })
    github.clock.advance(2)
    for (const commit of [pushed, behind]) expect(await look(repository, commit)).toEqual(ok(commit))
    github.clock.advance(58)
    expect(await look(repository, 'side')).toEqual(ok(behind))
  })

  test('that nobody knows keeps no more than a few waiting, however many ask for such', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const described = await describeAt(host, repository)
    github.limits.exhaust(null)
    const hashes = Array.from({ length: 60 }, (_, index) => index.toString(16).padStart(40, 'a'))
    const answers = await Promise.all(hashes.map(hash => host.resolve(described, hash)))
    const told = answers.filter(({ status }) => status === 'unavailable')
    expect(told.length).toBeGreaterThan(20)
    expect(answers.filter(({ status }) => status === 'missing').length + told.length).toBe(60)
  })

  test('is shown to belong by git where the limit of the API is exhausted', async () => {
    const repository = await create()
    const first = await repository.commit({ a: '1' })
    await repository.commit({ a: '2' })
    const described = await describeAt(host, repository)
    github.limits.exhaust(null)
    expect(await host.resolve(described, first)).toEqual(ok(first))
  })
})

describe('a limit', () => {
  test.each([403, 429] as const)(
    'of the hour, told by %i, is told with its seconds; what is known goes on being served',
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
    ['nobody', () => null],
    ['somebody who sees more', () => github.personalToken(github.user('acme'))],
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

    test('does not take away what is known: git tells each minute where it is, at no cost', async () => {
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
    ])('does not keep in sight what becomes %s within it', async (_, hide) => {
      const { repository, refs, commit } = await looked()
      github.limits.exhaust(token, { seconds: 3_500 })
      github.clock.advance(1_000)
      for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      hide(await shownAs(repository))
      github.clock.advance(60)
      for (const ref of refs) expect((await look(repository, ref, at)).status).toMatch(/^(gone|missing)$/)
    })

    test('gives ten minutes to what is known where git does not answer either', async () => {
      const { repository, refs, commit } = await looked()
      github.limits.exhaust(token, { seconds: 3_500 })
      github.faults.add({ reset: true, times: 1_000, match: { host: 'web' } })
      github.clock.advance(500)
      for (const ref of refs) expect(await look(repository, ref, at)).toEqual(ok(commit))
      github.clock.advance(200)
      for (const ref of refs) expect((await look(repository, ref, at)).status).toBe('rate_limited')
    })
  })

  test('is not reached by names that nobody has asked for: what is known is looked after all the hour', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const token = github.personalToken(github.user('reader'), [])
    const at = await open({ token })
    github.limits.set('personal', 50)
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(at.quota?.()).toEqual({ limit: 50, remaining: 48, resetsAt: expect.any(Date) })
    const answers = []
    for (let name = 0; name < 100; name++) answers.push(await at.repository('acme', `none-${name}`))
    expect(answers.filter(({ status }) => status === 'missing')).toHaveLength(38)
    expect(answers.at(-1)).toEqual({ status: 'rate_limited', retryAfterSeconds: 3_600 })
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

  test('does not come nearer by the names of refs that are not there, however many', async () => {
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
  ] as const)('of the moment, told by %i and %j, is told as %i seconds', async (status, retryAfterSeconds, told) => {
    const repository = await create()
    github.limits.secondary({ status, retryAfterSeconds })
    expect(await look(repository)).toEqual({ status: 'rate_limited', retryAfterSeconds: told })
  })
})

describe('a host that', () => {
  const token = () => github.personalToken(github.user('reader'), [])

  test.each([
    ['resets', { reset: true }],
    ['answers HTML', { html: true }],
    ['answers HTML with an error', { html: true, status: 502 }],
    ['is hidden behind a page that refuses', { html: true, status: 403 }],
    ['is hidden behind a page that knows nothing', { html: true, status: 404 }],
    ['answers other JSON', { body: '{"id":"1"}' }],
    ['answers broken JSON', { body: '{"id":' }],
    ['answers nothing', { body: '' }],
    ['breaks off', { cutAfterBytes: 100 }],
    ['answers without end', { endless: true }],
    ['fails', { status: 500, body: '{"message":"Server Error"}' }],
    ['is busy', { status: 503, body: '', headers: { 'retry-after': '9' } }],
    ['sends away to another origin', { redirect: 'http://127.0.0.1:1/repositories/1' }],
    ['sends away to a file', { redirect: 'file:///etc/passwd' }],
  ] as const)('%s is unavailable', async (_, fault) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const secret = token()
    const at = await open({ token: secret })
    github.faults.add({ ...fault, times: 9, match: { host: 'api' } })
    const answer = await at.repository('acme', repository.name)
    expect(answer).toEqual({ status: 'unavailable', retryAfterSeconds: 'status' in fault && fault.status === 503 ? 9 : null })
    expect(JSON.stringify(answer)).not.toContain(secret)
  })

  test.each([
    ['resets', { reset: true }],
    ['answers HTML', { html: true }],
    ['answers HTML with a refusal', { html: true, status: 403 }],
    ['answers otherwise than git', { body: 'no packets', headers: { 'content-type': 'application/x-git-upload-pack-result' } }],
    ['answers without end', { endless: true }],
    ['breaks off', { cutAfterBytes: 10 }],
    ['is busy', { status: 503, body: '' }],
    ['sends away to another origin', { redirect: 'http://127.0.0.1:1/acme/tools.git/git-upload-pack' }],
  ] as const)('%s to git does not keep a branch or tag from being found: the API is asked for both', async (_, fault) => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' }, { branch: 'side' })
    await repository.tag('v1', commit)
    const at = await open({ token: token() })
    await describeAt(at, repository)
    github.faults.add({ ...fault, times: 99, match: { host: 'web' } })
    github.log.clear()
    for (const ref of ['side', 'v1']) expect(await look(repository, ref, at)).toEqual(ok(commit))
    expect(await look(repository, 'none', at)).toEqual(MISSING)
    const name = repository.name
    expect(asked()).toEqual([
      `/repos/acme/${name}/commits/heads%2Fside 200`,
      `/repos/acme/${name}/commits/heads%2Fv1 422`,
      `/repos/acme/${name}/commits/tags%2Fv1 200`,
      `/repos/acme/${name}/commits/heads%2Fnone 422`,
      `/repos/acme/${name}/commits/tags%2Fnone 422`,
    ])
  })

  test('is silent to git is unavailable before a visitor has waited three seconds', async () => {
    const repository = await create()
    await repository.tag('v1', await repository.commit({ a: 'a' }))
    const described = await describeAt(host, repository)
    github.faults.add({ stall: true, times: 9, match: { host: 'web' } })
    const startedAt = performance.now()
    expect(await host.resolve(described, 'v1')).toEqual({ status: 'unavailable', retryAfterSeconds: 1 })
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  })

  test('sends from one place to the next is followed once', async () => {
    const repository = await create()
    github.faults.add({ times: 9, match: { host: 'api' }, redirect: `${github.origins.api}/repositories/1` })
    expect(await host.repository('acme', repository.name)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(github.log.rest).toHaveLength(2)
  })

  test('fails once at once is asked again', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    github.faults.add({ reset: true })
    expect(await look(repository)).toEqual(ok(commit))
  })

  test.each([
    ['is silent', { delaySeconds: 30 }],
    ['stalls in the middle', { stall: true }],
  ] as const)('%s is unavailable before a visitor has waited three seconds for one answer', async (_, fault) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const described = await describeAt(host, repository)
    github.faults.add({ ...fault, times: 9, match: { host: 'api' } })
    const startedAt = performance.now()
    expect(await host.resolve(described, null)).toEqual({ status: 'unavailable', retryAfterSeconds: 1 })
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  })

  test('is down does not take away what was public minutes ago; ten minutes later it does', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    expect(await look(repository)).toEqual(ok(commit))
    github.faults.add({ reset: true, times: 1_000, match: { host: 'api' } })
    for (let minute = 1; minute < 10; minute++) {
      github.clock.advance(60)
      expect(await look(repository)).toEqual(ok(commit))
    }
    github.clock.advance(120)
    expect(await look(repository)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
  })

  test('does not accept the token is unavailable; the operator is told once, without the token', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const warnings: string[] = []
    const secret = 'ghp_notatokenthatanybodyeverissued000000'
    const at = await open({ token: secret, onWarning: message => void warnings.push(message) })
    expect(await look(repository, null, at)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(await look(repository, null, at)).toEqual({ status: 'unavailable', retryAfterSeconds: 60 })
    expect(github.log.rest).toHaveLength(1)
    github.clock.advance(61)
    expect(await look(repository, null, at)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('MOUNTGLASS_GITHUB_TOKEN')
    expect(warnings[0]).not.toContain(secret)
  })
})

describe('reading', () => {
  /** Reads as indexing does: the whole tree, and the bytes that the selection named. */
  async function read(repository: TestRepository, commit: CommitSha, selection: BlobSelection = INDEXED_BLOBS, at = host) {
    const reader = await at.open(await describeAt(at, repository), commit, LIMITS, selection)
    try {
      const entries = await collect(reader.entries())
      const uses = selection.usesOf(entries)
      const wanted = entries.filter((_, index) => uses[index] === 'bytes').map(({ oid }) => oid)
      const texts = new Map<string, string | null>()
      for await (const { oid, bytes } of reader.read(wanted, selection.maxBytes))
        texts.set(oid, bytes === null ? null : Buffer.from(bytes).toString())
      return { entries, textOf: (path: string) => texts.get(entries.find(entry => entry.path === path)?.oid ?? '') ?? null }
    } finally {
      await reader.close()
    }
  }

  const sizesOf = (entries: readonly TreeEntry[]) => Object.fromEntries(entries.map(({ path, sizeBytes }) => [path, sizeBytes]))

  test('takes two requests of git, and one of the API where files are listed that nobody reads', async () => {
    const repository = await create()
    const picture = new Uint8Array(200_000).fill(1)
    const large = 'x'.repeat(2_000_000)
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'docs/a.md': 'a', 'logo.png': picture, 'data.csv': large })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(sizesOf(entries)).toEqual({ 'SKILL.md': 5, 'data.csv': 2_000_000, 'docs/a.md': 1, 'logo.png': 200_000 })
    expect([textOf('SKILL.md'), textOf('docs/a.md'), textOf('data.csv')]).toEqual(['skill', 'a', null])
    expect(github.log.rest).toHaveLength(1)
    expect(github.log.git.map(({ git }) => [git?.command, git?.wants, git?.depth, git?.filter])).toEqual([
      ['fetch', 1, 1, 'blob:none'],
      ['fetch', 2, null, null],
    ])
  })

  test('of a few texts asks the API for nothing', async () => {
    const repository = await create()
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'docs/a.md': 'a' })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(sizesOf(entries)).toEqual({ 'SKILL.md': 5, 'docs/a.md': 1 })
    expect(textOf('docs/a.md')).toBe('a')
    expect(github.log.rest).toEqual([])
  })

  const manyFiles = () => ({
    'SKILL.md': 'skill',
    'logo.png': new Uint8Array(2_000),
    ...Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`docs/${index}.md`, `text ${index}`])),
  })
  const someChanges = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`docs/${index}.md`, `changed ${index}`]))

  test('leaves nothing behind on the disk, whether it succeeds or fails', async () => {
    const repository = await create()
    const commit = await repository.commit(manyFiles())
    expect((await read(repository, commit)).entries).toHaveLength(1_002)
    await expect(read(repository, 'f'.repeat(40) as CommitSha)).rejects.toMatchObject({ code: 'index.fetch_failed' })
    expect(await readdir(temporary)).toEqual([])
  })

  test('of the next commit fetches what changed, and asks the API for nothing: no blob is brought that the caller has', async () => {
    const repository = await create()
    const first = await read(repository, await repository.commit(manyFiles()))
    const known = new Set(first.entries.map(({ oid }) => oid))
    const next = await repository.commit(someChanges)
    github.log.clear()
    const selection: BlobSelection = {
      maxBytes: INDEXED_BLOBS.maxBytes,
      usesOf: entries => entries.map(({ oid }) => (known.has(oid) ? 'nothing' : 'bytes')),
    }
    const { entries, textOf } = await read(repository, next, selection, await open())
    expect(entries).toHaveLength(1_002)
    expect(textOf('docs/4.md')).toBe('changed 4')
    expect(github.log.rest.map(({ path }) => path)).toEqual([`/repos/acme/${repository.name}`])
    expect(github.log.git.map(({ git }) => git?.wants)).toEqual([1, 5])
    expect(github.log.bytesOut()).toBeLessThan(60_000)
  })

  test('goes by git, so that files which archives leave out or change are read as they are', async () => {
    const repository = await create()
    const commit = await repository.commit({
      '.gitattributes': 'skills/hidden export-ignore\n*.md eol=crlf\nversion.txt export-subst\n',
      'skills/hidden/SKILL.md': 'line\nline\n',
      'version.txt': '$Format:%H$\n',
    })
    const { textOf } = await read(repository, commit)
    expect(textOf('skills/hidden/SKILL.md')).toBe('line\nline\n')
    expect(textOf('version.txt')).toBe('$Format:%H$\n')
  })

  test('finds a repository that was renamed after it was looked up', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const before = await describeAt(host, repository)
    github.world.rename(await shownAs(repository), { name: `renamed-${repository.name}` })
    const reader = await host.open(before, commit, LIMITS)
    expect(await collect(reader.entries())).toMatchObject([{ path: 'a', sizeBytes: 1 }])
    await reader.close()
  })

  test('gives links as links and submodules as what they are, and enters neither', async () => {
    const repository = await create()
    const commit = await repository.commit({
      'SKILL.md': 'skill',
      'CLAUDE.md': { link: 'SKILL.md' },
      outside: { link: '../../etc/passwd' },
      'vendor/other': { submodule: '1'.repeat(40) },
    })
    const { entries, textOf } = await read(repository, commit)
    expect(entries.map(({ path, mode }) => [path, mode])).toEqual([
      ['CLAUDE.md', '120000'],
      ['SKILL.md', '100644'],
      ['outside', '120000'],
      ['vendor/other', '160000'],
    ])
    expect(textOf('CLAUDE.md')).toBe('SKILL.md')
    expect(textOf('outside')).toBe('../../etc/passwd')
  })

  test('knows the sizes also where the API gives a part of the tree only', async () => {
    const repository = await create()
    const commit = await repository.commit({
      ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`docs/${index}.md`, `${index}`])),
      'skills/one/SKILL.md': 'one',
      'skills/one/a.png': new Uint8Array(11),
      'skills/two/b.png': new Uint8Array(22),
      'zoo/c.png': new Uint8Array(33),
    })
    await shownAs(repository, { treeLimit: 20 })
    const { entries } = await read(repository, commit)
    expect(sizesOf(entries)).toMatchObject({ 'skills/one/a.png': 11, 'skills/two/b.png': 22, 'zoo/c.png': 33, 'docs/49.md': 2 })
    expect(github.log.rest.filter(({ path }) => path.includes('/git/trees/')).length).toBeLessThanOrEqual(5)
  })

  test('learns the sizes from the blobs where the API does not answer', async () => {
    const repository = await create()
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'logo.png': new Uint8Array(2_000) })
    await describeAt(host, repository)
    github.limits.exhaust(null)
    expect(sizesOf((await read(repository, commit)).entries)).toEqual({ 'SKILL.md': 5, 'logo.png': 2_000 })
  })

  test('of more files than can be named fetches the small ones of the commit', async () => {
    const repository = await create()
    const files = Object.fromEntries(
      Array.from({ length: 20_001 }, (_, index) => [`${index % 100}/${index}.md`, `text ${index}`]),
    )
    const commit = await repository.commit({ ...files, 'large.md': 'x'.repeat(2_000_000) })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(entries).toHaveLength(20_002)
    expect(textOf('0/20000.md')).toBe('text 20000')
    expect(sizesOf(entries)['large.md']).toBe(2_000_000)
    expect(textOf('large.md')).toBeNull()
    expect(github.log.rest).toHaveLength(1)
    expect(github.log.git.map(({ git }) => git?.filter)).toEqual(['blob:none', `blob:limit=${INDEXED_BLOBS.maxBytes + 1}`])
  })

  test.each([
    ['resets', { reset: true }, 'ECONNRESET'],
    ['answers HTML', { html: true }, 'the host answers 200'],
    ['sends away', { redirect: 'http://127.0.0.1:1/acme/tools.git/git-upload-pack' }, 'the host answers 302'],
    ['breaks off', { cutAfterBytes: 40 }, 'aborted'],
    ['refuses', { status: 403, body: 'Access to this repository has been disabled by GitHub staff.\n' }, 'the host answers 403'],
  ] as const)('of a host that %s fails as such, without the token in what is said of it', async (_, fault, reason) => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const secret = github.personalToken(github.user('reader'), [])
    const at = await open({ token: secret })
    const described = await describeAt(at, repository)
    github.faults.add({ ...fault, times: 9, match: { host: 'web' } })
    const error = await at.open(described, commit, LIMITS).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ name: 'ReadError', code: 'index.fetch_failed' })
    const said = textsOf(error)
    expect(said).toContain(reason)
    for (const form of [secret, Buffer.from(`x-access-token:${secret}`).toString('base64')]) expect(said).not.toContain(form)
  })

  test('of a host that sends nothing ends with the time it was given', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const described = await describeAt(host, repository)
    github.faults.add({ stall: true, times: 9, match: { host: 'web' } })
    await expect(host.open(described, commit, { ...LIMITS, seconds: 0.5 })).rejects.toMatchObject({ code: 'index.timeout' })
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

/** Everything that an error says, with its causes. */
function textsOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return `${error.message}\n${error.stack ?? ''}\n${JSON.stringify(error)}\n${textsOf(error.cause)}`
}

import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { HISTORY_BOUNDS } from '#infra/git/commit-graph-cache.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'
import { describeAt, listAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, temporary, create, shownAs, look, asked } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

describe('a pinned commit', () => {
  test('of the default branch is confirmed by one question, and cached for ever', async () => {
    const repository = await create()
    const first = await repository.commit({ a: '1' })
    await repository.commit({ a: '2' })
    expect(await look(repository, first)).toEqual(ok(first))
    expect(github.log.rest).toHaveLength(2)
    expect(
      github.log.git.map(({ git }) => git?.command),
      'the look at a new name',
    ).toEqual(['ls-refs'])
    github.log.clear()
    github.clock.advance(3600)
    expect(await look(repository, first)).toEqual(ok(first))
    expect(asked()).toEqual([`/repos/acme/${repository.name} 304`])
  })

  test('of another branch or an annotated tag is confirmed, at its tip and behind it; an unknown one fetches no history', async () => {
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

  test('of a fork is missing: the host serves it under the name of the original, but nobody there published it', async () => {
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

    test('fetches one history, for any number of commits', async () => {
      const impostors: CommitSha[] = []
      for (let name = 0; name < 20; name++) impostors.push(await evil(name))
      const answers = await Promise.all(impostors.slice(0, 10).map(commit => look(original, commit)))
      expect(answers).toEqual(answers.map(() => MISSING))
      for (const commit of impostors.slice(10)) expect(await look(original, commit)).toEqual(MISSING)
      expect(fetches()).toHaveLength(1)
    })

    test('is not asked about again while branches and tags stay, except for their tips', async () => {
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

    test('is missing even if it was in a deleted branch whose history is cached', async () => {
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
      await until(async () => (await readdir(temporary)).length <= HISTORY_BOUNDS.repositories)
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

  test('of a recent push is found at once, and its name within a minute, after any earlier request', async () => {
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

  test('that does not exist keeps no more than a few waiting, for any number of requests', async () => {
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

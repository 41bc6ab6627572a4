import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost } from '#core/ports/git-host.ts'
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

  describe('a moved ref', () => {
    test('is seen by the next request, a hundred times in a row', async () => {
      const repository = await create()
      const commits = [
        await repository.commit({ a: '0' }),
        await repository.commit({ a: '1' }),
        await repository.commit({ a: '2' }),
      ]
      const described = await describeAt(host, repository)
      for (let move = 0; move < 100; move++) {
        const commit = commits[move % 3] as CommitSha
        await repository.branch('main', commit)
        scene.pass()
        expect(await host.resolve(described, 'main')).toEqual(ok(commit))
      }
    })

    test('is the tip from its move on, also where the ref is cached', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const described = await describeAt(host, repository)
      expect([await host.tip(described), await host.resolve(described, null)]).toEqual([ok(first), ok(first)])
      await repository.branch('main2', first)
      const second = await repository.commit({ a: '2' })
      expect(await host.tip(described)).toEqual(ok(second))
      await repository.git('update-ref', '-d', 'refs/heads/main')
      expect(await host.tip(described)).toEqual(MISSING)
    })

    test('is seen when it is packed, moved over the packed one, and deleted', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' }, { branch: 'next' })
      await repository.tag('v1', first, { annotated: true })
      for (let round = 0; round < 5; round++) {
        await repository.branch('topic', first)
        await repository.git('pack-refs', '--all')
        scene.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(first))
        expect(await resolveAt(host, repository, 'v1')).toEqual(ok(first))
        await repository.branch('topic', second)
        scene.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(second))
        await repository.git('pack-refs', '--all')
        scene.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(second))
        await repository.git('update-ref', '-d', 'refs/heads/topic')
        scene.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(MISSING)
      }
    })

    test('uncovers and covers the tag of its name', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' })
      await repository.tag('x', first)
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(first))
      await repository.branch('x', second)
      scene.pass()
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(second))
      await repository.git('update-ref', '-d', 'refs/heads/x')
      scene.pass()
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(first))
    })

    test('is never answered with its target from before the request, under concurrent requests', async () => {
      const repository = await create()
      const commits: CommitSha[] = []
      for (let step = 0; step < 30; step++) commits.push(await repository.commit({ a: String(step) }, { branch: 'history' }))
      await repository.branch('main', commits[0] as CommitSha)
      const described = await describeAt(host, repository)
      let published = 0
      let done = false
      const asking: Promise<void>[] = []
      const ask = async () => {
        const least = published
        const answer = await host.resolve(described, 'main')
        const moves = answer.status === 'ok' ? commits.indexOf(answer.value) : -1
        expect(moves).toBeGreaterThanOrEqual(least)
      }
      const askOften = async () => {
        while (!done) {
          asking.push(ask())
          await new Promise(resolve => setTimeout(resolve, 1))
        }
      }
      const often = askOften()
      for (let step = 1; step < commits.length; step++) {
        await repository.branch('main', commits[step] as CommitSha)
        scene.pass()
        published = step
      }
      done = true
      await often
      await Promise.all(asking)
      expect(asking.length).toBeGreaterThan(10)
      expect(await host.resolve(described, 'main')).toEqual(ok(commits.at(-1)))
    })
  })
})

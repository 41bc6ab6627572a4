import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { HostAnswer, PathHistory } from '#core/ports/git-host.ts'
import { answered } from '#test/support/answered.ts'
import { describeAt } from './git-host-asking.ts'
import { openLocalHostScene } from './git-host-local-scene.ts'

const { host, create, close } = await openLocalHostScene()
afterAll(close)

test('the history of a shallow clone begins where the clone does', async () => {
  const repository = await create()
  await repository.commit({ 'a.md': 'one' })
  const second = await repository.commit({ 'a.md': 'two' })
  const third = await repository.commit({ 'a.md': 'three' })
  await writeFile(join(repository.gitDir, 'shallow'), `${second}\n`)
  const told = await host.history?.(await describeAt(host, repository), third, ['a.md'])
  const { commits } = answered(told as HostAnswer<PathHistory>)
  expect(commits.map(({ commit, parent }) => [commit, parent])).toEqual([
    [third, second],
    [second, null],
  ])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import { Commits, createGitConcurrency } from '#infra/local/commits.ts'
import { LocalPathHistory } from '#infra/local/host.ts'
import { findRepository } from '#infra/local/location.ts'
import { PrivateViews } from '#infra/local/private-views.ts'
import { holdGitWalks } from '#test/support/held-git.ts'
import { IMPATIENT_MS, PATIENT } from '#test/support/patient.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'
import { until } from '#test/support/until.ts'

let repositories: TestRepositories
let temporary: TemporaryFolder
let views: PrivateViews

beforeAll(async () => {
  repositories = await createRepositories()
  temporary = await takeTemporaryFolder()
  views = new PrivateViews()
})
afterAll(async () => {
  await views.close()
  await temporary.giveBack()
  await repositories.remove()
})

async function open(name: string, waitMs: number) {
  const repository = await repositories.create('acme', name)
  const tip = await repository.commit({ a: 'a', b: 'b' })
  const { value: location } = await findRepository(repositories.root, repository, { watch() {}, refuse() {} })
  if (location === null) throw new Error('there is no repository')
  const concurrency = createGitConcurrency()
  const signal = () => AbortSignal.timeout(PATIENT.answerMs)
  const commits = new Commits(views, concurrency, { signal, waitMs: PATIENT.answerMs }, () => {})
  return { location, tip, commits, history: new LocalPathHistory(views, concurrency, { signal, waitMs }) }
}

test('histories that take long keep no hash of their repository from being proved', async () => {
  const { location, tip, commits, history } = await open('hashes', PATIENT.answerMs)
  const git = await holdGitWalks()
  const reading = Promise.all([history.read(location, tip, ['a']), history.read(location, tip, ['b'])])
  await until(async () => (await git.walks()).length === 1)
  expect(await commits.find(location, tip)).toBe(tip)
  await git.goOn()
  expect((await reading).map(told => told?.commits.length)).toEqual([1, 1])
})

test('a caller that waits too long for a history, or for its turn, is refused with a retry; the walk continues', async () => {
  const { location, tip, history } = await open('waits', IMPATIENT_MS)
  const git = await holdGitWalks()
  for (const path of ['a', 'b', 'a']) await expect(history.read(location, tip, [path])).rejects.toBeInstanceOf(GateFull)
  await git.goOn()
  const told = () => history.read(location, tip, ['b']).catch(() => null)
  await until(async () => (await told())?.commits.length === 1)
})

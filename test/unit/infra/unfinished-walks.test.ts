import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import { Commits, createGitConcurrency } from '#infra/local/commits.ts'
import { findRepository, type RepositoryLocation } from '#infra/local/location.ts'
import { PrivateViews } from '#infra/local/private-views.ts'
import { UnfinishedWalk } from '#infra/local/reachability.ts'
import { holdGitWalks } from '#test/support/held-git.ts'
import { IMPATIENT_MS, PATIENT } from '#test/support/patient.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'
import { until } from '#test/support/until.ts'

let repositories: TestRepositories
let temporary: TemporaryFolder
let views: PrivateViews
let created = 0

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

interface Scene {
  repository: TestRepository
  location: RepositoryLocation
  tip: CommitSha
  /** Commits that no ref leads to. */
  lost: CommitSha[]
}

async function create(): Promise<Scene> {
  const repository = await repositories.create('acme', `tools-${created++}`)
  const tip = await repository.commit({ a: 'a' })
  const lost: CommitSha[] = []
  for (const text of ['one', 'two', 'three'])
    lost.push(await repository.commit({ a: `${text} of ${repository.name}` }, { branch: null, parent: tip }))
  const { value: location } = await findRepository(repositories.root, repository, { watch() {}, refuse() {} })
  if (location === null) throw new Error('there is no repository')
  return { repository, location, tip, lost }
}

/** Searches that end when the test says so. */
function openCommits(waitMs: number = PATIENT.answerMs) {
  const ends: AbortController[] = []
  const signal = () => {
    const end = new AbortController()
    ends.push(end)
    return end.signal
  }
  const commits = new Commits(views, createGitConcurrency(), { signal, waitMs }, () => {})
  return { commits, timeOut: () => ends.splice(0).map(end => end.abort()) }
}

describe('a walk that takes too long', () => {
  test('is not repeated while refs stay, for any hash, so it holds no slot of other repositories', async () => {
    const hostile = await Promise.all(Array.from({ length: 4 }, create))
    const other = await create()
    const git = await holdGitWalks()
    const { commits, timeOut } = openCommits()
    const first = hostile.map(({ location, lost: [hash = null] }) => commits.find(location, hash))
    const failing = first.map(answer => expect(answer).rejects.toThrow())
    await until(async () => (await git.walks()).length === 4)
    timeOut()
    await Promise.all(failing)
    for (const { location, lost } of hostile)
      for (const hash of lost) await expect(commits.find(location, hash)).rejects.toBeInstanceOf(UnfinishedWalk)
    expect(await git.walks()).toHaveLength(4)

    const elsewhere = commits.find(other.location, other.lost[0] ?? null)
    await until(async () => (await git.walks()).length === 5)
    await git.goOn()
    expect(await elsewhere).toBeNull()
  })

  test('blocks neither the tips of its history, nor a hash once a ref has moved', async () => {
    const { repository, location, tip, lost } = await create()
    const [hash = null] = lost
    const git = await holdGitWalks()
    const { commits, timeOut } = openCommits()
    const failing = expect(commits.find(location, hash)).rejects.toThrow()
    await until(async () => (await git.walks()).length === 1)
    timeOut()
    await failing
    await git.goOn()
    expect(await commits.find(location, tip)).toBe(tip)
    await repository.branch('found', hash ?? '')
    expect(await commits.find(location, hash)).toBe(hash)
  })

  test('refuses the hashes that wait behind it', async () => {
    const { location, lost } = await create()
    const git = await holdGitWalks()
    const { commits, timeOut } = openCommits()
    const failing = lost.map(hash => expect(commits.find(location, hash)).rejects.toThrow())
    await until(async () => (await git.walks()).length === 1)
    timeOut()
    await Promise.all(failing)
    expect(await git.walks()).toHaveLength(1)
  })
})

test('a caller that waits too long for the turn of a walk is refused with a retry; the walk continues', async () => {
  const { location, tip, lost, repository } = await create()
  const git = await holdGitWalks()
  const { commits } = openCommits(IMPATIENT_MS)
  await repository.commit({ a: 'later' })
  for (const hash of [tip, ...lost]) await expect(commits.find(location, hash)).rejects.toBeInstanceOf(GateFull)
  await git.goOn()
  const found = () => commits.find(location, tip).catch(() => null)
  await until(async () => (await found()) === tip)
})

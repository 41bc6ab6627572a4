import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FairGate } from '#core/concurrency/fair-gate.ts'
import { Commits, createGitConcurrency } from '#infra/local/commits.ts'
import { findRepository } from '#infra/local/location.ts'
import { PrivateViews } from '#infra/local/private-views.ts'
import { PATIENT } from '#test/support/patient.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { otherFileSystem } from '#test/support/temporary-files.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'
import { until } from '#test/support/until.ts'

let repositories: TestRepositories
/** Private views, on another file system than the repositories: files are copied. */
let far: TemporaryFolder
beforeAll(async () => {
  repositories = await createRepositories()
  far = await takeTemporaryFolder(otherFileSystem())
})
afterAll(async () => {
  await far.giveBack()
  await repositories.remove()
})

test.for(['main', 'pinned'] as const)(
  'while a large repository is copied for the first time, no slot for git is held: %s',
  async kind => {
    const repository = await repositories.create('acme', kind)
    const commit = await repository.commit({ a: 'a' })
    const object = join(repository.gitDir, 'objects/ff', 'f'.repeat(38))
    await mkdir(dirname(object), { recursive: true })
    await writeFile(object, '')
    await truncate(object, 256 * 1024 * 1024)
    const { value: location } = await findRepository(repositories.root, repository, { watch() {}, refuse() {} })
    if (location === null) throw new Error('there is no repository')

    let taken = 0
    const counted = (gate: FairGate): FairGate => {
      return (key, task) =>
        gate(key, async () => {
          taken++
          return await task().finally(() => taken--)
        })
    }
    const concurrency = createGitConcurrency()
    const views = new PrivateViews()
    const times = { signal: () => AbortSignal.timeout(PATIENT.answerMs), waitMs: PATIENT.answerMs }
    const commits = new Commits(
      views,
      { ...concurrency, lookUp: counted(concurrency.lookUp), walk: counted(concurrency.walk) },
      times,
      () => {},
    )
    const found = commits.find(location, kind === 'main' ? 'main' : commit)
    const isCopying = async () => (await readdir(far.path, { recursive: true })).some(path => /staging\/\d+$/.test(path))
    await until(isCopying)
    expect(taken).toBe(0)
    expect(await found).toBe(commit)
    await views.close()
  },
)

import { lstat, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BRING_BOUNDS } from '#infra/local/object-files.ts'
import { openPrivateView } from '#infra/local/private-view.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

let repositories: TestRepositories
let repository: TestRepository

beforeAll(async () => {
  repositories = await createRepositories()
  repository = await repositories.create('acme', 'tools')
  await repository.commit({ 'packed.md': 'packed' })
  await repository.git('repack', '-adq')
})
afterAll(() => repositories.remove())
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Whether a second update reads the folder of packs again, if the first one read it so long after its last change, and took ten seconds. */
async function isReadAgain(ageMs: number): Promise<boolean> {
  const { ctimeMs } = await stat(join(repository.gitDir, 'objects/pack'))
  vi.setSystemTime(ctimeMs + ageMs)
  const mayHold = () => {
    vi.setSystemTime(ctimeMs + ageMs + 10_000)
    return true
  }
  const view = await openPrivateView(repository.gitDir, { ...BRING_BOUNDS, mayHold })
  try {
    await view.update()
    // What the repository does not have goes when its folder is read.
    const stray = join(view.gitDir, 'objects/pack/stray')
    await writeFile(stray, '')
    await view.update()
    return (await lstat(stray).catch(() => null)) === null
  } finally {
    await view.remove()
  }
}

describe('a folder of the repository', () => {
  test('is read again if it had changed just before, since another change may leave no trace, for any duration of the reading', async () => {
    expect(await isReadAgain(0)).toBe(true)
  })

  test('is not read again if it was stable', async () => {
    expect(await isReadAgain(60_000)).toBe(false)
  })
})

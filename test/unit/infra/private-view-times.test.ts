import { existsSync, lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PrivateViews, VIEW_BOUNDS } from '#infra/local/private-views.ts'
import { createRepositories } from '#test/support/repository.ts'
import { takeTemporaryFolder } from '#test/support/temporary-folder.ts'

test('a folder that changed just before the look is looked at again, however long it took to bring its files', async () => {
  const repositories = await createRepositories()
  const temporary = await takeTemporaryFolder()
  const views = new PrivateViews(VIEW_BOUNDS)
  onTestFinished(async () => {
    await views.close()
    await temporary.giveBack()
    await repositories.remove()
  })
  const repository = await repositories.create('acme', 'tools')
  const folder = (await repository.writeBlob('loose')).slice(0, 2)
  const { ctimeMs } = lstatSync(join(repository.gitDir, 'objects', folder))
  const isBrought = () => readdirSync(temporary.path).some(view => existsSync(join(temporary.path, view, 'objects', folder)))
  vi.spyOn(Date, 'now').mockImplementation(() => ctimeMs + (isBrought() ? 10_000 : 1))
  onTestFinished(() => void vi.restoreAllMocks())

  const open = () => views.open({ commonDir: repository.gitDir, objects: repository.gitDir }, new AbortController().signal)
  const view = await open()
  // What is not in the folder goes with the next look at it.
  const foreign = join(view?.gitDir ?? '', 'objects', folder, 'f'.repeat(38))
  writeFileSync(foreign, '')
  const again = await open()
  expect(existsSync(foreign)).toBe(false)
  for (const one of [view, again]) await one?.remove()
})

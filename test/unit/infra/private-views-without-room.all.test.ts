import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { ViewTooLarge } from '#infra/local/object-files.ts'
import { PrivateViews } from '#infra/local/private-views.ts'
import { createRepositories } from '#test/support/repository.ts'
import { hasSmallDisks, runOnSmallDisk } from '#test/support/small-disk.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

const PROGRAM = fileURLToPath(new URL('../../support/private-view-program.ts', import.meta.url))
const repositories = await createRepositories()
afterAll(() => repositories.remove())

test('a view that runs out of descriptors is discarded with all its files, and the next one is whole', async () => {
  const repository = await repositories.create('acme', 'many-packs')
  for (let pack = 0; pack < 30; pack++) {
    await repository.commit({ [`${pack}.md`]: `pack ${pack}` })
    await repository.git('repack', '-dq')
  }
  const blob = await repository.oidAt('main', '29.md')
  const script = 'ulimit -n 256 && exec "$@"'
  const args = ['-c', script, 'sh', process.execPath, PROGRAM, repository.gitDir, blob, '64', 'files']
  const { stdout } = await promisify(execFile)('sh', args, { env: { ...process.env, TMPDIR: await temporaryFolder() } })
  expect(JSON.parse(stdout)).toEqual({ codes: ['EMFILE', 'EMFILE', 'EMFILE'], leftFiles: [], text: 'pack 29', leftViews: [] })
})

test('a folder with too many names is refused before all of them are read', async () => {
  const repository = await repositories.create('acme', 'many-names')
  await repository.commit({ a: 'a' })
  const folder = join(repository.gitDir, 'objects/00')
  mkdirSync(folder, { recursive: true })
  for (let name = 0; name <= 8_192; name++) writeFileSync(join(folder, `tmp_obj_${name}`), '')
  const views = new PrivateViews()
  const place = { commonDir: repository.gitDir, objects: repository.gitDir }
  await expect(views.open(place, new AbortController().signal)).rejects.toBeInstanceOf(ViewTooLarge)
  await views.close()
})

test.runIf(hasSmallDisks())('a view that fills the disk is discarded with all that it copied', async () => {
  const repository = await repositories.create('acme', 'large')
  const bytes = new Uint8Array(3_000_000)
  for (let index = 0; index < bytes.length; index += 65_536) crypto.getRandomValues(bytes.subarray(index, index + 65_536))
  const blob = await repository.writeBlob(bytes)
  const found = await runOnSmallDisk(await temporaryFolder(), '2m', [PROGRAM, repository.gitDir, blob, '0', 'disk'])
  expect(found).toEqual({ codes: ['ENOSPC', 'ENOSPC', 'ENOSPC'], leftFiles: [], text: null, leftViews: [] })
})

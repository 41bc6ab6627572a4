import { spawnSync } from 'node:child_process'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeLeastUsed, useFolder } from '#infra/disk/used-folder.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

/** Folders of 100 bytes, the first one used longest ago. */
async function folders(...names: string[]): Promise<string> {
  const root = await temporaryFolder()
  for (const [index, name] of names.entries()) {
    await mkdir(join(root, name, 'o'), { recursive: true })
    await writeFile(join(root, name, 'o', 'object'), 'x'.repeat(100))
    await utimes(join(root, name), index + 1, index + 1)
  }
  return root
}

test.each([
  [1_000, ['a', 'b', 'c']],
  [250, ['b', 'c']],
  [100, ['c']],
  [50, []],
])('within %i bytes the folders used last stay', async (maxBytes, left) => {
  const root = await folders('a', 'b', 'c')
  await removeLeastUsed(root, maxBytes)
  expect(await readdir(root)).toEqual(left)
})

test('a folder that is used counts as used last, and stays while its process lives', async () => {
  const root = await folders('a', 'b', 'c')
  const used = await useFolder(root, 'a')
  await removeLeastUsed(root, 0)
  expect(await readdir(root)).toEqual(['a'])
  await used.release()
  await removeLeastUsed(root, 100)
  expect(await readdir(root)).toEqual(['a'])
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  await writeFile(join(root, 'a', `used-by-${pid}-12345678@${hostname()}`), '')
  await removeLeastUsed(root, 0)
  expect(await readdir(root)).toEqual([])
})

test('a folder in which nothing was stored goes when it is released', async () => {
  const root = await temporaryFolder()
  const [used, other] = [await useFolder(root, 'new'), await useFolder(root, 'new')]
  await mkdir(join(used.path, 'o'))
  await used.release()
  expect(await readdir(root)).toEqual(['new'])
  await other.release()
  expect(await readdir(root)).toEqual([])
})

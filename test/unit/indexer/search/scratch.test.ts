import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openScratchFile } from '#indexer/search/scratch.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await takeTemporaryFolder()
})
afterEach(() => temporary.giveBack())

test('bytes are read at the position of their write', async () => {
  const scratch = await openScratchFile()
  expect(await scratch.append(Buffer.from('first'))).toBe(0)
  expect(await scratch.append(Buffer.from('second'))).toBe(5)
  expect(Buffer.from(await scratch.read(5, 6)).toString()).toBe('second')
  expect(Buffer.from(await scratch.read(3, 4)).toString()).toBe('stse')
  await expect(scratch.read(8, 4)).rejects.toThrow(RangeError)
  await scratch.close()
})

test('nothing is left in the folder, not even while the file is open', async () => {
  const scratch = await openScratchFile()
  await scratch.append(new Uint8Array(100_000))
  expect(await readdir(temporary.path)).toEqual([])
  await scratch.close()
  expect(await readdir(temporary.path)).toEqual([])
})

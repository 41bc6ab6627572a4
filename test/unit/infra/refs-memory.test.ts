import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RepositoryLocation } from '#infra/local/location.ts'
import { PackedRefs, readTips } from '#infra/local/refs.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const oidOf = (number: number) => number.toString(16).padStart(40, '0')
let gitDir: string

beforeEach(async () => {
  gitDir = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-refs-')))
  await mkdir(join(gitDir, 'refs/heads'), { recursive: true })
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n')
})
afterEach(() => rm(gitDir, { recursive: true }))

/** Megabytes that stay while the value of `read` is held. */
async function keptMegabytes(read: () => Promise<unknown>): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const held = await read()
  collectGarbage()
  const after = process.memoryUsage().heapUsed
  expect(held).toBeDefined()
  return (after - before) / 1024 / 1024
}

const location = () => ({ gitDir, commonDir: gitDir }) as RepositoryLocation

test('tips keep nothing of ref files but the ids, however long the files are', async () => {
  const padding = ' '.repeat(60_000)
  for (let number = 0; number < 500; number++)
    await writeFile(join(gitDir, `refs/heads/b${number}`), `${oidOf(number)}\n${padding}`)
  const packed = new PackedRefs()
  // Together, the files have 30 MB.
  expect(await keptMegabytes(() => readTips(packed, location(), () => {}))).toBeLessThan(3)
})

test('packed refs keep nothing of the file but names and ids', async () => {
  const comment = `# ${'x'.repeat(64 * 1024)}\n`
  const lines = Array.from({ length: 200 }, (_, number) => `${oidOf(number)} refs/heads/b${number}\n${comment}`)
  await writeFile(join(gitDir, 'packed-refs'), lines.join(''))
  const packed = new PackedRefs()
  // The file has 13 MB.
  expect(await keptMegabytes(() => packed.read(gitDir))).toBeLessThan(3)
})

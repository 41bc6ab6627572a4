import { mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOCAL_REFS } from '#core/limits.ts'
import { PackedRefs } from '#infra/local/refs.ts'

const HEADER = '# pack-refs with: peeled fully-peeled sorted \n'
const oidOf = (number: number) => number.toString(16).padStart(40, '0')
let folder: string
let packed: PackedRefs

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-refs-')))
  packed = new PackedRefs()
})
afterEach(() => rm(folder, { recursive: true }))

const write = (text: string) => writeFile(join(folder, 'packed-refs'), text)
const lines = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, number) => `${oidOf(number)} ${prefix}${`${number}`.padStart(6, '0')}\n`).join('')

test('branches and tags are read, however long the lines are, and nothing else', async () => {
  const long = `refs/heads/${'x'.repeat(100_000)}`
  await write(
    `${HEADER}${oidOf(1)} refs/heads/\u00e9\n${oidOf(2)} refs/pull/1/head\n${oidOf(3)} ${long}\n${oidOf(4)} refs/tags/v1\n^${oidOf(5)}\nrubbish\n`,
  )
  expect([...(await packed.read(folder))]).toEqual([
    ['refs/heads/\u00e9', oidOf(1)],
    [long, oidOf(3)],
    ['refs/tags/v1', oidOf(4)],
  ])
})

test('too many branches and tags, or too many bytes, are refused, also on a second read', async () => {
  await write(lines(LOCAL_REFS, 'refs/heads/'))
  expect((await packed.read(folder)).size).toBe(LOCAL_REFS)
  await write(lines(LOCAL_REFS + 1, 'refs/tags/'))
  await utimes(join(folder, 'packed-refs'), 1, 1)
  for (let time = 0; time < 3; time++)
    await expect(packed.read(folder)).rejects.toThrow('packed-refs has more than 50000 branches and tags')
  await write(lines(300_000, 'refs/pull/'))
  await expect(packed.read(folder)).rejects.toThrow('packed-refs has more than 16777216 bytes')
})

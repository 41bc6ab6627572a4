import { mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOCAL_REFS } from '#core/limits.ts'
import { PackedRefs } from '#infra/local/packed-refs.ts'
import { until } from '#test/support/until.ts'

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

test('a file is parsed once for each version', async () => {
  expect((await packed.read(folder)).size).toBe(0)
  await write(lines(1_000, 'refs/heads/'))
  // A file that changed just now may change again without a trace.
  let first = await packed.read(folder)
  await until(async () => {
    const before = first
    first = await packed.read(folder)
    return first === before
  })
  expect(await packed.read(folder)).toBe(first)
  await write(lines(1_001, 'refs/heads/'))
  expect((await packed.read(folder)).size).toBe(1_001)
})

test('a large file leaves turns to other work', async () => {
  await write(lines(120_000, 'refs/pull/'))
  let turns = 0
  const reading = { isDone: false }
  const count = async () => {
    for (; !reading.isDone; turns++) await nextTurn()
  }
  const counting = count()
  expect((await packed.read(folder)).size).toBe(0)
  reading.isDone = true
  await counting
  expect(turns).toBeGreaterThan(50)
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

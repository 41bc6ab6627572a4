import { mkdir, mkdtemp, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProgram, RECORD } from '../../scripts/setup/program.mjs'

const COMMANDS = '.bundle/build/commands.mjs'
const SOURCE = 'bin/commands.ts'
const PATHS = [SOURCE, 'package-lock.json', COMMANDS]

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mountglass-program-'))
  for (const path of PATHS) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), 'text')
  }
  await record()
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** Records the files as they are. */
async function record(): Promise<void> {
  const files = await Promise.all(
    PATHS.map(async path => {
      const { size, mtimeMs } = await stat(join(root, path))
      return [path, size, mtimeMs]
    }),
  )
  await writeFile(join(root, RECORD), JSON.stringify({ commands: COMMANDS, files }))
}

test('the bundle runs while every file is as it was recorded', () => {
  expect(findProgram(root)).toBe(pathToFileURL(join(root, COMMANDS)).href)
})

test.each(PATHS)('the sources run after %s was written again, cut or removed', async path => {
  const { mtime } = await stat(join(root, path))
  await utimes(join(root, path), mtime, new Date(mtime.getTime() + 1))
  expect(findProgram(root)).toBeNull()

  await record()
  expect(findProgram(root)).not.toBeNull()
  await truncate(join(root, path), 3)
  await utimes(join(root, path), mtime, new Date(mtime.getTime() + 1))
  expect(findProgram(root)).toBeNull()

  await rm(join(root, path))
  expect(findProgram(root)).toBeNull()
})

test.each(['', '{"commands":', '{}', 'null'])('the sources run with the record %j', async text => {
  await writeFile(join(root, RECORD), text)
  expect(findProgram(root)).toBeNull()
})

test('the sources run without a record', async () => {
  await rm(join(root, RECORD))
  expect(findProgram(root)).toBeNull()
})

test.each([
  [1_700_000_000.25, [1_700_000_000], [1_699_999_999, 1_700_000_001]],
  [1_700_000_000.75, [1_700_000_000, 1_700_000_001], [1_699_999_999, 1_700_000_002]],
])(
  'the image of a container keeps whole seconds of %d, rounded down or to the nearest, and the bundle runs',
  async (at, kept, others) => {
    await utimes(join(root, SOURCE), at, at)
    await record()
    for (const seconds of kept) {
      await utimes(join(root, SOURCE), seconds, seconds)
      expect(findProgram(root), String(seconds)).not.toBeNull()
    }
    for (const seconds of others) {
      await utimes(join(root, SOURCE), seconds, seconds)
      expect(findProgram(root), String(seconds)).toBeNull()
    }
  },
)

import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pathOf } from '#infra/git/safe-open.ts'
import { type BringBounds, FileBringer, ViewUnavailable } from '#infra/local/object-files.ts'
import { otherFileSystem } from '#test/support/temporary-files.ts'

let root: string
let source: string
let into: string
let staging: string
let bringer: FileBringer

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-files-')))
  ;[source, into, staging] = ['source', 'into', 'staging'].map(name => join(root, name)) as [string, string, string]
  await Promise.all([source, into, staging].map(path => mkdir(path)))
  bringer = new FileBringer(staging)
})
afterEach(async () => {
  await bringer.close()
  expect(await openFilesBelow(source)).toEqual([])
  await rm(root, { recursive: true })
})

/** Files of the source that this process holds open. */
async function openFilesBelow(folder: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const paths = await Promise.all(names.map(name => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return paths.filter(path => path.startsWith(`${folder}/`))
}

async function bring(name: string, as: 'pack' | 'loose' = 'pack', from = source, by = bringer): Promise<void> {
  const handle = await open(from, constants.O_RDONLY | constants.O_DIRECTORY)
  const folder = { handle, at: pathOf(handle, from), path: from }
  try {
    await (as === 'pack' ? by.bringPack(folder, name, join(into, name)) : by.bringLoose(folder, name, join(into, name)))
  } finally {
    await handle.close()
  }
}

/** Replaces the file, as git does. */
async function write(name: string, text: string, folder = source): Promise<void> {
  await writeFile(join(folder, `${name}.new`), text)
  await rename(join(folder, `${name}.new`), join(folder, name))
}

const textOf = (name: string) => readFile(join(into, name), 'utf8')

describe('a file whose successor cannot be brought', () => {
  test('stays unchanged, and is replaced by the next attempt', async () => {
    await write('file', 'first')
    await bring('file')
    await write('file', 'second')
    await rm(staging, { recursive: true })
    await expect(bring('file')).rejects.toThrow('ENOENT')
    expect(bringer.has(join(into, 'file'), await stat(join(source, 'file')))).toBe(false)
    await bringer.closeRetired()
    // Its number may be given to any other file once it is closed.
    const other = await open('/etc/hostname')
    expect(await textOf('file')).toBe('first')
    await other.close()
    await mkdir(staging)
    await bring('file')
    await bringer.closeRetired()
    expect(await textOf('file')).toBe('second')
  })

  test('does not count as held', async () => {
    await write('file', 'first')
    await rm(staging, { recursive: true })
    await expect(bring('file')).rejects.toThrow('ENOENT')
    expect(bringer.heldFiles).toBe(0)
    expect(await openFilesBelow(source)).toEqual([])
  })
})

describe('copies', () => {
  let far: string
  const copier = (bounds: Partial<BringBounds> = {}) => new FileBringer(staging, { heldFiles: 0, copiedBytes: 1e6, ...bounds })
  beforeEach(async () => {
    far = await mkdtemp(join(otherFileSystem(), 'mountglass-files-'))
  })
  afterEach(() => rm(far, { recursive: true }))

  test('count by their blocks while they are there', async () => {
    const copies = copier()
    for (const text of ['first', 'second', 'x'.repeat(5_000)]) {
      await write('file', text, far)
      await bring('file', 'loose', far, copies)
      expect(await textOf('file')).toBe(text)
      expect(copies.copiedBytes).toBe(text.length > 4_096 ? 8_192 : 4_096)
    }
    await copies.remove(join(into, 'file'))
    expect(copies.copiedBytes).toBe(0)
  })

  test('are not made beyond a bound that several folders share', async () => {
    const copies = copier({
      onCopy: () => {
        throw new ViewUnavailable('too much')
      },
    })
    await write('file', 'text', far)
    await expect(bring('file', 'loose', far, copies)).rejects.toThrow('too much')
    expect(await readdir(into)).toEqual([])
  })
})

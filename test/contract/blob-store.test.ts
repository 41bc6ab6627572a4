import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { describeDrivers, LATE_BLOBS, LOCAL_BLOB_STORES, temporaryFolder } from '#test/support/store-drivers.ts'
import { blobStoreContract } from './blob-store-contract.ts'

const text = (content: string) => new TextEncoder().encode(content)
const asText = (bytes: Uint8Array | null | undefined) => (bytes ? new TextDecoder().decode(bytes) : null)

describeDrivers('objects', [...LOCAL_BLOB_STORES, LATE_BLOBS], blobStoreContract)

describe('objects on disk', () => {
  test('objects exist after the store is opened again', async () => {
    const folder = await temporaryFolder()
    const first = await openDiskBlobStore(folder)
    await first.create('a/b', text('kept'))
    await first.close()
    const second = await openDiskBlobStore(folder)
    expect(asText((await second.read('a/b'))?.bytes)).toBe('kept')
    expect(await second.create('a/b', text('other'))).toBe('exists')
  })

  test("two stores on one folder see each other's objects at once", async () => {
    const folder = await temporaryFolder()
    const [one, other] = [await openDiskBlobStore(folder), await openDiskBlobStore(folder)]
    const outcomes = await Promise.all(
      [one, other].flatMap(store => Array.from({ length: 8 }, () => store.create('k', text('x')))),
    )
    expect(outcomes.filter(outcome => outcome === 'created')).toHaveLength(1)
    await other.remove('k')
    expect(await one.create('k', text('y'))).toBe('created')
  })

  test('a finished write leaves nothing but the object, readable by its owner alone', async () => {
    const folder = await temporaryFolder()
    const store = await openDiskBlobStore(folder)
    await Promise.all(['a', 'a', 'a/b', 'c'].map(key => store.create(key, text(key))))
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
    expect((await stat(join(folder, 'o', 'a', 'b~'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'o', 'a'))).mode & 0o777).toBe(0o700)
  })

  test('files of a killed process are removed at an opening an hour later, and files being written are not', async () => {
    const folder = await temporaryFolder()
    await openDiskBlobStore(folder)
    const [old, young] = [join(folder, 'tmp', 'old'), join(folder, 'tmp', 'young')]
    for (const path of [old, young]) await writeFile(path, 'half')
    const overAnHourAgo = new Date(Date.now() - 61 * 60 * 1000)
    await utimes(old, overAnHourAgo, overAnHourAgo)
    const store = await openDiskBlobStore(folder)
    expect(await readdir(join(folder, 'tmp'))).toEqual(['young'])
    expect(await store.list('')).toEqual([])
  })

  test.runIf(process.platform === 'linux')('a place that takes no folder is refused', async () => {
    await expect(openDiskBlobStore('/proc/nothing/store')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('a folder that was removed by hand is made again', async () => {
    const folder = await temporaryFolder()
    const store = await openDiskBlobStore(folder)
    await store.create('pub/1/a', text('a'))
    await rm(join(folder, 'o', 'pub'), { recursive: true })
    expect(await store.list('')).toEqual([])
    expect(await store.create('pub/1/a', text('a'))).toBe('created')
  })

  test('a folder in the place of an object is refused, and everything else stays readable', async () => {
    const folder = await temporaryFolder()
    const store = await openDiskBlobStore(folder)
    await store.create('kept', text('kept'))
    await writeFile(join(folder, 'o', 'pub'), 'not a folder')
    await expect(store.create('pub/a', text('a'))).rejects.toThrow(/ENOTDIR|EEXIST/)
    expect(asText((await store.read('kept'))?.bytes)).toBe('kept')
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
  })
})

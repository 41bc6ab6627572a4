import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { describeDrivers, LOCAL_STATE_STORES, temporaryFolder } from '#test/support/store-drivers.ts'
import { stateStoreContract } from './state-store-contract.ts'

describeDrivers('documents', LOCAL_STATE_STORES, stateStoreContract)

describe('entries on disk', () => {
  test('documents exist after the store is opened again, under the same etag', async () => {
    const file = join(await temporaryFolder(), 'new', 'folder', 'docs.sqlite')
    const first = await openDiskStateStore(file)
    await first.create('key', { a: 1 })
    const kept = await first.read('key')
    await first.close()
    const second = await openDiskStateStore(file)
    expect(await second.read('key')).toEqual(kept)
    await second.close()
  })

  test('closing twice is no error, and a closed store answers nothing', async () => {
    const store = await openDiskStateStore(join(await temporaryFolder(), 'docs.sqlite'))
    await store.close()
    await store.close()
    await expect(store.read('key')).rejects.toThrow()
  })

  test('a store that closes during a write keeps the write', async () => {
    const file = join(await temporaryFolder(), 'docs.sqlite')
    const store = await openDiskStateStore(file)
    const writes = Array.from({ length: 20 }, (_, number) => store.create(`key/${number}`, number))
    await store.close()
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 'written'))
    const again = await openDiskStateStore(file)
    expect(await again.list('key/')).toHaveLength(20)
    await again.close()
  })

  test('the file and those beside it are readable only by their owner', async () => {
    const file = join(await temporaryFolder(), 'docs.sqlite')
    const store = await openDiskStateStore(file)
    await store.create('key', 1)
    for (const path of [file, `${file}-wal`, `${file}-shm`]) expect((await stat(path)).mode & 0o777).toBe(0o600)
    await store.close()
  })

  test('a file of another version is refused and left unchanged', async () => {
    const file = join(await temporaryFolder(), 'docs.sqlite')
    await (await openDiskStateStore(file)).close()
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 2')
    database.close()
    await expect(openDiskStateStore(file)).rejects.toThrow('the file has schema version 2')
    await expect(openDiskStateStore(file)).rejects.toThrow('the file has schema version 2')
  })

  test('a file that is no database is refused and left unchanged', async () => {
    const file = join(await temporaryFolder(), 'docs.sqlite')
    await writeFile(file, 'notes of somebody\n'.repeat(100))
    await expect(openDiskStateStore(file)).rejects.toThrow('not a database')
    expect((await stat(file)).size).toBe(1_800)
  })
})

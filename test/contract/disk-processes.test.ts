import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { readOrCreateSecret, replaceSecret } from '#infra/disk/secret-file.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { startStoreProcess } from '#test/support/store-process.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('several processes on one disk', () => {
  test('8 processes that open a new store at once and count in one document lose no increment', async () => {
    const file = join(await temporaryFolder(), 'docs.sqlite')
    const ends = await Promise.all(numbers(8).map(() => startStoreProcess('increment', [file, 'counter', '25']).ended))
    expect(ends).toEqual(numbers(8).map(() => ({ code: 0, signal: null, errors: '' })))
    const states = await openDiskStateStore(file)
    expect((await states.read('counter'))?.value).toBe(200)
    await states.close()
  })

  test('writes that the system refuses throw, leave nothing behind, and remove nothing', async () => {
    const folder = await temporaryFolder()
    await (await openDiskBlobStore(join(folder, 'blobs'))).create('kept', Buffer.from('kept object'))
    const first = await openDiskStateStore(join(folder, 'docs.sqlite'))
    await first.create('kept', 'kept document')
    await first.close()

    const limited = startStoreProcess('refused', [folder], { fileBytesAtMost: 1024 * 1024 })
    expect(await limited.ended).toEqual({ code: 0, signal: null, errors: '' })
    expect(limited.lines).toEqual(['refused', 'refused', 'refused', 'kept object', '"kept document"'])

    const blobs = await openDiskBlobStore(join(folder, 'blobs'))
    expect(await readdir(join(folder, 'blobs', 'tmp'))).toEqual([])
    expect(await blobs.list('')).toEqual(['kept'])
    expect(await blobs.create('large', new Uint8Array(4_000_000))).toBe('created')
    const states = await openDiskStateStore(join(folder, 'docs.sqlite'))
    expect(await states.list('')).toEqual(['kept'])
    expect((await states.create('large', 'x'.repeat(4_000_000))).status).toBe('written')
    await states.close()
  })
})

describe('the secret file', () => {
  test('8 processes that start at once get one secret, readable by its owner alone', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'new', 'secret')
    const processes = numbers(8).map(() => startStoreProcess('secret', [file]))
    for (const { ended } of processes) expect(await ended).toEqual({ code: 0, signal: null, errors: '' })
    const secrets = new Set(processes.flatMap(({ lines }) => lines))
    expect(secrets.size).toBe(1)
    expect([...secrets][0]).toMatch(/^secret of \d+$/)
    expect(await readFile(file, 'utf8')).toBe(`${[...secrets][0]}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'new'))).toEqual(['secret'])
  })

  test('a secret that the operator wrote is taken without its line break, and none is made', async () => {
    const file = join(await temporaryFolder(), 'secret')
    await writeFile(file, ' operator\n\n')
    expect(await readOrCreateSecret(file, () => 'made')).toBe('operator')
  })

  test('an empty secret is refused, by any writer', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'empty'), '\n')
    expect(await readOrCreateSecret(join(folder, 'empty'), () => 'made'), 'who uses it tells that it is damaged').toBe('')
    await expect(readOrCreateSecret(join(folder, 'new'), () => ' ')).rejects.toThrow('the new secret is empty')
    expect(await readdir(folder)).toEqual(['empty'])
  })
  test('of simultaneous changes each is kept or refused, and a change that throws leaves nothing behind', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'secret')
    expect(await replaceSecret(file, () => 'made')).toBe(false)
    await readOrCreateSecret(file, () => 'a')
    const changes = await Promise.allSettled(numbers(8).map(() => replaceSecret(file, text => `${text}b`)))
    const kept = changes.filter(({ status }) => status === 'fulfilled').length
    expect(kept).toBeGreaterThan(0)
    expect(await readFile(file, 'utf8')).toBe(`a${'b'.repeat(kept)}\n`)
    const throwing = () => {
      throw new Error('no')
    }
    await expect(replaceSecret(file, throwing)).rejects.toThrow('no')
    await expect(replaceSecret(file, () => ' ')).rejects.toThrow('the new secret is empty')
    expect(await readdir(folder)).toEqual(['secret'])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})

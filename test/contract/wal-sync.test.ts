import { expect, test } from 'vitest'
import { createWalSync } from '#infra/disk/wal-sync.ts'

/* A disk that fails: what it did not write is lost without another word, since a later sync of the same file succeeds. */

function openLog({ failures = 0, canEmpty = true } = {}) {
  const said: string[] = []
  const state = { failures, canEmpty }
  const log = {
    async datasync() {
      said.push('sync')
      if (state.failures-- > 0) throw new Error('the disk is failing')
    },
    async close() {},
  }
  const checkpoint = () => {
    said.push('checkpoint')
    return state.canEmpty
  }
  return { state, said, walSync: createWalSync(log, checkpoint) }
}

test('commits that come while a sync runs share the next one', async () => {
  const { said, walSync } = openLog()
  const first = walSync.sync()
  await Promise.resolve()
  expect(walSync.isBehind).toBe(true)
  await Promise.all([first, walSync.sync(), walSync.sync()])
  expect(said).toEqual(['sync', 'sync'])
  expect(walSync.isBehind).toBe(false)
})

test('after a sync that failed nothing is called durable until the log is emptied', async () => {
  const { state, said, walSync } = openLog({ failures: 1, canEmpty: false })
  await expect(walSync.sync()).rejects.toThrow('the disk is failing')
  expect(walSync.isBehind).toBe(true)
  await expect(walSync.sync()).rejects.toThrow('an earlier write was not synced')
  state.canEmpty = true
  await walSync.sync()
  await walSync.sync()
  expect(said).toEqual(['sync', 'checkpoint', 'checkpoint', 'sync', 'sync'])
  expect(walSync.isBehind).toBe(false)
})

test('a sync that waits for one that fails does not succeed by itself', async () => {
  const { said, walSync } = openLog({ failures: 1, canEmpty: false })
  const failing = walSync.sync()
  await Promise.resolve()
  const waiting = walSync.sync()
  await expect(failing).rejects.toThrow('the disk is failing')
  await expect(waiting).rejects.toThrow('an earlier write was not synced')
  expect(said).toEqual(['sync', 'checkpoint'])
})

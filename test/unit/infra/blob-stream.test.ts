import { afterAll, beforeEach, expect, test } from 'vitest'
import { openBlobStream } from '#infra/git/blob-stream.ts'
import { createRepositories } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'

const SIZE_BYTES = 3_000_000
const repositories = await createRepositories()
const repository = await repositories.create('acme', 'tools')
const oid = await repository.writeBlob(new Uint8Array(SIZE_BYTES).fill(7))
afterAll(() => repositories.remove())

let lent: number
let left: AbortController
beforeEach(() => {
  lent = 0
  left = new AbortController()
})

function open() {
  const openView = async () => {
    lent++
    return { gitDir: repository.gitDir, remove: async () => void lent-- }
  }
  return openBlobStream(
    { client: 'reader', openView, signal: left.signal },
    { oid, sizeBytes: SIZE_BYTES },
    { firstByte: 0, lastByte: SIZE_BYTES - 1 },
  )
}

test('a stream that is read gives all bytes, and the repository back', async () => {
  let bytes = 0
  for await (const piece of await open()) bytes += piece.length
  expect([bytes, lent]).toEqual([SIZE_BYTES, 0])
})

test('a client that leaves between the first piece and the pipe gives the repository back', async () => {
  const stream = (await open())[Symbol.asyncIterator]()
  expect(lent).toBe(1)
  left.abort()
  await until(() => lent === 0)
  await expect(stream.next()).rejects.toThrow('aborted')
})

test('a client that leaves while the stream is opened gives the repository back', async () => {
  const opening = open().catch(() => null)
  left.abort()
  await opening
  await until(() => lent === 0)
})

test.each([0, 1])('a stream that is closed after %i pieces gives the repository back', async count => {
  const stream = (await open())[Symbol.asyncIterator]()
  for (let piece = 0; piece < count; piece++) await stream.next()
  await stream.return?.()
  expect(lent).toBe(0)
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { gzipMember } from '#indexer/snapshot/gzip-member.ts'
import { createGzipThreads, type MemberCompressor } from '#indexer/snapshot/gzip-thread.ts'

const MEMBERS = [
  new Uint8Array(),
  Buffer.from('a text\n'.repeat(40)),
  ...Array.from({ length: 30 }, (_, index) => Buffer.from(`page ${index} `.repeat(500 + 10 * index))),
  randomBytes(70_000),
  Buffer.from('a long text\n'.repeat(60_000)),
]
const MUCH_TEXT = Number.POSITIVE_INFINITY

test('members that a thread compresses have the bytes of those that this thread does', async () => {
  const compressor = start(createGzipThreads())
  const members = await Promise.all(MEMBERS.map(bytes => compressor.compress(bytes)))
  expect(members.map(hex)).toEqual((await Promise.all(MEMBERS.map(gzipMember))).map(hex))
  await compressor.close()
})

test('a thread is kept for the next snapshot, and takes up less text than a new one', async () => {
  const threads = createGzipThreads()
  expect(threads.start(200_000)).toBeNull()
  const first = start(threads)
  await first.compress(Buffer.from('first'))
  await first.close()
  const second = threads.start(200_000)
  expect(second).not.toBeNull()
  expect(hex(await (second as MemberCompressor).compress(Buffer.from('second')))).toBe(
    hex(await gzipMember(Buffer.from('second'))),
  )
  await second?.close()
})

test('what waits fails when the compressor is closed, and so does what comes later; its thread is not kept', async () => {
  const threads = createGzipThreads()
  const compressor = start(threads)
  const waiting = MEMBERS.map(bytes => compressor.compress(bytes).then(String, error => (error as Error).message))
  await compressor.close()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['the thread that compresses was closed']))
  await expect(compressor.compress(Buffer.from('late'))).rejects.toThrow('was closed')
  expect(threads.start(200_000)).toBeNull()
})

test('members fail with their thread', async () => {
  const failing = 'data:text/javascript,process.getBuiltinModule("worker_threads").parentPort.on("message",()=>process.exit(3))'
  const compressor = start(createGzipThreads(new URL(failing)))
  await expect(Promise.all(MEMBERS.map(bytes => compressor.compress(bytes)))).rejects.toThrow('ended with 3')
  await expect(compressor.compress(Buffer.from('late'))).rejects.toThrow('ended with 3')
  await compressor.close()
})

function start(threads: ReturnType<typeof createGzipThreads>): MemberCompressor {
  return threads.start(MUCH_TEXT) as MemberCompressor
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

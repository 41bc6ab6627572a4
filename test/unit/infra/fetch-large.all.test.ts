import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { FetchTooLarge, fetchBlobs, fetchTrees } from '#infra/git/fetch.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
import { openScratch } from '#infra/git/view.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'
import { answering, packet, writersIn } from '#test/support/upload-pack-host.ts'

// What takes seconds of a processor, or hundreds of megabytes.

const served = await serveRepositories()
const repository = await served.create()
const remote: Remote = { url: `${served.github.origins.web}/acme/${repository.name}.git`, authorization: null }
const scratch = await openScratch()
const signal = new AbortController().signal

afterAll(async () => {
  await scratch.remove()
  await served.close()
})

test('a fetch above its processor time is refused as too large', async () => {
  const zeros = await repository.writeZeroBlob(2 ** 31)
  const commit = await repository.commit({ 'zeros.md': { blob: zeros } })
  const options = { gitDir: scratch.gitDir, remote, signal, resources: { cpuSeconds: 1, fileBytes: 2 ** 30 } }
  await fetchTrees(options, commit)
  await expect(fetchBlobs(options, [zeros])).rejects.toThrow(FetchTooLarge)
})

test('a file that is larger than git may hold is fetched all the same', async () => {
  const zeros = await repository.writeZeroBlob(300 * 1024 * 1024)
  const commit = await repository.commit({ 'zeros.md': { blob: zeros } })
  const options = { gitDir: scratch.gitDir, remote, signal }
  await fetchTrees(options, commit)
  await fetchBlobs(options, [zeros])
})

test('small changes of large files are unpacked one at a time, however many processors there are', async () => {
  const size = 64 * 1024 * 1024
  const pack = packOfChanges(size, 4).toString('latin1')
  const parts = pack.match(/.{1,60000}/gs) ?? []
  const body = [packet('packfile\n'), ...parts.map(part => packet(`\x01${part}`)), '0000'].join('')
  const host = await answering(Buffer.from(body, 'latin1'))
  let isOver = false
  const fetching = fetchBlobs({ gitDir: scratch.gitDir, remote: host.remote, signal }, ['a'.repeat(40)]).finally(() => {
    isOver = true
  })
  let most = 0
  while (!isOver) {
    for (const pid of writersIn(scratch.gitDir)) most = Math.max(most, memoryOf(pid))
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  await fetching
  await host.close()
  expect(most).toBeGreaterThan(size)
  expect(most).toBeLessThan(3 * size)
})

/** A pack of files of nothing but zeros, with a change of each, some kilobytes in all. */
function packOfChanges(sizeBytes: number, files: number): Buffer {
  const varint = (value: number): number[] =>
    value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))]
  const head = (type: number, size: number) => {
    const [low, rest] = [size % 0x10, Math.floor(size / 0x10)]
    return Buffer.from(rest === 0 ? [type * 0x10 + low] : [0x80 + type * 0x10 + low, ...varint(rest)])
  }
  const parts = [Buffer.from('PACK'), Buffer.from([0, 0, 0, 2]), Buffer.from([0, 0, 0, 2 * files])]
  for (let file = 0; file < files; file++) {
    const bytes = Buffer.alloc(sizeBytes)
    bytes[0] = file
    const packed = deflateSync(bytes, { level: 1 })
    const base = Buffer.concat([head(3, sizeBytes), packed])
    // A byte of its own, and then the first 64 KiB of the file again and again.
    const copies = sizeBytes / 0x10000
    const change = Buffer.from([...varint(sizeBytes), ...varint(sizeBytes + 1), 1, file + 1, ...new Array(copies).fill(0x80)])
    const back = [base.length % 0x80]
    for (let rest = base.length >> 7; rest > 0; rest = (rest - 1) >> 7) back.unshift(0x80 + ((rest - 1) % 0x80))
    parts.push(base, head(6, change.length), Buffer.from(back), deflateSync(change))
  }
  const body = Buffer.concat(parts)
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

/** The most that a process has held, in bytes; 0 when it is gone. */
function memoryOf(pid: string): number {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

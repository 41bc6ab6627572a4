import { expect, test } from 'vitest'
import { warmUp } from '#indexer/jobs/warm-up.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'
import { createGzipThreads } from '#indexer/snapshot/gzip-thread.ts'

test('a process warms up with skills that are served in full, so that it writes records and counts tokens', async () => {
  const skills = await warmUp({ searchThreads: null, gzipThreads: null }, new AbortController().signal)
  expect(skills.length).toBeGreaterThan(0)
  expect(skills.filter(({ tokens }) => tokens === undefined)).toEqual([])
})

test('a job that arrives ends it', async () => {
  const arrived = new AbortController()
  setImmediate(() => arrived.abort(new Error('a job has arrived')))
  await expect(warmUp({ searchThreads: null, gzipThreads: null }, arrived.signal)).rejects.toThrow('a job has arrived')
})

test('it leaves a thread of each kind for the first job, also one of little text', async () => {
  const { signal } = new AbortController()
  const threads = { searchThreads: createSearchThreads(), gzipThreads: createGzipThreads() }
  const place = { addBytes: async () => [] }
  const start = () => [threads.searchThreads.start(place, signal, SMALL_TEXT_BYTES), threads.gzipThreads.start(SMALL_TEXT_BYTES)]
  expect(start()).toEqual([null, null])
  await warmUp(threads, signal)
  const started = start()
  expect(started).not.toContain(null)
  await Promise.all(started.map(one => one?.close()))
})

const SMALL_TEXT_BYTES = 200_000

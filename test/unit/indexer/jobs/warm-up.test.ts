import { expect, test } from 'vitest'
import { warmUp } from '#indexer/jobs/warm-up.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'

test('warming up a process reads skills that are served in full, so that it writes records', async () => {
  const skills = await warmUp(null, new AbortController().signal)
  expect(skills.length).toBeGreaterThan(0)
  expect(skills.filter(({ tokens }) => tokens === undefined)).toEqual([])
})

test('warming up ends when a job arrives', async () => {
  const arrived = new AbortController()
  setImmediate(() => arrived.abort(new Error('a job has arrived')))
  await expect(warmUp(null, arrived.signal)).rejects.toThrow('a job has arrived')
})

test('warming up leaves a search thread for the first job, even one of little text', async () => {
  const { signal } = new AbortController()
  const threads = createSearchThreads()
  const start = () => threads.start({ addBytes: async () => [] }, signal, SMALL_TEXT_BYTES)
  expect(start()).toBeNull()
  await warmUp(threads, signal)
  const started = start()
  expect(started).not.toBeNull()
  await started?.close()
})

const SMALL_TEXT_BYTES = 200_000

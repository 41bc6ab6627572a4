import { expect, test } from 'vitest'
import { warmUp } from '#indexer/jobs/warm-up.ts'

test('a process warms up with a repository that has everything', async () => {
  await expect(warmUp(new AbortController().signal)).resolves.toBeUndefined()
})

test('a job that arrives ends it', async () => {
  const arrived = new AbortController()
  setImmediate(() => arrived.abort(new Error('a job has arrived')))
  await expect(warmUp(arrived.signal)).rejects.toThrow('a job has arrived')
})

import { expect, test } from 'vitest'
import { warmUp } from '#indexer/jobs/warm-up.ts'

test('a process warms up with skills that are served in full, so that it writes records and counts tokens', async () => {
  const skills = await warmUp(new AbortController().signal)
  expect(skills.length).toBeGreaterThan(0)
  expect(skills.filter(({ tokens }) => tokens === undefined)).toEqual([])
})

test('a job that arrives ends it', async () => {
  const arrived = new AbortController()
  setImmediate(() => arrived.abort(new Error('a job has arrived')))
  await expect(warmUp(arrived.signal)).rejects.toThrow('a job has arrived')
})

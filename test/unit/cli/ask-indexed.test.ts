import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Answers, askIndexed } from '#cli/answers.ts'
import { readyMount } from '#test/site/support/answers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** How often a person is told to wait for an index that is ready after so many questions. */
async function timesTold({ pauseMs, indexing }: { pauseMs: number; indexing: number }): Promise<number> {
  const mounts = [...Array.from({ length: indexing }, () => ({ ...readyMount(), index: { status: 'indexing' } })), readyMount()]
  const answers = { pauseMs, atOnce: 1, get: async () => mounts.shift() } as unknown as Answers
  const told: string[] = []
  const asked = askIndexed(answers, '/local/acme/tools', { timeoutMs: 60_000, onWaiting: address => told.push(address) })
  await vi.advanceTimersByTimeAsync(60_000)
  expect((await asked).index.status).toBe('ready')
  return told.length
}

test.each([
  [{ pauseMs: 50, indexing: 0 }, 0],
  [{ pauseMs: 50, indexing: 19 }, 0],
  [{ pauseMs: 50, indexing: 20 }, 1],
  [{ pauseMs: 50, indexing: 60 }, 1],
  [{ pauseMs: 1_000, indexing: 1 }, 1],
])('a wait of less than a second is not reported, a longer one once: %j', async (waiting, times) => {
  expect(await timesTold(waiting)).toBe(times)
})

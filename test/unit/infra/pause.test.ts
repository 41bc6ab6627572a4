import { expect, test } from 'vitest'
import { Pause } from '#infra/github/git-pauses.ts'

function createPause() {
  let seconds = 0
  const pause = new Pause({ now: () => new Date(seconds * 1000) })
  const limit = (retryAfterSeconds: number | null) => pause.begin({ status: 'rate_limited', retryAfterSeconds })
  const advance = (by: number) => {
    seconds += by
  }
  return { pause, limit, left: () => pause.refusal()?.retryAfterSeconds ?? null, advance }
}

test('the longest wait that the host asked for counts', () => {
  const { limit, left, advance } = createPause()
  limit(300)
  advance(10)
  expect(limit(5)).toEqual({ status: 'rate_limited', retryAfterSeconds: 290 })
  expect(limit(null).retryAfterSeconds).toBe(290)
  expect(limit(400).retryAfterSeconds).toBe(400)
  advance(399)
  expect(left()).toBe(1)
  advance(1)
  expect(left()).toBeNull()
})

test('a wait of no seconds is a limit without seconds, whose pauses grow until the host answers', () => {
  const { pause, limit, advance } = createPause()
  expect(limit(0).retryAfterSeconds).toBe(60)
  advance(60)
  expect(limit(null).retryAfterSeconds).toBe(120)
  advance(120)
  pause.noteAnswered()
  expect(limit(0).retryAfterSeconds).toBe(60)
})

test('a limit without seconds counts during a shorter pause of another kind', () => {
  const { limit, advance } = createPause()
  limit(1)
  expect(limit(null).retryAfterSeconds).toBe(60)
  advance(10)
  expect(limit(null).retryAfterSeconds, 'of the same limit').toBe(50)
})

import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again until it is so; the time of the test is the bound. For what nobody tells of. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}

const FIRST_REST_MS = 20
const LONGEST_REST_MS = 250

/**
 * Yields before each poll, until `patienceMs` have passed. The rests between polls begin short and take a quarter of the wait: on a busy
 * machine, questions in steady succession took more processor time than the work that they waited for.
 */
export async function* restsBetweenLooks(patienceMs: number, longestRestMs = LONGEST_REST_MS): AsyncGenerator<void> {
  const startedAt = performance.now()
  for (let waited = 0; waited < patienceMs; waited = performance.now() - startedAt) {
    yield
    await sleep(Math.min(Math.max(FIRST_REST_MS, waited / 4), longestRestMs))
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { descendantsOf, killTree, readResidentBytes } from '#indexer/processes.ts'
import { restAfter } from '#indexer/worker.ts'

test('a process is killed together with all that came from it, also what left its group', async () => {
  // A name with brackets and spaces stands in the middle of what the system tells of a process.
  const script = 'exec -a "a) b (c" sh -c "setsid sleep 1000 & sleep 1000 & wait"'
  const child = spawn('bash', ['-c', script], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const pid = child.pid as number
  while (descendantsOf(pid).length < 2) await sleep(10)
  const family = descendantsOf(pid)
  killTree(pid)
  expect(await exited).toEqual([null, 'SIGKILL'])
  while (family.some(isAlive)) await sleep(10)
})

test('the memory of a process is told; that of none is not', async () => {
  expect(await readResidentBytes(process.pid)).toBeGreaterThan(1024 * 1024)
  expect(await readResidentBytes(2 ** 30)).toBeNull()
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.each([
  [0, 0, 750],
  [0, 1, 1_250],
  [1, 0.5, 1_000],
  [3, 0.5, 4_000],
  [6, 0.5, 30_000],
  [2_000, 1, 37_500],
])('after %i failures in a row, and by chance %d, a worker looks again in %i ms', (failures, chance, milliseconds) => {
  expect(restAfter(failures, chance)).toBe(milliseconds)
})

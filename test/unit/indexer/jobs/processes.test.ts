import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { descendantsOf, killTree, readHeldBytes } from '#indexer/jobs/processes.ts'
import { restAfter } from '#indexer/jobs/worker.ts'
import { isAlive } from '#test/support/is-alive.ts'
import { until } from '#test/support/until.ts'

test('a process is killed with all its descendants, even those that left its group', async () => {
  // A name with brackets and spaces stands in the middle of what the system tells of a process.
  const script = 'exec -a "a) b (c" sh -c "setsid sleep 1000 & sleep 1000 & wait"'
  const child = spawn('bash', ['-c', script], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const pid = child.pid as number
  await until(() => descendantsOf(pid).length >= 2)
  const family = descendantsOf(pid)
  killTree(pid)
  expect(await exited).toEqual([null, 'SIGKILL'])
  await until(() => !family.some(isAlive))
})

test('the memory of a process is read; that of a missing one is null', async () => {
  const held = await readHeldBytes(process.pid)
  expect(held?.own).toBeGreaterThan(1024 * 1024)
  expect(await readHeldBytes(2 ** 30)).toBeNull()
})

const HOLD = `
  const held = Buffer.alloc(200 * 1024 * 1024, 1)
  process.stdout.write('holds')
  setInterval(() => held[0], 1000)`

test('memory of descendants counts, at any depth', async () => {
  const child = spawn('sh', ['-c', 'sh -c \'"$0" -e "$1"; true\' "$0" "$1"; true', process.execPath, HOLD], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => killTree(child.pid as number))
  await once(child.stdout, 'data')
  const held = await readHeldBytes(child.pid as number)
  expect(held?.own).toBeLessThan(50 * 1024 * 1024)
  expect(held?.below).toBeGreaterThan(200 * 1024 * 1024)
})

test('no code lists the threads of a process, which would let a thread of low priority delay the reaper', () => {
  const rooms = ['api', 'cli', 'core', 'indexer', 'infra', 'site', 'words']
  const files = rooms.flatMap(room => readdirSync(room, { recursive: true, encoding: 'utf8' }).map(path => join(room, path)))
  const sources = files.filter(path => path.endsWith('.ts'))
  expect(sources).toContain(join('indexer', 'jobs', 'processes.ts'))
  expect(sources.filter(path => /(readdir|opendir)\w*\([^)]*\/task\b/.test(readFileSync(path, 'utf8')))).toEqual([])
})

test.each([
  [0, 0, 750],
  [0, 1, 1_250],
  [1, 0.5, 1_000],
  [3, 0.5, 4_000],
  [6, 0.5, 30_000],
  [2_000, 1, 37_500],
])('after %i failures in a row, with chance %d, a worker looks again in %i ms', (failures, chance, milliseconds) => {
  expect(restAfter(failures, chance)).toBe(milliseconds)
})

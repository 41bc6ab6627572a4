import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'

const MODULE = join(import.meta.dirname, '..', '..', '..', 'infra', 'system', 'stop-signal.ts')

/** A program that is stopping: it ends as soon as its standard input does. */
async function startStopping(sameMilliseconds: number): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const program = `
    import { once } from 'node:events'
    import { stopOnSignal } from ${JSON.stringify(MODULE)}
    const input = once(process.stdin.resume(), 'end')
    process.on('SIGTERM', () => process.stdout.write('told'))
    stopOnSignal(async () => void (await input), 60_000, () => {}, ${sameMilliseconds})
    process.stdout.write('started')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  await once(child.stdout, 'data')
  return child
}

test("a supervisor's signal to every process of a group counts once, although a launcher forwards it", async () => {
  const child = await startStopping(600_000)
  child.kill('SIGTERM')
  await once(child.stdout, 'data')
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a second signal later ends the process at once', async () => {
  const child = await startStopping(0)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([1, null])
})

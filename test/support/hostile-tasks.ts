/** A program of `TaskProcess` that does what a broken library might. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveTasks } from '#api/pictures/task-process.ts'

export type HostileTask = 'answer' | 'throw' | 'loop' | 'wait' | 'grow' | 'die' | 'environment' | 'write' | 'start'

const WORK: Record<HostileTask, () => unknown> = {
  answer: () => process.pid,
  throw() {
    throw new Error('cannot')
  },
  loop() {
    for (;;);
  },
  wait: () => sleep(600_000),
  async grow() {
    const held: Buffer[] = []
    // A gigabyte: more than the limit of the process, and little enough for the machine if the limit is enforced late.
    while (held.length < 64) {
      held.push(Buffer.alloc(16 * 1024 * 1024, held.length))
      await sleep(5)
    }
    await sleep(600_000, held)
  },
  die: () => process.abort(),
  environment: () => Object.keys(process.env).sort(),
  write: () => writeFileSync('/tmp/mountglass-must-not-be-written', ''),
  start: () => spawnSync('true').error?.message ?? 'started',
}

serveTasks(async (task: HostileTask) => WORK[task]())

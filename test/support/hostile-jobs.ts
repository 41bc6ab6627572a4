import { spawn } from 'node:child_process'
import { getPriority } from 'node:os'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'

/**
 * What a job can do to its process, for repositories with such a name. Loaded by `NODE_OPTIONS=--import`, so that nothing of it lies in
 * the program itself.
 */

const TRICKS: Record<string, () => void> = {
  hangs() {
    for (;;);
  },
  /** Begins when it yields to other jobs, as the worker has it do once it is long. */
  dawdles() {
    while (getPriority() < YIELDING_NICENESS);
  },
  /** Does not end when the worker lets it go. */
  lingers() {
    process.prependListener('disconnect', () => {
      for (;;);
    })
  },
  'eats-objects'() {
    const eaten: unknown[] = []
    for (;;) eaten.push(Array.from({ length: 1_000 }, (_, index) => ({ index })))
  },
  'eats-buffers'() {
    const eaten: unknown[] = []
    // Not all in one turn, as the heap would not notice either.
    setInterval(() => eaten.push(Buffer.alloc(16 * 1024 * 1024, 1)), 5)
    hold()
  },
  'eats-elsewhere'() {
    const eat = 'const eaten = Buffer.alloc(512 * 1024 * 1024, 1); setTimeout(() => eaten[0], 60_000)'
    spawn(process.execPath, ['-e', eat], { stdio: 'ignore' })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
  aborts() {
    process.abort()
  },
  exits() {
    process.exit(0)
  },
}

/** Keeps the job from being begun. */
function hold(): void {
  process.removeAllListeners('message')
}

if (process.argv[1]?.endsWith('/job-main.ts')) {
  process.on('message', (message: { job?: { repository: { name: string } } }) => TRICKS[message.job?.repository.name ?? '']?.())
}

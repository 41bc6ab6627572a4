import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { programEnvironment } from './program-environment.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const HOSTILE = new URL('./hostile-jobs.ts', import.meta.url).href

/** `mountglass work`, known by its log alone. */
export interface WorkerProcess {
  child: ChildProcess
  log: LogLine[]
  /** What else it said. */
  errors: string[]
  /** The first line with the message, now or later, behind those that were found before with the same message. */
  said(message: string): Promise<LogLine>
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface LogLine {
  msg: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  [field: string]: any
}

/** Runs until the test ends at the latest. Repositories with the names of `hostile-jobs.ts` do what these say. */
export function startWorkerProcess(env: Record<string, string>, args: readonly string[] = []): WorkerProcess {
  const child = spawn(process.execPath, [LAUNCHER, 'work', ...args], {
    env: { ...programEnvironment(), MOUNTGLASS_GITHUB: 'off', NODE_OPTIONS: `--import ${HOSTILE}`, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log: LogLine[] = []
  const found = new Map<string, number>()
  const errors: string[] = []
  const lines = createInterface({ input: child.stderr })
  lines.on('line', line => {
    if (line.startsWith('{')) log.push(JSON.parse(line))
    else errors.push(line)
  })
  const read = once(lines, 'close')
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    await read
    return { code, signal }
  })
  let isOver = false
  ended.then(() => {
    isOver = true
  })
  onTestFinished(async () => {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await ended
  })

  const find = (message: string): LogLine | null => {
    const from = found.get(message) ?? 0
    const index = log.findIndex(({ msg }, at) => at >= from && msg === message)
    if (index < 0) return null
    found.set(message, index + 1)
    return log[index] as LogLine
  }

  return {
    child,
    log,
    errors,
    ended,
    async said(message) {
      for (;;) {
        const line = find(message)
        if (line !== null) return line
        if (isOver)
          throw new Error(`the worker ended without "${message}": ${errors.join('\n')}\n${log.map(({ msg }) => msg).join('\n')}`)
        await Promise.race([once(lines, 'line'), ended])
      }
    },
  }
}

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./store-program.ts', import.meta.url))

/** A process that runs one task of `store-program.ts`, until the test ends at the latest. */
export interface StoreProcess {
  /** What it printed so far, line by line; a line is printed after the step that it tells of. */
  lines: string[]
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>
}

/** `fileBytesAtMost`: the system refuses what would make a file longer. */
export function startStoreProcess(task: string, args: string[], limits: { fileBytesAtMost?: number } = {}): StoreProcess {
  const command = [process.execPath, PROGRAM, task, ...args]
  const { fileBytesAtMost } = limits
  // A POSIX shell counts in blocks of 512 bytes.
  const limited = ['sh', '-c', `ulimit -f ${(fileBytesAtMost ?? 0) / 512} && exec "$0" "$@"`, ...command]
  const [file = '', ...rest] = fileBytesAtMost === undefined ? command : limited
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'] })

  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', line => lines.push(line))
  let errors = ''
  child.stderr.on('data', chunk => (errors += chunk))
  const ended = new Promise<Awaited<StoreProcess['ended']>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, errors }))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })

  return { lines, ended }
}

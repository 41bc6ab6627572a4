import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { programEnvironment } from './program-environment.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

/** How a command of ours ended by itself, and what it printed, line by line. */
export interface Ended {
  code: number
  lines: string[]
}

/**
 * Runs `mountglass <command>` until it ends by itself. With other settings than those of a test it would go on: then it is killed.
 *
 * @param prefix a program that starts it, with its arguments
 */
export async function runToEnd(
  command: 'serve' | 'work',
  env: Record<string, string>,
  prefix: readonly string[] = [],
): Promise<Ended> {
  const [program = '', ...args] = [...prefix, process.execPath, LAUNCHER, command]
  const child = spawn(program, args, {
    env: { ...programEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      printed += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, lines: printed.split('\n').filter(line => line !== '') }
}

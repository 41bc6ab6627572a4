import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { runCommands } from '../../cli/commands.ts'
import { programEnvironment } from './program-environment.ts'

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

interface Where {
  /** Beside `programEnvironment()`. */
  env: Readonly<Record<string, string>>
  /** Default: the folder of the tests. */
  cwd?: string
}

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

/** Runs `mountglass` as a process, to its end. */
export function startCommand(args: readonly string[], { env, cwd }: Where): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], {
    env: { ...programEnvironment(), ...env },
    encoding: 'utf8',
    timeout: 240_000,
    ...(cwd !== undefined && { cwd }),
  })
  return { status, stdout, stderr }
}

/** Runs `mountglass` as a process whose stdout is closed at once, so that every write to it fails with EPIPE. */
export async function startWithClosedOutput(args: readonly string[], { env, cwd }: Where): Promise<Omit<Ran, 'stdout'>> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    env: { ...programEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stderr }
}

let isRunning = false

/**
 * Runs `mountglass` in this process, which spares the start of one: loading its sources takes most of the time of a short command. It gets its
 * environment, its folder and its outputs as a process of its own has them. That it ends by itself, and with this code, `startCommand` shows.
 */
export async function runCommand(args: readonly string[], { env, cwd = process.cwd() }: Where): Promise<Ran> {
  if (isRunning) throw new Error('one command at a time: a process has one environment and one output')
  isRunning = true
  const before = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode }
  const outputs = [catchOutput(process.stdout), catchOutput(process.stderr)]
  try {
    process.env = { ...programEnvironment(), ...env }
    process.chdir(cwd)
    process.exitCode = undefined
    await runCommands([process.execPath, LAUNCHER, ...args], process.env)
    const [stdout = '', stderr = ''] = outputs.map(({ text }) => text())
    return { status: Number(process.exitCode ?? 0), stdout, stderr }
  } finally {
    for (const { release } of outputs) release()
    process.chdir(before.cwd)
    process.env = before.env
    process.exitCode = before.exitCode
    isRunning = false
  }
}

function catchOutput(stream: NodeJS.WriteStream) {
  const { write } = stream
  let text = ''
  stream.write = (chunk: string | Uint8Array): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
  return {
    text: () => text,
    release() {
      stream.write = write
    },
  }
}

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { programEnvironment } from '../support/program-environment.ts'

/** Takes what has to be done at the end, however that comes: of a test, or of a run by hand. */
export type AtEnd = (end: () => Promise<void>) => void

/** A program in a process of its own, known by the lines that it prints. */
export interface Program {
  readonly pid: number
  /** All lines so far, in order. */
  readonly lines: readonly string[]
  /** What it said where it does not print its lines. */
  readonly errors: string
  readonly isAlive: boolean
  readonly isPaused: boolean
  /** Resolves with the first line for which `isMeant` holds, now or later. @throws Error when the program ends before */
  said(isMeant: (line: string) => boolean): Promise<string>
  /** Ends it at once, also where it stands still. */
  kill(): Promise<void>
  /** Has it stand still for a while. */
  pause(milliseconds: number): Promise<void>
}

export interface ProgramOptions {
  args?: readonly string[]
  /** Beside `programEnvironment()`. */
  env: Readonly<Record<string, string>>
  /** Where it prints its lines. Default: standard output. */
  linesOn?: 'stdout' | 'stderr'
}

/** Starts a program of Node. It is killed at the end at the latest. */
export function startProgram(file: string, { args = [], env, linesOn = 'stdout' }: ProgramOptions, atEnd: AtEnd): Program {
  // A program of ours ends when nobody holds the other end of its standard input any more.
  const child = spawn(process.execPath, [file, ...args], { env: { ...programEnvironment(), ...env }, stdio: 'pipe' })
  const lines: string[] = []
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  let errors = ''
  let isAlive = true
  let isPaused = false
  createInterface({ input: child[linesOn] }).on('line', line => {
    lines.push(line)
    tell()
  })
  const others = linesOn === 'stdout' ? child.stderr : child.stdout
  others.setEncoding('utf8').on('data', text => (errors = (errors + text).slice(-20_000)))
  // The pipe of a process that was killed.
  child.stdin.on('error', () => {})
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => {
      isAlive = false
      tell()
      resolve()
    })
  })

  const program: Program = {
    pid: child.pid ?? 0,
    lines,
    get errors() {
      return errors
    },
    get isAlive() {
      return isAlive
    },
    get isPaused() {
      return isPaused
    },
    said: isMeant =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.find(isMeant)
          if (line === undefined && isAlive) return
          listeners.delete(look)
          if (line === undefined) reject(new Error(`${file} ended too early:\n${lines.join('\n')}\n${errors}`))
          else resolve(line)
        }
        listeners.add(look)
        look()
      }),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async pause(milliseconds) {
      isPaused = true
      child.kill('SIGSTOP')
      await sleep(milliseconds)
      child.kill('SIGCONT')
      isPaused = false
    },
  }
  atEnd(() => program.kill())
  return program
}

/**
 * @param everyMs from one look to the next; for what costs more to ask, longer
 * @throws Error with what `what` says when it has not come in time
 */
export async function until(
  isDone: () => boolean | Promise<boolean>,
  seconds: number,
  what: () => string,
  everyMs = 50,
): Promise<void> {
  const giveUpAt = performance.now() + seconds * 1000
  while (!(await isDone())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${seconds} s: ${what()}`)
    await sleep(everyMs)
  }
}

/** Does all items, so many at once. */
export async function sideBySide<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>, atOnce = 6): Promise<void> {
  // One iterator for all of them.
  const rest = Array.from(items).values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

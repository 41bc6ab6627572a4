/** Starts a server from Debian's packages, supervises its processes, and stops all of them, even when it is killed itself. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { runQuietly } from '../setup/step.mjs'

/**
 * @typedef {object} ServerKind
 * @property {string[]} programs the programs it runs; all of them must be installed
 * @property {string[]} packages Debian's packages that have them
 * @property {() => Promise<() => Promise<void>>} [prepareInstall] called before the packages are installed; the function it returns is called afterwards
 * @property {string[]} [folders] folders with programs, beside those of `PATH`
 * @property {NodeJS.Signals} endSignal the signal that ends its processes soonest; their data is not needed any more
 * @property {(folder: string, daemons: Daemons) => Promise<Record<string, string>>} start starts it with its data below an empty
 *   folder and waits until it answers; gives the environment in which clients find it
 *
 * @typedef {object} Daemons
 * @property {(program: string, args: string[]) => Promise<string>} run runs a program to its end
 * @property {(program: string, args: string[]) => void} keep starts a program that stays, in the foreground of its own
 * @property {() => void} requireAlive throws when a program that should keep running has ended
 *
 * @typedef {object} Supervised
 * @property {Record<string, string>} env
 * @property {Promise<Error>} failed resolves when a process ended that should keep running
 * @property {() => Promise<void>} stop ends every process and removes the folder
 */

const STARTS = 3
const STOP_MS = 10_000

/**
 * Whether all programs of the server are installed.
 *
 * @param {ServerKind} kind
 */
export function isInstalled(kind) {
  return kind.programs.every(program => findProgram(kind, program) !== null)
}

/**
 * @param {ServerKind} kind
 * @param {string} folder does not exist yet, or belongs to an earlier start; for this server alone
 * @returns {Promise<Supervised>}
 */
export async function supervise(kind, folder) {
  for (let starts = 1; ; starts++) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const daemons = watchedDaemons(kind)
    const stop = async () => {
      await daemons.stop()
      await rm(folder, { recursive: true, force: true })
    }
    try {
      return { env: await kind.start(folder, daemons), failed: daemons.failed, stop }
    } catch (error) {
      await stop()
      // Another process may have taken its port before it listened.
      if (starts === STARTS) throw error
    }
  }
}

/** @param {ServerKind} kind */
function watchedDaemons(kind) {
  /** @type {Set<import('node:child_process').ChildProcess>} */
  const running = new Set()
  /** @type {Error | null} */
  let failure = null
  /** @type {(error: Error) => void} */
  let tell
  /** @type {Promise<Error>} */
  const failed = new Promise(resolve => {
    tell = resolve
  })
  let isStopping = false

  return {
    failed,

    /** @param {string} program @param {string[]} args */
    run: (program, args) => runQuietly(findProgram(kind, program) ?? program, args),

    /** @param {string} program @param {string[]} args */
    keep(program, args) {
      const path = findProgram(kind, program) ?? program
      // If this process is killed, the kernel kills the daemon as well.
      const child = spawn('setpriv', ['--pdeathsig', 'KILL', path, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
      let errors = ''
      child.stderr.setEncoding('utf8').on('data', text => (errors = (errors + text).slice(-4_000)))
      running.add(child)
      /** @param {string} end */
      const onEnd = end => {
        running.delete(child)
        if (isStopping) return
        failure ??= new Error(`${program} ended with ${end}\n${errors}`.trim())
        tell(failure)
      }
      child.once('error', error => onEnd(error.message))
      child.once('close', (code, signal) => onEnd(String(signal ?? code)))
    },

    requireAlive() {
      if (failure) throw failure
    },

    async stop() {
      isStopping = true
      // In reverse order: later processes depend on earlier ones.
      for (const child of [...running].reverse()) await endProcess(child, kind.endSignal)
    },
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
async function endProcess(child, signal) {
  const ended = new Promise(resolve => child.once('close', resolve))
  child.kill(signal)
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(kill)
}

/**
 * @param {ServerKind} kind
 * @param {string} program
 */
function findProgram({ folders = [] }, program) {
  const places = [...(process.env.PATH ?? '').split(delimiter), ...folders]
  return places.map(place => join(place, program)).find(path => existsSync(path)) ?? null
}

/**
 * The Node that runs the program. The sources are TypeScript, run as they are, so an older Node on the machine only starts the
 * one that comes with the packages.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'

/**
 * Where the Node of the packages lies on this platform.
 *
 * @param {string} root the checkout
 */
export function bundledNodePath(root, platform = process.platform, arch = process.arch) {
  const name = platform === 'win32' ? 'node.exe' : 'node'
  return join(root, 'node_modules', `node-${platform === 'win32' ? 'win' : platform}-${arch}`, 'bin', name)
}

/**
 * Which Node to use: the bundled one, else the one that is running when it is 24 or later, else `null`.
 *
 * @param {{ bundled: string | null, running: { path: string, version: string } }} choices `version` without the leading `v`
 */
export function chooseNode({ bundled, running }) {
  if (bundled !== null) return bundled
  return Number.parseInt(running.version, 10) >= 24 ? running.path : null
}

/**
 * The Node for this checkout, or `null` when there is none that can run it.
 *
 * @param {string} root the checkout
 */
export function findNode(root) {
  const bundled = bundledNodePath(root)
  return chooseNode({
    bundled: existsSync(bundled) ? bundled : null,
    running: { path: process.execPath, version: process.versions.node },
  })
}

export const NODE_MISSING = `this platform (${process.platform} ${process.arch}) needs Node 24 on the PATH; this is Node ${process.versions.node}`

/**
 * Enables Node's compile cache for this process and its children. Without it each process that runs the sources loads the TypeScript compiler,
 * which takes 30 MB and a tenth of a second. The cache lies in `node_modules`, whose owner decides anyway what runs; if that is not writable, nothing is
 * cached. `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` disables it.
 *
 * @param {string} root the checkout
 */
export function keepCompiledSources(root) {
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled-sources')
  module.enableCompileCache()
}

/**
 * Runs a program with this terminal and gives its exit code; signals sent to this process reach it too.
 *
 * A terminal sends Ctrl-C to every process in the foreground by itself, so SIGINT is only passed on where there is none:
 * twice would read as impatience.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} the exit code; 128 + the signal's number when a signal ended it
 */
export function runInForeground(command, args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env })
    /** @param {NodeJS.Signals} signal */
    const passOn = signal => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    /** @type {NodeJS.Signals[]} */
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, passOn)
    const unwatch = whenLeftByNpm(() => child.kill('SIGTERM'))
    /** @param {() => void} finish */
    const settle = finish => {
      unwatch()
      for (const signal of signals) process.off(signal, passOn)
      finish()
    }
    child.once('error', error => settle(() => reject(error)))
    child.once('exit', (code, signal) => settle(() => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal])))
  })
}

/**
 * Ignores EPIPE of the outputs: a reader such as `head` may close the pipe early, and the command still ends with its own exit code. What else
 * keeps an output from being written, such as a full disk, ends the program with a line.
 */
export function ignoreClosedPipes() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EPIPE') return
      process.stderr.write(`mountglass: the output cannot be written: ${error.message}\n`)
      process.exit(1)
    })
  }
}

const LOOK_MS = 250

/**
 * Told to stop, npm ends its shell, and the shell ends without a word to this process: then its parent is another one.
 *
 * @param {() => void} stop called once that has happened; never where npm did not start this process
 * @returns {() => void} ends the watch
 */
export function whenLeftByNpm(stop) {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    stop()
  }, LOOK_MS)
  look.unref()
  return () => clearInterval(look)
}

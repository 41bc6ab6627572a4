/**
 * The Node that runs the program. The sources are TypeScript, run as they are, so an older Node on the machine only starts the
 * one that comes with the packages.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { availableParallelism, constants } from 'node:os'
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

const HUGE_PAGES = 'glibc.malloc.hugetlb=1'
const MOST_HELPERS = 4
/** Holds the id of the process that began anew, which a process that it starts does not have. The C library may take its own variable away. */
const BEGUN = '_MOUNTGLASS_BEGUN'

/**
 * How a service on this machine begins: with its memory in huge pages, and with no more helper threads of V8 than there are processors beside that
 * of the event loop. `null` when it began so already, or when the operator said something else.
 *
 * To start git, the service is copied: its page tables, and each page again once it is written. All answers wait meanwhile. With huge pages
 * there is less to copy. The C library reads the variable only when a process begins. Other C libraries ignore it.
 *
 * The helpers collect garbage and compile, at the priority of the event loop. V8 has four of them on any machine, so on one processor the loop would
 * have a fifth of it while all are busy, in turns of 4 ms each.
 *
 * @param {{ platform: string, command: string | undefined, env: NodeJS.ProcessEnv, execArgv: string[], processors: number, pid: number }} start
 * @returns {{ env: NodeJS.ProcessEnv, execArgv: string[] } | null}
 */
export function serviceStart({ platform, command, env, execArgv, processors, pid }) {
  if (command !== 'serve' || env[BEGUN] === String(pid)) return null
  const needsPages = platform === 'linux' && env.GLIBC_TUNABLES === undefined
  const needsFewer =
    processors <= MOST_HELPERS && ![...execArgv, env.NODE_OPTIONS].some(said => /--v8[-_]pool[-_]size/.test(said ?? ''))
  if (!needsPages && !needsFewer) return null
  return {
    env: { ...env, ...(needsPages && { GLIBC_TUNABLES: HUGE_PAGES }), [BEGUN]: String(pid) },
    execArgv: needsFewer ? [...execArgv, `--v8-pool-size=${Math.max(1, processors - 1)}`] : execArgv,
  }
}

/**
 * Restarts a service in place, with the same process id, when `serviceStart` says how it should have begun. Otherwise it returns.
 *
 * @param {string} file the running program
 */
export function beginAsService(file) {
  const { platform, env, execArgv, pid } = process
  const args = process.argv.slice(2)
  const start = serviceStart({ platform, command: args[0], env, execArgv, pid, processors: availableParallelism() })
  // A process with a channel to its parent would lose it.
  if (start === null || process.execve === undefined || process.connected) return
  process.execve(process.execPath, [process.execPath, ...start.execArgv, file, ...args], start.env)
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

/** Ignores EPIPE of the outputs: a reader such as `head` may close the pipe early, and the command still ends with its own exit code. */
export function ignoreClosedPipes() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== 'EPIPE') throw error
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

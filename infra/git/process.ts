import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'

export interface GitOptions {
  gitDir: string
  /** Limits of the process, except on Windows. Default: none. */
  resources?: GitResources
  /** Settings of git besides those of `gitEnvironment`, which they override. */
  config?: Readonly<Record<string, string>>
  /** Kills the process. */
  signal?: AbortSignal
}

export interface GitResources {
  cpuSeconds: number
  /** Size of the largest file it may write. */
  fileBytes: number
  /** All memory that it may allocate; mapped files do not count. Default: no limit. */
  memoryBytes?: number
  /** The largest object that it may hold. Default: that of `gitEnvironment`. */
  allocationBytes?: number
}

/** A running git. The caller reads `output` to the end or calls `stop`. */
export interface GitProcess {
  readonly input: Writable
  /** Ends when git ends, for whatever reason. */
  readonly output: Readable
  /** Never rejects. */
  readonly ended: Promise<GitEnd>
  /** Kills git and waits for its end. */
  stop(): Promise<void>
}

export interface GitEnd {
  /** `null` when git was killed or could not be started. */
  status: number | null
  /** The signal that killed git. */
  signal: NodeJS.Signals | null
  /** The first 4 KiB of stderr. It may name folders of this machine: for logs, not for answers. */
  message: string
}

/** Git failed. `status` is `null` when it was killed or could not be started. */
export class GitError extends Error {
  readonly status: number | null

  constructor(subcommand: string, end: GitEnd) {
    super(`git ${subcommand} failed${end.status === null ? '' : ` with status ${end.status}`}: ${end.message}`)
    this.name = 'GitError'
    this.status = end.status
  }
}

const MESSAGE_BYTES = 4 * 1024

/**
 * Starts git in a clean environment. The caller puts `--end-of-options` before untrusted arguments. No shell interprets arguments.
 *
 * `ended` reports a git that is missing or may not be run, and a limit on the number of processes.
 *
 * @throws GitError when the process is out of file descriptors. Other system errors, such as a too long list of arguments, are thrown as they are
 */
export function startGit(args: readonly string[], { gitDir, signal, resources, config = {} }: GitOptions): GitProcess {
  const [program, ...leading] = resources === undefined || process.platform === 'win32' ? ['git'] : limited(resources)
  const settings = Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const child = spawn(program as string, [...leading, `--git-dir=${gitDir}`, '--no-pager', ...settings, ...args], {
    cwd: '/',
    env: { ...gitEnvironment(), ...allocationLimit(resources) },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  yieldToAnswers(child.pid)
  const ending = endOf(child)
  // Node creates no streams when it is out of file descriptors; the error event comes later.
  if (!child.stdin) throw new GitError(args[0] ?? '', { status: null, signal: null, message: 'out of file descriptors' })
  let isOver = false
  const kill = () => {
    if (!isOver) child.kill('SIGKILL')
  }
  if (signal?.aborted) kill()
  signal?.addEventListener('abort', kill)
  const ended = ending.finally(() => {
    isOver = true
    signal?.removeEventListener('abort', kill)
  })
  child.stdin.on('error', () => {}) // when git ends early, stderr and the status say why
  return {
    input: child.stdin,
    output: child.stdout,
    ended,
    async stop() {
      kill()
      child.stdout.destroy()
      await ended
    },
  }
}

/** Answers that need no git come first. */
function yieldToAnswers(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(), YIELDING_NICENESS))
  } catch {
    // Git ended already, or this system knows no priorities.
  }
}

const FILE_BLOCK_BYTES = 512

/** A command that sets the limits in a shell and then replaces the shell by git. The shell passes the arguments on as they are. */
function limited({ cpuSeconds, fileBytes, memoryBytes }: GitResources): string[] {
  const script = 'ulimit -t "$1" && ulimit -f "$2" && { [ -z "$3" ] || ulimit -d "$3"; } && shift 3 && exec git "$@"'
  const limits = [cpuSeconds, fileBytes / FILE_BLOCK_BYTES].map(limit => String(Math.ceil(limit)))
  return ['/bin/sh', '-c', script, 'sh', ...limits, memoryBytes === undefined ? '' : String(Math.ceil(memoryBytes / 1024))]
}

function allocationLimit(resources: GitResources | undefined): Record<string, string> {
  return resources?.allocationBytes === undefined ? {} : { GIT_ALLOC_LIMIT: String(resources.allocationBytes) }
}

function endOf(child: ChildProcessWithoutNullStreams): Promise<GitEnd> {
  const said: Buffer[] = []
  let saidBytes = 0
  child.stderr?.on('data', (chunk: Buffer) => {
    if (saidBytes < MESSAGE_BYTES) said.push(chunk.subarray(0, MESSAGE_BYTES - saidBytes))
    saidBytes += chunk.length
  })
  return new Promise(resolve => {
    child.once('error', error => resolve({ status: null, signal: null, message: error.message }))
    child.once('close', (status, signal) => resolve({ status, signal, message: Buffer.concat(said).toString().trim() }))
  })
}

export interface RunOptions extends GitOptions {
  input?: string
  /** Default: 1 MiB. */
  maxOutputBytes?: number
}

/** Runs git and returns its output. @throws GitError, also when there is more output than `maxOutputBytes` */
export async function runGit(args: readonly string[], options: RunOptions): Promise<Buffer> {
  const { input = '', maxOutputBytes = 1024 * 1024, ...started } = options
  const git = startGit(args, started)
  git.input.end(input)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of git.output as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxOutputBytes) break
  }
  if (bytes > maxOutputBytes) {
    await git.stop()
    throw new GitError(args[0] ?? '', { status: null, signal: null, message: `more than ${maxOutputBytes} bytes of output` })
  }
  const end = await git.ended
  if (end.status !== 0) throw new GitError(args[0] ?? '', end)
  return Buffer.concat(chunks)
}

const OLDEST_GIT = [2, 36] as const

/** `PATH` with which git was found to be new enough. */
let foundIn: string | undefined | null = null

/** Looks once a process. @throws Error when git is missing, or too old for `cat-file --batch-command` */
export async function requireGit(): Promise<void> {
  if (foundIn === process.env.PATH) return
  const version = OLDEST_GIT.join('.')
  const output = await runGit(['version'], { gitDir: '/nonexistent' }).catch(cause => {
    throw new SentenceError(t('problem.gitMissing', { version }), { cause })
  })
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(output.toString())?.[0] ?? '').split('.').map(Number)
  if (major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1])) {
    throw new SentenceError(t('problem.gitTooOld', { version, found: output.toString().trim() }))
  }
  foundIn = process.env.PATH
}

/** The largest allocation of a git process: a small object may be stored as a delta of one that exceeds memory. */
const ALLOCATION_LIMIT = '256m'

const SETTINGS: Readonly<Record<string, string>> = {
  // Another user than that of this process may own the repositories.
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '/bin/false',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  // Every thread that resolves deltas holds two whole files.
  'pack.threads': '1',
  // Git streams larger blobs that are not deltas, so they do not count against the allocation limit.
  'core.bigFileThreshold': '16m',
}

/**
 * The environment of a git process: no configuration of the machine or the user, no prompts, no helpers, no network.
 * Inherits only `PATH`.
 */
function gitEnvironment(): Record<string, string> {
  const settings = Object.entries(SETTINGS)
  const scoped = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_SSH_COMMAND: '/bin/false',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOC_LIMIT: ALLOCATION_LIMIT,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(scoped),
  }
}

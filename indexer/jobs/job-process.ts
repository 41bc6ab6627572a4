import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { SHORT_JOB_NICENESS, YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import { INDEX_PROCESSOR_SECONDS, INDEX_WALL_SECONDS } from '#core/limits.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { LONG_JOB_SECONDS } from './job-lanes.ts'
import { type FromJobProcess, type ToJobProcess, unpackEnd, unpackError } from './job-messages.ts'
import type { JobEnd, RunOptions } from './job-runner.ts'
import { killTree, readHeldBytes, readProcessorSeconds, yieldBy } from './processes.ts'

/** A process that runs jobs one after another, with limits on time and memory. */
export interface JobProcess {
  readonly pid: number
  readonly isAlive: boolean
  /** The last measured resident memory, without child processes. */
  readonly residentBytes: number
  run(job: IndexJob, options: RunOptions): Promise<ProcessedJob>
  /** Gives it the priority of a long job, for the rest of its life. */
  yieldToJobs(): void
  /** Disconnects it, and kills it if it does not end within `CLOSE_MILLISECONDS`. */
  end(reason: EndReason): Promise<void>
  /** Resolves once it has ended and its temporary folder is removed. */
  readonly ended: Promise<ProcessEnd>
}

export interface ProcessedJob {
  end: JobEnd
  /** It took more processor time than `LONG_JOB_SECONDS`. */
  isLong: boolean
  /** The process died before any message about the job: it may have been dead already, so another process may retry. */
  mayRetry: boolean
}

export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  /** `died`: the worker neither ended nor killed it. */
  reason: KillReason | EndReason | 'died'
}

/** `stuck`: its job did not stop in time. */
type KillReason = 'memory' | 'time' | 'stuck'
/** `large`: it holds too much memory after a job to run the next. `slow`: it has the priority of a long job. */
type EndReason = 'idle' | 'large' | 'slow' | 'stopped'

export interface JobProcessSettings {
  /** Path of the program that runs in the process. */
  program: string
  /** The environment of the worker. The process receives `jobEnvironment` of it. */
  env: NodeJS.ProcessEnv
  /** What the worker's drivers know when the process starts, passed as an argument, and at each job; see `openJobInfra`. */
  handover(): string
  /** What the process receives to read the repository of a job; `null`: nothing. Never rejects. Default: nothing. */
  accessTo?(repository: IndexJob['repository']): Promise<string | null>
  /** Memory limit of the process and its children. The JavaScript heap gets two thirds. */
  memoryMegabytes: number
  /** The worker kills a job that did not end itself after these times. Default: the limits of a job, and 15 seconds. */
  kill?: { wallSeconds: number; processorSeconds: number }
  metrics: Metrics
  /** Told of the fallbacks of the jobs. Default: not counted. */
  fallbacks?: Fallbacks
}

const START_MILLISECONDS = 60_000
const KILL = { wallSeconds: INDEX_WALL_SECONDS + 15, processorSeconds: INDEX_PROCESSOR_SECONDS + 15 }
/** Time for a job to stop. */
const STOP_MILLISECONDS = 2_000
const CLOSE_MILLISECONDS = 2_000
const HEAP_SHARE = 2 / 3
/** A small young generation is collected often: with the default of three times 16 MB, short-lived buffers pile up for no gain in time. */
const YOUNG_MEGABYTES = 8
const MEGABYTE = 1024 * 1024
/** In this time a process can allocate a few hundred megabytes. */
const LOOK_MILLISECONDS = 200
/** After the time limit, time to receive messages that arrived while the worker itself was blocked. */
const HEARING_MILLISECONDS = 500

/**
 * Starts a process and waits until it is ready for jobs.
 *
 * @throws Error when it does not start within `START_MILLISECONDS`, or the reason of `signal`
 */
export async function startJobProcess(settings: JobProcessSettings, signal: AbortSignal): Promise<JobProcess> {
  signal.throwIfAborted()
  const started = new RunningProcess(settings)
  const outcome = await Promise.race([
    started.ready.then(() => 'ready' as const),
    started.ended,
    sleep(START_MILLISECONDS, 'late' as const, { signal, ref: false }).catch(() => 'stopped' as const),
  ])
  if (outcome === 'ready') return started
  await started.end('stopped')
  if (outcome === 'stopped') throw signal.reason
  throw new Error(
    outcome === 'late'
      ? `the job process was not ready after ${START_MILLISECONDS / 1000} seconds`
      : `the job process failed to start: it ended with ${outcome.signal ?? outcome.code ?? 'no process'}`,
  )
}

/** Node arguments of a process that indexes. */
export function heapArguments(megabytes: number): string[] {
  return [`--max-old-space-size=${megabytes}`, `--max-semi-space-size=${YOUNG_MEGABYTES}`]
}

class RunningProcess implements JobProcess {
  readonly ready: Promise<void>
  readonly ended: Promise<ProcessEnd>
  isAlive = true
  residentBytes = 0
  readonly #child: ChildProcess
  readonly #settings: JobProcessSettings
  #reason: ProcessEnd['reason'] = 'died'
  #folder: string | null = null
  #onMessage: (message: FromJobProcess) => void = () => {}

  constructor(settings: JobProcessSettings) {
    this.#settings = settings
    this.#child = fork(settings.program, [settings.handover()], {
      env: jobEnvironment(settings.env),
      execArgv: heapArguments(Math.round(settings.memoryMegabytes * HEAP_SHARE)),
      // Its output goes to standard error, like the log: standard output may carry data.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    // At once, before it has other threads: they inherit it.
    this.#yieldBy(SHORT_JOB_NICENESS)
    this.ready = new Promise(resolve => {
      this.#child.on('message', (message: FromJobProcess) => {
        if (message.type === 'begun') this.#folder = message.folder
        else if (message.type === 'ready') resolve()
        else if (message.type === 'recorded') {
          for (const [name, labels, value] of message.records) settings.metrics.record(name, labels as never, value)
        } else if (message.type === 'fell-back') this.#fallbacks.note(message.kind, unpackError(message.cause))
        else this.#onMessage(message)
      })
    })
    this.ended = this.#watchEnd()
  }

  get #fallbacks(): Fallbacks {
    return this.#settings.fallbacks ?? NO_FALLBACKS
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async run(job: IndexJob, { signal, onStage }: RunOptions): Promise<ProcessedJob> {
    const access = (await this.#settings.accessTo?.(job.repository)) ?? null
    if (signal.aborted) return { end: { status: 'stopped' }, isLong: false, mayRetry: false }
    let isStarted = false
    const jobEnd = new Promise<JobEnd>(resolve => {
      this.#onMessage = message => {
        isStarted = true
        if (message.type === 'stage') onStage(message.stage, message.progress)
        else if (message.type === 'ended') resolve(unpackEnd(message.end))
      }
    })
    const isOver = new AbortController()
    const watchedTime = this.#watchTime(isOver.signal)
    void this.#watchMemory(isOver.signal)
    void this.#watchStop(signal, isOver.signal)
    this.#send({ type: 'run', job, access, handover: this.#settings.handover() })
    const end = await Promise.race([jobEnd, this.ended.then(ended => endOfJob(ended, signal.aborted))])
    isOver.abort()
    this.#onMessage = () => {}
    const mayRetry = end.status === 'crashed' && this.#reason === 'died' && !isStarted
    return { end, isLong: await watchedTime, mayRetry }
  }

  yieldToJobs(): void {
    this.#yieldBy(YIELDING_NICENESS)
  }

  async end(reason: EndReason): Promise<void> {
    if (this.isAlive) this.#reason = reason
    if (this.#child.connected) this.#child.disconnect()
    // One that has no job and no share of the processors is no fault: the reason of its end stays.
    const timer = setTimeout(() => this.#kill(reason), CLOSE_MILLISECONDS)
    await this.ended
    clearTimeout(timer)
  }

  async #watchEnd(): Promise<ProcessEnd> {
    const { code, signal } = await new Promise<Pick<ProcessEnd, 'code' | 'signal'>>(resolve => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
      // `error` comes instead of `exit` if the process could not be spawned.
      this.#child.on('error', () => {
        if (this.#child.pid === undefined) resolve({ code: null, signal: null })
      })
    })
    this.isAlive = false
    if (this.#folder !== null) {
      const removing = rm(this.#folder, { recursive: true, force: true, maxRetries: 3 })
      await removing.catch(error => this.#fallbacks.note('temporary_folder', error))
    }
    return { code, signal, reason: this.#reason }
  }

  /** Lowers the priority of a job that is long, and kills one that is late. @returns whether it was long */
  async #watchTime(isOver: AbortSignal): Promise<boolean> {
    const { wallSeconds, processorSeconds } = this.#settings.kill ?? KILL
    const [usedBefore, startedAt] = [await readProcessorSeconds(this.pid), performance.now()]
    let isLong = false
    while (await passed(LOOK_MILLISECONDS, isOver)) {
      const used = (await readProcessorSeconds(this.pid)) - usedBefore
      if (isOver.aborted) break
      if (used > LONG_JOB_SECONDS && !isLong) {
        this.yieldToJobs()
        isLong = true
      }
      if (used <= processorSeconds && performance.now() - startedAt <= wallSeconds * 1000) continue
      if (await passed(HEARING_MILLISECONDS, isOver)) this.#kill('time')
      break
    }
    return isLong
  }

  async #watchMemory(isOver: AbortSignal): Promise<void> {
    while (this.isAlive && !isOver.aborted) {
      const held = await readHeldBytes(this.pid)
      this.residentBytes = held?.own ?? this.residentBytes
      const heldBytes = this.residentBytes + (held?.below ?? 0)
      if (heldBytes > this.#settings.memoryMegabytes * MEGABYTE && !isOver.aborted) this.#kill('memory')
      await passed(LOOK_MILLISECONDS, isOver)
    }
  }

  async #watchStop(signal: AbortSignal, isOver: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([signal, isOver]))
    if (isOver.aborted) return
    this.#send({ type: 'stop' })
    if (await passed(STOP_MILLISECONDS, isOver)) this.#kill('stuck')
  }

  /** Where processors are scarce, answers come before jobs. */
  #yieldBy(niceness: number): void {
    if (this.#child.pid !== undefined) yieldBy(this.#child.pid, niceness)
  }

  #kill(reason: KillReason | EndReason): void {
    const { pid } = this.#child
    if (!this.isAlive || pid === undefined) return
    this.#reason = reason
    killTree(pid)
  }

  /** Drops the message if the process is gone: `ended` handles that. */
  #send(message: ToJobProcess): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }
}

function endOfJob({ code, signal, reason }: ProcessEnd, isStopped: boolean): JobEnd {
  if (isStopped) return { status: 'stopped' }
  const errorCode = reason === 'time' ? 'index.timeout' : 'index.internal'
  return { status: 'crashed', errorCode, reason: reason === 'died' ? `died: ${signal ?? code ?? 'not started'}` : reason }
}

/** Resolves with `true` after the time, or with `false` as soon as `isOver` is aborted. */
function passed(milliseconds: number, isOver: AbortSignal): Promise<boolean> {
  return sleep(milliseconds, true, { signal: isOver }).catch(() => false)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * The variables that a job process receives, with the reason for each. Everything else of the service's environment stays out: a job parses
 * untrusted text, and a secret that a later version adds is withheld without a change here. Names are compared in upper case, since Windows
 * and proxies write them in either.
 */
const RECEIVED: readonly {
  names: readonly string[]
  prefixes?: readonly string[]
  isNeeded?: (env: NodeJS.ProcessEnv) => boolean
}[] = [
  // To find git and the libraries of programs.
  { names: ['PATH', 'PATHEXT', 'SYSTEMROOT', 'LD_LIBRARY_PATH'] },
  // Temporary files, and profiles in the home folder: credentials of AWS, passwords of PostgreSQL.
  { names: ['TMPDIR', 'TEMP', 'TMP', 'HOME', 'USERPROFILE'] },
  // The store that no setting names lies below them.
  { names: ['XDG_DATA_HOME', 'LOCALAPPDATA'] },
  // Times and messages as the service writes them.
  { names: ['TZ', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_MESSAGES'] },
  // Starting as fast as the service does: its cache of compiled sources.
  { names: ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'] },
  // Certificates, proxies and memory of Node. Without them, the git host or the store may be out of reach.
  {
    names: [
      'NODE_OPTIONS',
      'NODE_ENV',
      'NODE_EXTRA_CA_CERTS',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'NODE_USE_ENV_PROXY',
      'NODE_USE_SYSTEM_CA',
      'SSL_CERT_FILE',
      'SSL_CERT_DIR',
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'ALL_PROXY',
      'NO_PROXY',
      'UV_THREADPOOL_SIZE',
      'MALLOC_ARENA_MAX',
    ],
  },
  // What `parseInfraSettings` reads, without the secret of webhooks. The token reads public repositories.
  {
    names: [
      'HOST',
      'PORT',
      'MOUNTGLASS_BASE_URL',
      'MOUNTGLASS_STORE',
      'MOUNTGLASS_PRIVATE_STORE',
      'MOUNTGLASS_DATABASE',
      'MOUNTGLASS_LEASE_SECONDS',
      'MOUNTGLASS_LOCAL_REPOSITORIES',
      'MOUNTGLASS_GITHUB',
      'MOUNTGLASS_GITHUB_URL',
      'MOUNTGLASS_GITHUB_API_URL',
      'MOUNTGLASS_AVATAR_ORIGINS',
      'MOUNTGLASS_GITHUB_TOKEN',
    ],
  },
  // The job writes to the bucket itself. The SDK has many sources of credentials: keys, profiles, roles of machines and containers.
  { names: [], prefixes: ['AWS_', 'MOUNTGLASS_PRIVATE_AWS_'], isNeeded: env => /^s3:/.test(env.MOUNTGLASS_STORE ?? '') },
  // The job reads and writes state entries itself. The driver takes what the URL omits from these: password, certificates.
  { names: [], prefixes: ['PG'], isNeeded: env => Boolean(env.MOUNTGLASS_DATABASE) },
]

/** The part of the service's environment that a job process receives. */
export function jobEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const needed = RECEIVED.filter(({ isNeeded }) => isNeeded?.(env) ?? true)
  const isReceived = (name: string) =>
    needed.some(({ names, prefixes = [] }) => names.includes(name) || prefixes.some(prefix => name.startsWith(prefix)))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isReceived(name.toUpperCase())))
}

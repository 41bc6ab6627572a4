import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { INDEX_WALL_WITH_FETCH_SECONDS } from '#core/limits.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { heapArguments } from '../pipeline/heap.ts'
import { type FromJobProcess, type ToJobProcess, unpackEnd } from './job-messages.ts'
import type { JobEnd, RunOptions } from './job-runner.ts'
import { killTree, readHeldBytes } from './processes.ts'

/** A process that runs jobs, one after another, so that a job can take neither the time nor the memory of anyone else. */
export interface JobProcess {
  readonly pid: number
  readonly isAlive: boolean
  /** Without what it has started; as seen last. */
  readonly residentBytes: number
  run(job: IndexJob, options: RunOptions): Promise<ProcessedJob>
  /** Lets go of it, and kills it when it has not ended soon. */
  end(reason: LetGoReason): Promise<void>
  /** How it ended. Resolves when it has, and nothing is left of it. */
  readonly ended: Promise<ProcessEnd>
}

export interface ProcessedJob {
  end: JobEnd
  /** The process died by itself, and nothing was heard of the job: it may have been dead before. */
  isUnheard: boolean
}

export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  /** `died`: nobody here wanted it. */
  reason: KillReason | LetGoReason | 'died'
}

/** `stuck`: it did not end when it was told to. */
type KillReason = 'memory' | 'time' | 'stuck'
/** `large`: it holds more memory than it should bring along into the next job. */
type LetGoReason = 'idle' | 'large' | 'stopped'

export interface JobProcessSettings {
  env: NodeJS.ProcessEnv
  /** What the worker tells it of what the settings name, as an argument. */
  handover: string
  /** What one process may hold, with all that it has started; the heap of its interpreter gets the greater part. */
  memoryMegabytes: number
  /** After so long a job is ended from outside. Default: its own limit, and some time to obey it. */
  wallSeconds?: number
  metrics: Metrics
}

/** What belongs to the service alone: texts of strangers are read over there. */
const WITHHELD = { MOUNTGLASS_KEYS: undefined, MOUNTGLASS_GITHUB_WEBHOOK_SECRET: undefined }

const PROGRAM = fileURLToPath(new URL('./job-main.ts', import.meta.url))

const START_MILLISECONDS = 60_000
const WALL_SECONDS = INDEX_WALL_WITH_FETCH_SECONDS + 15
/** What a job has to end in once it is told to stop. */
const STOP_MILLISECONDS = 2_000
const CLOSE_MILLISECONDS = 2_000
const HEAP_SHARE = 2 / 3
const MEGABYTE = 1024 * 1024
/** A process fills some hundred megabytes in that time. */
const MEMORY_LOOK_MILLISECONDS = 200
/** A worker that itself stood still for a while hears first what was said meanwhile. */
const HEARING_MILLISECONDS = 500

/**
 * Starts a process, and waits until it can run jobs.
 *
 * @throws Error when it cannot be started, or `signal` is aborted first
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
      ? 'a process for jobs does not start in time'
      : `a process for jobs cannot start: it ended with ${outcome.signal ?? outcome.code ?? 'no process'}`,
  )
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
    this.#child = fork(PROGRAM, [settings.handover], {
      env: { ...settings.env, ...WITHHELD },
      execArgv: heapArguments(Math.round(settings.memoryMegabytes * HEAP_SHARE)),
      // What it has to say goes where our log goes; standard output may be somebody's.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    this.ready = new Promise(resolve => {
      this.#child.on('message', (message: FromJobProcess) => {
        if (message.type === 'begun') this.#folder = message.folder
        else if (message.type === 'ready') resolve()
        else if (message.type === 'recorded') {
          for (const [name, labels, value] of message.records) settings.metrics.record(name, labels as never, value)
        } else this.#onMessage(message)
      })
    })
    this.ended = this.#watchEnd()
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async run(job: IndexJob, { signal, onStage }: RunOptions): Promise<ProcessedJob> {
    let isHeard = false
    const saidEnd = new Promise<JobEnd>(resolve => {
      this.#onMessage = message => {
        isHeard = true
        if (message.type === 'stage') onStage(message.stage)
        else if (message.type === 'ended') resolve(unpackEnd(message.end))
      }
    })
    const isOver = new AbortController()
    void this.#watchTime(isOver.signal)
    void this.#watchMemory(isOver.signal)
    void this.#watchStop(signal, isOver.signal)
    this.#say({ type: 'run', job })
    const end = await Promise.race([saidEnd, this.ended.then(ended => endOfJob(ended, signal.aborted))])
    isOver.abort()
    this.#onMessage = () => {}
    return { end, isUnheard: end.status === 'crashed' && this.#reason === 'died' && !isHeard }
  }

  async end(reason: LetGoReason): Promise<void> {
    if (this.isAlive) this.#reason = reason
    if (this.#child.connected) this.#child.disconnect()
    const timer = setTimeout(() => this.#kill('stuck'), CLOSE_MILLISECONDS)
    await this.ended
    clearTimeout(timer)
  }

  async #watchEnd(): Promise<ProcessEnd> {
    const { code, signal } = await new Promise<Pick<ProcessEnd, 'code' | 'signal'>>(resolve => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
      // `error` comes instead when there is no process to begin with.
      this.#child.on('error', () => {
        if (this.#child.pid === undefined) resolve({ code: null, signal: null })
      })
    })
    this.isAlive = false
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
    return { code, signal, reason: this.#reason }
  }

  async #watchTime(isOver: AbortSignal): Promise<void> {
    const { wallSeconds = WALL_SECONDS } = this.#settings
    if (!(await passed(wallSeconds * 1000, isOver))) return
    if (await passed(HEARING_MILLISECONDS, isOver)) this.#kill('time')
  }

  async #watchMemory(isOver: AbortSignal): Promise<void> {
    while (this.isAlive && !isOver.aborted) {
      const held = await readHeldBytes(this.pid)
      this.residentBytes = held?.own ?? this.residentBytes
      const heldBytes = this.residentBytes + (held?.below ?? 0)
      if (heldBytes > this.#settings.memoryMegabytes * MEGABYTE && !isOver.aborted) this.#kill('memory')
      await passed(MEMORY_LOOK_MILLISECONDS, isOver)
    }
  }

  async #watchStop(signal: AbortSignal, isOver: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([signal, isOver]))
    if (isOver.aborted) return
    this.#say({ type: 'stop' })
    if (await passed(STOP_MILLISECONDS, isOver)) this.#kill('stuck')
  }

  #kill(reason: KillReason): void {
    const { pid } = this.#child
    if (!this.isAlive || pid === undefined) return
    this.#reason = reason
    killTree(pid)
  }

  /** That it is gone is told by its end. */
  #say(message: ToJobProcess): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }
}

function endOfJob({ code, signal, reason }: ProcessEnd, isStopped: boolean): JobEnd {
  if (isStopped) return { status: 'stopped' }
  const errorCode = reason === 'time' ? 'index.timeout' : 'index.internal'
  return { status: 'crashed', errorCode, reason: reason === 'died' ? `died: ${signal ?? code ?? 'not started'}` : reason }
}

/** Resolves with `true` after the time, with `false` when it is over before. */
function passed(milliseconds: number, isOver: AbortSignal): Promise<boolean> {
  return sleep(milliseconds, true, { signal: isOver }).catch(() => false)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

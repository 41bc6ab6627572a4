import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * A child process that does one task after another, within bounds. What it reads was made by strangers, and the libraries that read it are
 * written in languages in which a mistake is more than an exception. So it has no settings and no secrets, may write no file and start no
 * program, and is killed when a task takes too long or too much memory.
 */
export interface TaskProcess<Task, Result> {
  /** Never rejects. */
  run(task: Task): Promise<TaskOutcome<Result>>
  close(): Promise<void>
}

/**
 * `refused`: the program cannot do this task, or was killed at it. `busy`: too many tasks wait. `failed`: the process cannot be started.
 */
export type TaskOutcome<Result> = { status: 'done'; result: Result } | { status: 'refused' | 'busy' | 'failed' }

export interface TaskProcessOptions {
  /** Calls `serveTasks`. */
  program: URL
  /** Resident memory of the process at a task. */
  memoryMegabytes: number
  /** Time of one task. */
  taskMs: number
  /** Tasks that may wait. */
  maxWaiting: number
  /** The process is ended when it had no task for so long. Default: two minutes. */
  idleMs?: number
  /** Told why the process cannot be started. */
  onFailure?: ((error: unknown) => void) | undefined
}

/** What the process sends: `ready` once, then an answer to each task. */
type FromTaskProcess<Result> = 'ready' | { result: Result } | { refusal: string }

const START_MS = 30_000
const IDLE_MS = 120_000
const LOOK_MS = 50
const MEGABYTE = 1024 * 1024
/** A process that holds more of its memory after a task is ended. */
const LARGE_SHARE = 0.8

export function createTaskProcess<Task, Result>(options: TaskProcessOptions): TaskProcess<Task, Result> {
  return new KillableProcess(options)
}

interface Waiting<Task, Result> {
  task: Task
  end(outcome: TaskOutcome<Result>): void
}

class KillableProcess<Task, Result> implements TaskProcess<Task, Result> {
  readonly #options: TaskProcessOptions
  readonly #waiting: Waiting<Task, Result>[] = []
  #running: Waiting<Task, Result> | null = null
  #child: ChildProcess | null = null
  #isReady = false
  #isClosed = false
  /** Of the running task, or of the start of the process. */
  #timer: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: TaskProcessOptions) {
    this.#options = options
  }

  run(task: Task): Promise<TaskOutcome<Result>> {
    if (this.#isClosed || this.#waiting.length >= this.#options.maxWaiting) return Promise.resolve({ status: 'busy' })
    return new Promise(end => {
      this.#waiting.push({ task, end })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    for (const { end } of this.#waiting.splice(0)) end({ status: 'busy' })
    const child = this.#child
    if (child === null) return
    child.ref()
    const exited = new Promise(resolve => child.once('exit', resolve))
    this.#drop('busy')
    await exited
  }

  #next(): void {
    if (this.#running !== null || this.#isClosed) return
    this.#running = this.#waiting.shift() ?? null
    if (this.#running === null) return
    clearTimeout(this.#idle)
    if (this.#child === null) this.#start()
    else if (this.#isReady) this.#begin(this.#child)
  }

  #start(): void {
    const child = fork(fileURLToPath(this.#options.program), [], {
      env: taskEnvironment(process.env),
      execArgv: CONFINEMENT,
      serialization: 'advanced',
      // Libraries print complaints about pictures, which are of no use to an operator.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child = child
    this.#isReady = false
    // Not a reason for the service to stay.
    child.unref()
    child.channel?.unref()
    preferForOomKill(child)
    this.#timer = setTimeout(() => this.#fail(new Error('a process for pictures was not ready in time')), START_MS)
    child.on('message', (message: FromTaskProcess<Result>) => {
      if (child === this.#child) this.#hear(child, message)
    })
    child.on('error', error => {
      if (child === this.#child && !this.#isReady) this.#fail(error)
    })
    child.on('exit', (code, signal) => {
      if (child !== this.#child) return
      if (this.#isReady) this.#drop('refused')
      else this.#fail(new Error(`a process for pictures ended at its start: ${signal ?? code}`))
    })
  }

  #hear(child: ChildProcess, message: FromTaskProcess<Result>): void {
    if (message === 'ready') {
      clearTimeout(this.#timer)
      this.#isReady = true
      if (this.#running !== null) this.#begin(child)
      return
    }
    const isLarge = residentBytes(child) > this.#options.memoryMegabytes * MEGABYTE * LARGE_SHARE
    if (isLarge) this.#forget()
    this.#finish('result' in message ? { status: 'done', result: message.result } : { status: 'refused' })
  }

  #begin(child: ChildProcess): void {
    if (this.#running === null) return
    this.#timer = setTimeout(() => this.#drop('refused'), this.#options.taskMs)
    this.#look = setInterval(() => {
      if (residentBytes(child) > this.#options.memoryMegabytes * MEGABYTE) this.#drop('refused')
    }, LOOK_MS)
    // A failure to send is followed by the end of the process.
    child.send(this.#running.task as object, () => {})
  }

  #fail(error: unknown): void {
    this.#options.onFailure?.(error)
    this.#drop('failed')
  }

  /** Kills the process, and ends the running task with it. The next task starts another one. */
  #drop(status: 'refused' | 'failed' | 'busy'): void {
    this.#forget()
    this.#finish({ status })
  }

  #forget(): void {
    this.#child?.kill('SIGKILL')
    this.#child = null
    this.#isReady = false
  }

  #finish(outcome: TaskOutcome<Result>): void {
    clearTimeout(this.#timer)
    clearInterval(this.#look)
    const running = this.#running
    this.#running = null
    running?.end(outcome)
    this.#next()
    if (this.#running === null && this.#child !== null)
      this.#idle = setTimeout(() => this.#forget(), this.#options.idleMs ?? IDLE_MS).unref()
  }
}

/** A small heap, since pictures lie outside of it; no writing, no programs, no threads of its own. Native libraries are what it is for. */
const CONFINEMENT = ['--max-old-space-size=96', '--max-semi-space-size=2', '--permission', '--allow-addons', '--allow-fs-read=*']

const RECEIVED = ['PATH', 'LD_LIBRARY_PATH', 'SYSTEMROOT', 'TZ']

/** Everything else stays out: secrets and proxies, which it does not need. */
function taskEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const received = Object.entries(env).filter(([name]) => RECEIVED.includes(name.toUpperCase()))
  return { ...Object.fromEntries(received), MALLOC_ARENA_MAX: '2', VIPS_CONCURRENCY: '1' }
}

/** Resident memory; 0 where the system does not tell, which is all but Linux. */
function residentBytes({ pid }: ChildProcess): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** When the machine runs out of memory, the kernel kills this process before the service. */
function preferForOomKill({ pid }: ChildProcess): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {
    // Linux only.
  }
}

/** The other side of `TaskProcess`: does every task that arrives, until the service is gone. Whatever a task throws refuses it. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  process.once('disconnect', () => process.exit(0))
  // The service ends this process. A terminal or supervisor signals the whole process group.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  process.on('message', (task: Task) => {
    work(task).then(
      result => send({ result }),
      error => send({ refusal: String(error) }),
    )
  })
  send('ready')
}

/** Drops the message when the service is gone: `disconnect` handles that. */
function send<Result>(message: FromTaskProcess<Result>): void {
  if (process.connected) process.send?.(message, () => {})
}

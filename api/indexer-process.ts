import { type ChildProcess, fork } from 'node:child_process'

/** An indexer in a process of its own, so that indexing takes neither the event loop nor the memory of the API. */
export interface IndexerProcess {
  /** A job was left: the indexer need not wait for its next look. */
  wake(): void
  /** Asks it to end; kills it when it has not ended in time. */
  stop(graceMilliseconds: number): Promise<void>
}

export interface IndexerProcessOptions {
  /** Module that works when it is run. */
  module: string
  env: NodeJS.ProcessEnv
  heapMegabytes: number
  /** Told whenever it died and when it is started again. */
  onExit(exit: { code: number | null; signal: NodeJS.Signals | null; restartMilliseconds: number }): void
}

const RESTART_MILLISECONDS = { first: 500, max: 30_000 }
/** Whoever lived this long starts again with the first delay. */
const HEALTHY_MILLISECONDS = 60_000
/** Visitors within this time make one message. */
const WAKE_MILLISECONDS = 50

/** Starts the indexer, and starts it again, ever more slowly, when it dies. */
export function startIndexerProcess({ module, env, heapMegabytes, onExit }: IndexerProcessOptions): IndexerProcess {
  let child: ChildProcess | null = null
  let restart: NodeJS.Timeout | null = null
  let delay = RESTART_MILLISECONDS.first
  let stopping = false
  let resting: NodeJS.Timeout | null = null
  let woken = false

  function start(): void {
    restart = null
    const startedAt = performance.now()
    const started = fork(module, [], {
      env,
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
      // Its log goes where ours goes; standard output is for the announcement.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    child = started
    let ended = false
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      if (ended) return
      ended = true
      child = null
      if (stopping) return
      delay = performance.now() - startedAt > HEALTHY_MILLISECONDS ? RESTART_MILLISECONDS.first : delay
      onExit({ code, signal, restartMilliseconds: delay })
      restart = setTimeout(start, delay)
      delay = Math.min(RESTART_MILLISECONDS.max, delay * 2)
    }
    // `error` comes instead of `exit` when there is no process to begin with.
    started.on('exit', end)
    started.on('error', () => end(null, null))
  }

  function wake(): void {
    if (resting) {
      woken = true
      return
    }
    // A process that is about to die takes no message; the next one looks for jobs when it starts.
    if (child?.connected) child.send({ type: 'offered' }, () => {})
    resting = setTimeout(() => {
      resting = null
      if (!woken) return
      woken = false
      wake()
    }, WAKE_MILLISECONDS)
  }

  start()
  return {
    wake,

    async stop(graceMilliseconds) {
      stopping = true
      if (restart) clearTimeout(restart)
      if (resting) clearTimeout(resting)
      const running = child
      if (!running) return
      const ended = new Promise<void>(resolve => running.once('exit', () => resolve()))
      running.kill('SIGTERM')
      const kill = setTimeout(() => running.kill('SIGKILL'), graceMilliseconds)
      await ended
      clearTimeout(kill)
    },
  }
}

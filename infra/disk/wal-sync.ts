/** Makes durable what SQLite wrote to a write-ahead log. */
export interface WalSync {
  /** Resolves when all that was committed before this call is durable. */
  sync(): Promise<void>
  /** Whether something was committed that may not be durable yet. */
  readonly isBehind: boolean
  close(): Promise<void>
}

export interface Log {
  datasync(): Promise<void>
  close(): Promise<void>
}

/**
 * Syncs a log on a thread of the file system, where SQLite would hold up the event loop: for two milliseconds mostly, and for tens beside the
 * writes of a job. Commits that come while a sync runs share the next one. SQLite takes no locks on the log, so another descriptor loses none.
 *
 * A sync that fails leaves pages that no later sync writes. From then on nothing is durable until `checkpoint` has moved all to the database.
 *
 * @param checkpoint whether all of the log is in the database now, durably
 */
export function createWalSync(log: Log, checkpoint: () => boolean): WalSync {
  let running: Promise<void> = Promise.resolve()
  let isRunning = false
  let isBroken = false
  let next: Promise<void> | null = null

  async function run(): Promise<void> {
    next = null
    if (isBroken && !checkpoint()) throw new Error('an earlier write was not synced, and the log cannot be emptied now')
    isBroken = false
    isRunning = true
    try {
      await log.datasync()
    } catch (error) {
      isBroken = true
      throw error
    } finally {
      isRunning = false
    }
  }

  return {
    sync() {
      next ??= running.then(start, start)
      return next
    },
    get isBehind() {
      return isBroken || isRunning || next !== null
    },
    async close() {
      await next?.catch(() => {})
      await running.catch(() => {})
      await log.close()
    },
  }

  function start(): Promise<void> {
    running = run()
    return running
  }
}

import { open } from 'node:fs/promises'

/** Makes durable what SQLite wrote to a write-ahead log. */
export interface WalSync {
  /** Resolves when all that was committed before this call is durable. */
  sync(): Promise<void>
  close(): Promise<void>
}

/**
 * Syncs a log on a thread of the file system, where SQLite would hold up the event loop: for two milliseconds mostly, and for tens beside the
 * writes of a job. Commits that come while a sync runs share the next one. SQLite takes no locks on this file, so another descriptor loses none.
 */
export async function openWalSync(path: string): Promise<WalSync> {
  const file = await open(path, 'r+')
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  const run = () => {
    next = null
    running = file.datasync()
    return running
  }
  const sync = () => {
    next ??= running.then(run, run)
    return next
  }
  return {
    sync,
    async close() {
      await next?.catch(() => {})
      await running.catch(() => {})
      await file.close()
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/**
 * Writes small notes one after another in the background. A note is dropped if its value was written before. It is also dropped if too many
 * wait or if writing fails; then the next call with the same name writes it.
 */
export interface NoteQueue {
  /**
   * Queues a note.
   *
   * @param name replaces a waiting note of the same name
   * @param value the note is written again only when its value changes
   */
  add(name: string, value: string, write: () => Promise<void>): void
  /** Resolves when no note waits. */
  drained(): Promise<void>
  /** Drops waiting notes and resolves when the current one is written. */
  close(): Promise<void>
}

/** Values of written notes that are remembered. A forgotten note is written once more. */
const WRITTEN_NOTES = 20_000
/** Notes that wait at most. */
const WAITING_NOTES = 5_000

/** @param pauseMs between two notes: an embedded store blocks the whole process while it writes */
export function createNoteQueue(pauseMs: number): NoteQueue {
  const written = new LRUCache<string, string>({ max: WRITTEN_NOTES })
  const waiting = new Map<string, () => Promise<void>>()
  const closing = new AbortController()
  let working: Promise<void> | null = null

  function start(): void {
    working ??= writeWaiting().finally(() => {
      working = null
      if (waiting.size > 0) start()
    })
  }

  async function writeWaiting(): Promise<void> {
    for (const [name, write] of waiting) {
      waiting.delete(name)
      await write().catch(() => written.delete(name))
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    add(name, value, write) {
      const isFull = waiting.size >= WAITING_NOTES && !waiting.has(name)
      if (written.get(name) === value || isFull || closing.signal.aborted) return
      written.set(name, value)
      waiting.set(name, write)
      start()
    },

    async drained() {
      while (working) await working
    },

    async close() {
      closing.abort()
      waiting.clear()
      await working
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { memoryOfText } from '#core/memory.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'

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

/** Estimated memory of the values of written notes. A forgotten note is written once more. */
const WRITTEN_BYTES = 8 * 1024 * 1024
const ENTRY_BYTES = 128
/** Notes that wait at most. */
const WAITING_NOTES = 5_000

/**
 * @param pauseMs between two notes: an embedded store blocks the whole process while it writes
 * @param fallbacks is told of every note that is lost
 */
export function createNoteQueue(pauseMs: number, fallbacks: Fallbacks): NoteQueue {
  const written = new LRUCache<string, string>({
    maxSize: WRITTEN_BYTES,
    sizeCalculation: (value, name) => ENTRY_BYTES + memoryOfText(name) + memoryOfText(value),
  })
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
      await write().catch(error => {
        written.delete(name)
        fallbacks.note('use_note', error)
      })
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    add(name, value, write) {
      if (written.get(name) === value || closing.signal.aborted) return
      if (waiting.size >= WAITING_NOTES && !waiting.has(name))
        return fallbacks.note('use_note', new Error(`${WAITING_NOTES} notes wait already`))
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

/** The program of a search thread: builds one search section of the items that it is sent. */

import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import type { Location } from '#core/snapshot/format.ts'
import { createSearchBuilder } from './builder.ts'
import type { FromSearchThread, ToSearchThread } from './thread-messages.ts'

// Only long jobs have this thread. On Linux it has a priority of its own; elsewhere it would be that of the whole process.
if (process.platform === 'linux') yieldToAnswers()

let onStored: (locations: Location[]) => void = () => {}
const builder = createSearchBuilder({
  addBytes: bytes => {
    const stored = new Promise<Location[]>(resolve => {
      onStored = resolve
    })
    const own = new Uint8Array(bytes)
    send({ type: 'store', bytes: own }, [own.buffer])
    return stored
  },
})

// Messages are worked off one after another: an item may wait for the scratch file.
let last: Promise<void> = Promise.resolve()
parentPort?.on('message', (message: ToSearchThread) => {
  if (message.type === 'stored') onStored(message.locations)
  else last = last.then(() => answer(message)).catch(error => send({ type: 'failed', error }))
})

async function answer(message: Exclude<ToSearchThread, { type: 'stored' }>): Promise<void> {
  if (message.type === 'finish') {
    const section = await builder.finish()
    await builder.close()
    send({ type: 'finished', section })
    return
  }
  for (const item of message.items) {
    const waiting = builder.add(item)
    if (waiting) await waiting
  }
  send({ type: 'added', units: message.units })
}

function yieldToAnswers(): void {
  try {
    setPriority(Math.max(getPriority(), YIELDING_NICENESS))
  } catch {
    // Where priorities may not be set, it competes with the rest of the process.
  }
}

function send(message: FromSearchThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

/** The program of a search thread: builds search sections of the items that it is sent, one after another. */

import { parentPort } from 'node:worker_threads'
import type { Location } from '#core/snapshot/format.ts'
import { createSearchBuilder, type SearchBuilder } from './builder.ts'
import type { SectionPlace } from './page-stream.ts'
import type { FromSearchThread, ToSearchThread } from './search-thread.ts'

let onStored: (locations: Location[]) => void = () => {}
const place: SectionPlace = {
  addBytes: bytes => {
    const stored = new Promise<Location[]>(resolve => {
      onStored = resolve
    })
    const own = new Uint8Array(bytes)
    send({ type: 'store', bytes: own }, [own.buffer])
    return stored
  },
}
/** Of the section that was begun. */
let builder: SearchBuilder | null = null

// Messages are worked off one after another: an item may wait for the scratch file.
let last: Promise<void> = Promise.resolve()
parentPort?.on('message', (message: ToSearchThread) => {
  if (message.type === 'stored') onStored(message.locations)
  else last = last.then(() => answer(message)).catch(error => send({ type: 'failed', error }))
})

async function answer(message: Exclude<ToSearchThread, { type: 'stored' }>): Promise<void> {
  builder ??= createSearchBuilder(place)
  if (message.type === 'finish') {
    const section = await builder.finish(message.originals)
    await builder.close()
    builder = null
    send({ type: 'finished', section })
    return
  }
  for (const item of message.items) {
    const waiting = builder.add(item)
    if (waiting) await waiting
  }
  send({ type: 'added', units: message.units })
}

function send(message: FromSearchThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

/** The program of the thread that renders texts: it says that it is ready, and then answers each text. */
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import type { FromRenderer } from './render-pool.ts'
import { renderText, type TextToRender } from './render-text.ts'

const send = (message: FromRenderer) => parentPort?.postMessage(message)
parentPort?.on('message', (text: TextToRender) => send(renderText(text)))
// On Linux a priority belongs to a thread; elsewhere it would be that of the whole service.
if (process.platform === 'linux') yieldToLoop()
send('ready')

function yieldToLoop(): void {
  try {
    setPriority(Math.max(getPriority(), YIELDING_NICENESS))
  } catch {
    // Where priorities may not be set, rendering competes with the event loop.
  }
}

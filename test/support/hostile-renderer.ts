import { parentPort } from 'node:worker_threads'

/**
 * The program of a thread that renders texts, and does what the text says: never ends, takes all memory, fails; any other text comes back.
 */
const TRICKS: Record<string, () => void> = {
  hangs() {
    for (;;);
  },
  eats() {
    const eaten: unknown[] = []
    for (;;) eaten.push(Array.from({ length: 1_000 }, (_, index) => ({ index })))
  },
  fails() {
    throw new TypeError('a fault of the renderer')
  },
}

parentPort?.on('message', ({ content }: { content: string }) => {
  TRICKS[content]?.()
  parentPort?.postMessage({ status: 'rendered', html: content })
})
parentPort?.postMessage('ready')

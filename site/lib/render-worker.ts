/** The program of the thread that renders texts: it says that it is ready, and then answers each text. */
import { parentPort } from 'node:worker_threads'
import type { FromRenderer } from './render-pool.ts'
import { renderText, type TextToRender } from './render-text.ts'

const send = (message: FromRenderer) => parentPort?.postMessage(message)
parentPort?.on('message', (text: TextToRender) => send(renderText(text)))
send('ready')

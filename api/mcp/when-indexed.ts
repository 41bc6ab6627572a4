import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '#core/errors.ts'
import type { ToolHandlers } from './call-tool.ts'

/** How long a call waits for the index, and how often it looks. */
export const WAIT_MS = 60_000
const LOOK_MS = 20

/** Handlers that wait for the index. For `mountglass mcp`: its user asks about their own files, and wants the answer instead of the state of the job. */
export function whenIndexed(handlers: ToolHandlers): ToolHandlers {
  const waiting = Object.entries(handlers).map(([name, handle]) => {
    const ask = handle as (call: WaitingCall) => Promise<object>
    return [name, async (call: WaitingCall) => await askUntilIndexed(() => ask(call), call.signal)]
  })
  return Object.fromEntries(waiting) as ToolHandlers
}

interface WaitingCall {
  signal?: AbortSignal
}

async function askUntilIndexed(ask: () => Promise<object>, signal?: AbortSignal): Promise<object> {
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'index.indexing') return INDEXING
      throw error
    })
    if (!isIndexing(answer)) return answer
    if (performance.now() > giveUpAt) return answer === INDEXING ? await ask() : answer
    await sleep(LOOK_MS, undefined, signal ? { signal } : {})
  }
}

const INDEXING = { status: 'indexing' }

function isIndexing(answer: { status?: unknown; index?: { status?: unknown } }): boolean {
  return answer.status === 'indexing' || answer.index?.status === 'indexing'
}

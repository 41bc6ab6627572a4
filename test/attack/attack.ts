import { Agent, get } from 'node:http'

/** A running attack. */
export interface Attack {
  /** Requests or connections that it has made. */
  count(): number
  /** Ends it, and everything that it holds open. */
  stop(): Promise<void>
}

/** Starts an attack on the service at an origin such as `http://127.0.0.1:4321`. */
export type StartAttack = (origin: string) => Attack

/** Sends requests from a number of clients, each of which sends the next one once it was answered. */
export function sendRequests(origin: string, clients: number, pathOf: (number: number) => string): Attack {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const stopping = new AbortController()
  let count = 0
  const send = (path: string) =>
    new Promise<void>(resolve => {
      const sent = get(`${origin}${path}`, { agent, signal: stopping.signal }, answer => {
        answer.once('error', () => resolve())
        answer.resume().once('end', () => resolve())
      })
      sent.once('error', () => resolve())
    })
  const runs = Array.from({ length: clients }, async () => {
    while (!stopping.signal.aborted) await send(pathOf(count++))
  })
  return {
    count: () => count,
    async stop() {
      stopping.abort()
      await Promise.all(runs)
      agent.destroy()
    },
  }
}

import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import autocannon, { type Result } from 'autocannon'
import { spread } from './measure.ts'

/** What one process that asks was answered; times in milliseconds. */
export interface Loaded {
  requests: number
  /** What went wrong, and how often: by status, or by the code of the connection's error. */
  errors: Record<string, number>
  p50: number
  p95: number
  p99: number
  max: number
}

const CONNECTIONS = 32

class Errors {
  readonly counts: Record<string, number> = {}

  add(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
  }
}

/**
 * Asks for paths in turn at a fixed rate, or as fast as it is answered, and prints how long the answers took, as JSON.
 *
 * `node load-once.ts <origin> <requests a second, or nothing> <seconds>`, with the paths as JSON on standard input.
 */
const [origin = '', rate = '', seconds = ''] = process.argv.slice(2)
const paths = JSON.parse(await text(process.stdin)) as string[]
const loaded = rate === '' ? await askAtOnce(Number(seconds)) : await askAtRate(Number(rate), Number(seconds))
process.stdout.write(JSON.stringify(loaded))

async function askAtOnce(duration: number): Promise<Loaded> {
  // Made as they are sent: a list of all of them would be made for each connection, which took longer than the client waits for an answer.
  let sent = 0
  const requests = [{ setupRequest: (request: object) => ({ ...request, path: paths[sent++ % paths.length] ?? '/' }) }]
  const errors = new Errors()
  const { requests: answered, latency } = await new Promise<Result>((resolve, reject) => {
    const settle = (error: Error | null, result: Result) => (error === null ? resolve(result) : reject(error))
    autocannon({ url: origin, connections: CONNECTIONS, duration, requests }, settle)
      .on('reqError', (error: NodeJS.ErrnoException) => errors.add(error.code ?? error.message))
      .on('response', (_client, status) => {
        if (status !== 200) errors.add(String(status))
      })
  })
  // autocannon has no percentile 95: the next higher one is no less.
  const { p50, p97_5, p99, max } = latency
  return { requests: answered.total, errors: errors.counts, p50, p95: p97_5, p99, max }
}

/**
 * Requests come evenly, whatever became of those before; the time of one counts from when it was due, so that a service which stalls does
 * not look fast because nobody asked meanwhile. With a rate autocannon sends those of a second in one burst at its beginning.
 */
async function askAtRate(rate: number, seconds: number): Promise<Loaded> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * CONNECTIONS })
  const times: number[] = []
  const errors = new Errors()
  const startedAt = performance.now()

  function ask(path: string, dueAt: number): Promise<void> {
    return new Promise(resolve => {
      const fail = ({ code, message }: NodeJS.ErrnoException) => {
        errors.add(code ?? message)
        resolve()
      }
      get(`${origin}${path}`, { agent }, answer => {
        answer.resume().once('end', () => {
          if (answer.statusCode === 200) times.push(performance.now() - dueAt)
          else errors.add(String(answer.statusCode))
          resolve()
        })
        answer.once('error', fail)
      }).once('error', fail)
    })
  }

  const total = rate * seconds
  const asked: Promise<void>[] = []
  await new Promise<void>(resolve => {
    const timer = setInterval(() => {
      const due = Math.min(total, 1 + Math.floor(((performance.now() - startedAt) / 1000) * rate))
      while (asked.length < due)
        asked.push(ask(paths[asked.length % paths.length] ?? '', startedAt + (asked.length / rate) * 1000))
      if (asked.length < total) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await Promise.all(asked)
  agent.destroy()
  return {
    requests: times.length,
    errors: errors.counts,
    ...spread(times),
    max: times.reduce((most, time) => Math.max(most, time), 0),
  }
}

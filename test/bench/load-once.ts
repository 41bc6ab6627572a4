import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import autocannon from 'autocannon'
import { spread } from './measure.ts'

/** What one process that asks was answered; times in milliseconds. */
export interface Loaded {
  requests: number
  errors: number
  p50: number
  p95: number
  p99: number
  max: number
}

const CONNECTIONS = 32

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
  const requests = paths.map(path => ({ method: 'GET', path }) as const)
  const {
    requests: answered,
    errors,
    timeouts,
    non2xx,
    latency,
  } = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration,
    requests,
  })
  // autocannon has no percentile 95: the next higher one is no less.
  const { p50, p97_5, p99, max } = latency
  return { requests: answered.total, errors: errors + timeouts + non2xx, p50, p95: p97_5, p99, max }
}

/**
 * Requests come evenly, whatever became of those before; the time of one counts from when it was due, so that a service which stalls does
 * not look fast because nobody asked meanwhile. With a rate autocannon sends those of a second in one burst at its beginning.
 */
async function askAtRate(rate: number, seconds: number): Promise<Loaded> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * CONNECTIONS })
  const times: number[] = []
  let errors = 0
  const startedAt = performance.now()

  function ask(path: string, dueAt: number): Promise<void> {
    return new Promise(resolve => {
      const end = (isAnswered: boolean) => {
        if (isAnswered) times.push(performance.now() - dueAt)
        else errors++
        resolve()
      }
      get(`${origin}${path}`, { agent }, answer => {
        answer.resume().once('end', () => end(answer.statusCode === 200))
        answer.once('error', () => end(false))
      }).once('error', () => end(false))
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
  return { requests: times.length, errors, ...spread(times), max: times.reduce((most, time) => Math.max(most, time), 0) }
}

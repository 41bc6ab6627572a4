import { text } from 'node:stream/consumers'
import autocannon from 'autocannon'

/**
 * Asks for paths in turn at a fixed rate, or as fast as it is answered, and prints how long the answers took, as JSON. The time counts from when a request should have
 * been sent, so that a service which stalls does not look fast because nobody asked meanwhile.
 *
 * `node load-once.ts <origin> <requests a second, or nothing> <seconds>`, with the paths as JSON on standard input.
 */
const [origin = '', rate = '', seconds = ''] = process.argv.slice(2)
const paths = JSON.parse(await text(process.stdin)) as string[]
const result = await autocannon({
  url: origin,
  connections: 32,
  ...(rate === '' ? {} : { overallRate: Number(rate) }),
  duration: Number(seconds),
  requests: paths.map(path => ({ method: 'GET', path })),
})
process.stdout.write(
  JSON.stringify({
    requests: result.requests.total,
    errors: result.errors + result.timeouts + result.non2xx,
    p50: result.latency.p50,
    p99: result.latency.p99,
    max: result.latency.max,
  }),
)

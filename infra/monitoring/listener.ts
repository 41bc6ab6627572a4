import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ListenAddress, SettingsError } from '#core/settings.ts'
import type { PrometheusMetrics } from './prometheus.ts'
import type { Readiness } from './readiness.ts'

/** What an operator's machines ask of a process, on a port of its own: `/metrics`, `/healthz`, `/readyz`. */
export interface MonitoringListener {
  readonly port: number
  close(): Promise<void>
}

const JSON_TYPE = 'application/json; charset=utf-8'
const REQUEST_MILLISECONDS = 10_000

/** @throws SettingsError when it cannot listen there */
export async function listenForMonitoring(
  { host, port }: ListenAddress,
  metrics: Pick<PrometheusMetrics, 'read'>,
  readiness: Pick<Readiness, 'check'>,
): Promise<MonitoringListener> {
  const server = createServer({ requestTimeout: REQUEST_MILLISECONDS }, (request, response) => {
    answer(request, metrics, readiness)
      .then(said => send(request, response, said))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem = `cannot listen on ${host}:${port} (${cause.code}); another program may listen there already`
      reject(new SettingsError('MOUNTGLASS_METRICS_PORT', problem, { cause }))
    })
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Said {
  status: number
  contentType: string
  text: string
}

async function answer(
  { method, url = '/' }: IncomingMessage,
  metrics: Pick<PrometheusMetrics, 'read'>,
  readiness: Pick<Readiness, 'check'>,
): Promise<Said> {
  if (method !== 'GET' && method !== 'HEAD') return told(405, 'method not allowed')
  switch (url.split('?', 1)[0]) {
    case '/metrics':
      return { status: 200, ...(await metrics.read()) }
    case '/healthz':
      return told(200, 'ok')
    case '/readyz':
      return readiness.check().then(
        () => told(200, 'ready'),
        () => told(503, 'unavailable'),
      )
    default:
      return told(404, 'not found')
  }
}

function told(status: number, text: string): Said {
  return { status, contentType: JSON_TYPE, text: JSON.stringify({ status: text }) }
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, contentType, text }: Said): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(method === 'HEAD' ? undefined : text)
}

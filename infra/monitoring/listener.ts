import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ListenAddress, SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'
import type { PrometheusMetrics } from './prometheus.ts'
import type { Readiness } from './readiness.ts'
import { TABLE_STYLE_HASH } from './table-page.ts'

/** HTTP server for monitoring, on a separate port: `/metrics`, `/healthz`, `/readyz`, and `/status` of a service. */
export interface MonitoringListener {
  readonly port: number
  close(): Promise<void>
}

const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'
const REQUEST_MS = 10_000
/** Monitoring systems ask at least once a minute. Their next request must not arrive while the idle connection is being closed. */
const KEEP_ALIVE_MS = 72_000

/** @throws SettingsError when the port cannot be opened */
export async function listenForMonitoring(
  { host, port }: ListenAddress,
  metrics: Pick<PrometheusMetrics, 'read'>,
  readiness: Pick<Readiness, 'check'>,
  readStatus: ReadStatus | null = null,
): Promise<MonitoringListener> {
  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(request, metrics, readiness, readStatus)
      .then(content => send(request, response, content))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem = t('problem.metricsPort', { host, port, code: cause.code ?? cause.message })
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

/** The page with the repositories of the deployment. */
export type ReadStatus = () => Promise<string>

interface Answer {
  status: number
  contentType: string
  text: string
}

async function answer(
  { method, url = '/' }: IncomingMessage,
  metrics: Pick<PrometheusMetrics, 'read'>,
  readiness: Pick<Readiness, 'check'>,
  readStatus: ReadStatus | null,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return statusAnswer(405, 'method not allowed')
  switch (url.split('?', 1)[0]) {
    case '/metrics':
      return { status: 200, ...(await metrics.read()) }
    case '/healthz':
      return statusAnswer(200, 'ok')
    case '/readyz':
      return readiness.check().then(
        () => statusAnswer(200, 'ready'),
        () => statusAnswer(503, 'unavailable'),
      )
    case '/status':
      if (readStatus === null) return statusAnswer(404, 'not found')
      return readStatus().then(
        text => ({ status: 200, contentType: HTML_TYPE, text }),
        () => statusAnswer(503, 'unavailable'),
      )
    default:
      return statusAnswer(404, 'not found')
  }
}

function statusAnswer(status: number, text: string): Answer {
  return { status, contentType: JSON_TYPE, text: JSON.stringify({ status: text }) }
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, contentType, text }: Answer): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; style-src '${TABLE_STYLE_HASH}'; frame-ancestors 'none'`,
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(method === 'HEAD' ? undefined : text)
}

import { isDeepStrictEqual } from 'node:util'
import { COMMON_ERRORS, ENDPOINTS, type EndpointName } from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { endpointOf } from './personal-endpoints.ts'

/** An answer whose headers and body were checked against the interface. */
export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape was checked against the contract; tests look into it freely
  json: any
}

/** Checks what holds for every answer below `/api/v1`: headers, and a body that is exactly what the contract says. */
export function checkAnswer(url: string, method: string, answer: Omit<Answer, 'json'>): Answer {
  const { status, headers, body } = answer
  const isApi = url.startsWith('/api/v1/')
  if (isApi) {
    requireEqual(`${url}: cache-control`, headers['cache-control'], 'no-store')
    requireEqual(`${url}: access-control-allow-origin`, headers['access-control-allow-origin'], '*')
    requireEqual(`${url}: access-control-allow-credentials`, headers['access-control-allow-credentials'], undefined)
    if (method !== 'OPTIONS') {
      requireEqual(`${url}: exposed headers`, headers['access-control-expose-headers'], 'x-request-id, retry-after, etag')
    }
  }
  requireEqual(`${url}: nosniff`, headers['x-content-type-options'], 'nosniff')
  if (!/^[0-9a-f-]{36}$/.test(headers['x-request-id'] ?? '')) throw new Error(`${url}: no x-request-id`)
  const isJson = headers['content-type']?.startsWith('application/json') === true
  const json = isJson && body !== '' ? JSON.parse(body) : undefined
  if (json !== undefined && status >= 400 && url !== '/readyz') checkError(url, status, headers, json)
  const endpoint = endpointOf(method, url)
  if (json !== undefined && status >= 400 && endpoint !== null) checkDeclared(url, endpoint, (json as ErrorAnswer).error.code)
  if (status < 300 && endpoint !== null && method !== 'HEAD') requireEqual(`${url}: status`, status, ENDPOINTS[endpoint].status)
  if (json !== undefined && status < 300 && endpoint !== null) {
    const isIndexing = json.status === 'indexing' || json.index?.status === 'indexing'
    requireEqual(`${url}: retry-after`, headers['retry-after'], isIndexing ? '1' : undefined)
    const parsed = ENDPOINTS[endpoint].answer.parse(json)
    if (!isDeepStrictEqual(parsed, json))
      throw new Error(`${url}: the answer has fields that the contract does not know: ${body}`)
  }
  return { ...answer, json }
}

function checkError(url: string, status: number, headers: Answer['headers'], json: unknown): void {
  const parsed = ErrorAnswer.parse(json)
  if (!isDeepStrictEqual(parsed, json)) throw new Error(`${url}: the error has fields that the contract does not know`)
  const { code, retryAfter } = parsed.error
  requireEqual(`${url}: status of ${code}`, status, ERROR_STATUS[code as keyof typeof ERROR_STATUS])
  requireEqual(
    `${url}: retry-after`,
    headers['retry-after'],
    retryAfter === undefined ? undefined : String(Math.ceil(retryAfter)),
  )
}

/** What every route may answer besides the codes of its endpoint. */
/** The table of endpoints lists every code of an endpoint, and the OpenAPI description with it. */
function checkDeclared(url: string, endpoint: EndpointName, code: string): void {
  const declared: readonly string[] = [...ENDPOINTS[endpoint].errors, ...COMMON_ERRORS]
  if (!declared.includes(code)) throw new Error(`${url}: ${code} is no code of ${endpoint}`)
}

function requireEqual(what: string, given: unknown, wanted: unknown): void {
  if (given !== wanted) throw new Error(`${what} is ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`)
}

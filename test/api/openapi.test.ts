import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMON_ERRORS, ENDPOINTS } from '#core/contract/endpoints.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

interface Operation {
  operationId: string
  parameters: { name: string; in: string; description?: string; required?: boolean; schema: Record<string, unknown> }[]
  responses: Record<
    string,
    { 'x-error-codes'?: string[]; headers: object; content?: Record<string, { schema: { $ref: string } }> }
  >
}

let app: TestApp
let document: {
  openapi: string
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
beforeAll(async () => {
  app = await testApp(
    {},
    {
      github: { withToken: false, app: github => github.app('reader', { owner: github.user('maker') }) },
      site: async pages => {
        pages.get('/', async () => 'home')
        pages.get(pages.declarePrefix('/local', { isPartOfAddress: true }), async request => request.rawAddress)
      },
    },
  )
  const answer = await app.get('/api/v1/openapi.json')
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  document = answer.json
})
afterAll(() => app.close())

/** Every operation, with its path and its method in lower case. */
const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) => {
    return Object.entries(item).map(([method, operation]) => ({ path, method, operation }))
  })
const operationAt = (path: string, method = 'get') => document.paths[`/api/v1${path}`]?.[method.toLowerCase()]

test('the description is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(document))
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  expect(document.openapi).toMatch(/^3\.1\./)
  const broken = await new Validator().validate({ ...structuredClone(document), paths: 1 })
  expect(broken.valid).toBe(false)
})

test('the description lists every endpoint with its path and its parameters, and nothing else', () => {
  const described = operations().map(({ path, method, operation }) => [operation.operationId, method.toUpperCase(), path])
  const wanted = Object.entries(ENDPOINTS).map(([name, { method, path }]) => [name, method as string, `/api/v1${path}`])
  expect(described.sort()).toEqual(wanted.sort())
  for (const [name, { method, path, query, subject }] of Object.entries(ENDPOINTS)) {
    const parameters = operationAt(path, method)?.parameters ?? []
    expect(
      parameters.map(parameter => [parameter.in, parameter.name]),
      name,
    ).toEqual([
      ...(subject === 'none' ? [] : [['path', subject]]),
      ...Object.keys(query.shape).map(parameter => ['query', parameter]),
    ])
  }
})

test('only the parameters that are required are, and integers are described with their bounds', () => {
  const required = operations().flatMap(({ operation: { operationId, parameters } }) => {
    return parameters.filter(parameter => parameter.required).map(parameter => `${operationId} ${parameter.name}`)
  })
  expect(required).toEqual([
    'mounts address',
    'browse address',
    'findings address',
    'find address',
    'find query',
    'skills address',
    'skills path',
    'files address',
    'files path',
    'changes address',
    'changes from',
    'history address',
    'refs address',
    'owners owner',
    'legal kind',
    'endGrant id',
    'deleteToken id',
    'oauthRequest request',
  ])
  expect(operationAt('/files/{address}')?.parameters.find(({ name }) => name === 'limit')?.schema).toMatchObject({
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 40_000,
  })
})

test('the description lists every error code of every endpoint under the status of the code', () => {
  for (const { method, path, errors, status } of Object.values(ENDPOINTS)) {
    const responses = operationAt(path, method)?.responses ?? {}
    for (const code of [...errors, ...COMMON_ERRORS])
      expect(responses[ERROR_STATUS[code]]?.['x-error-codes'], `${path} ${code}`).toContain(code)
    const schema = responses[status]?.content?.['application/json']?.schema
    if (status === 204) expect(schema).toBeUndefined()
    else expect(schema?.$ref).toMatch(/^#\/components\/schemas\//)
  }
})

test('parameters of text are described with their bounds', () => {
  const schemaOf = (endpoint: string, parameter: string) =>
    operationAt(`/${endpoint}`)?.parameters.find(({ name }) => name === parameter)?.schema
  expect(schemaOf('mounts/{address}', 'address')).toEqual({ type: 'string', minLength: 1, maxLength: 2_048 })
  expect(schemaOf('browse/{address}', 'path')).toEqual({ type: 'string', maxLength: 1_024 })
  expect(schemaOf('files/{address}', 'path')).toEqual({ type: 'string', minLength: 1, maxLength: 1_024 })
  expect(schemaOf('skills/{address}', 'path')).toEqual({ type: 'string', minLength: 1, maxLength: 1_024 })
  expect(schemaOf('find/{address}', 'query')).toEqual({ type: 'string', minLength: 1, maxLength: 500 })
  for (const endpoint of ['browse', 'find', 'skills'])
    expect(schemaOf(`${endpoint}/{address}`, 'cursor')).toMatchObject({ maxLength: 8_192, pattern: '^[A-Za-z0-9_-]{23,}$' })
})

test('every parameter is described, and the address as one that is not encoded as a whole', () => {
  const unexplained = operations().flatMap(({ operation: { operationId, parameters } }) => {
    return parameters.filter(({ description }) => !description).map(({ name }) => `${operationId} ${name}`)
  })
  expect(unexplained).toEqual([])
  const [address] = operationAt('/mounts/{address}')?.parameters ?? []
  expect(address?.description).toContain('not encoded as one text')
  expect(document.info.description).toContain('must not percent-encode it as one text')
})

test('every response is described with the headers that it has', async () => {
  const always = ['x-request-id', 'cache-control', 'access-control-allow-origin']
  for (const { path, operation } of operations()) {
    for (const [status, { headers }] of Object.entries(operation.responses)) {
      const isAnswer = status === '200' && path.includes('{address}')
      const also = [...(isAnswer || status === '503' ? ['retry-after'] : []), ...(isAnswer || status === '304' ? ['etag'] : [])]
      expect(Object.keys(headers).sort(), `${path} ${status}`).toEqual([...always, ...also].sort())
    }
  }
  const answer = await app.get('/api/v1/featured')
  for (const name of always) expect(answer.headers[name]).toEqual(expect.any(String))
})

test('pages are not part of the description, and receive the address raw, with its host', async () => {
  expect((await app.get('/')).body).toBe('home')
  expect((await app.get('/local/acme/tools@a%2Fb/%252e?view=x')).body).toBe('local/acme/tools@a%2Fb/%252e')
})

test('no object is described as closed, since the interface grows by fields', () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false')
})

test('without a host with accounts and without sign-in, the description has neither owner pages nor people', async () => {
  const without = await testApp({})
  try {
    const { json } = await without.get('/api/v1/openapi.json')
    expect(Object.keys(json.paths)).toEqual(
      Object.keys(document.paths).filter(path => !/^\/api\/v1\/(?:owners|me|oauth)\b/.test(path)),
    )
  } finally {
    await without.close()
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { legacy, message } from './scene.ts'

const ADDRESS = '/local/acme/tools'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { github: { withToken: true } })
  await app.open(ADDRESS)
  await app.open('/gh/acme/tools')
})
afterAll(() => app.close())

interface Sent {
  headers?: Record<string, string>
  payload?: string
}

async function post(path: string, options: Sent = {}) {
  const answer = await app.app.inject({ method: 'POST', url: `/mcp${path}`, ...options })
  const json = answer.body === '' ? null : answer.json()
  return { status: answer.statusCode, headers: answer.headers, json }
}

describe('an address', () => {
  test.each([
    ['/local/acme/nothing', 404, 'mount.repo_not_found'],
    ['/gh/acme/nothing', 404, 'mount.repo_not_found'],
    ['/gh/acme', 400, 'address.incomplete'],
    ['/nowhere/acme/tools', 400, 'address.unknown_host'],
    ['/local/acme/tools%zz', 400, 'address.invalid_escape'],
    ['/local/acme/tools@a%', 400, 'address.invalid_escape'],
    [`/local/acme/tools/${'x'.repeat(3_000)}`, 400, 'address.too_long'],
  ])('%s has no server: %i %s', async (path, status, code) => {
    for (const method of ['tools/list', 'server/discover']) {
      const answer = await post(path, message(method))
      expect(answer.status).toBe(status)
      expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { data: { code } } })
    }
  })

  test('that became private is answered as a missing one, even by a tool that was called before', async () => {
    const call = message('tools/call', { name: 'browse_repo', arguments: {} })
    const questions = [message('tools/list'), call, message('skills/list'), message('resources/list')]
    expect((await post('/gh/acme/tools', call)).status).toBe(200)
    const shown = await app.github.shown('acme', 'tools')
    const nothing = await Promise.all(questions.map(question => post('/gh/acme/never', question)))
    shown.visibility = 'private'
    app.advanceClock(400)
    const hidden = await Promise.all(questions.map(question => post('/gh/acme/tools', question)))
    expect(nothing.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(hidden.map(answer => ({ ...answer, headers: null }))).toEqual(nothing.map(answer => ({ ...answer, headers: null })))
    shown.visibility = 'public'
    app.advanceClock(400)
    expect((await post('/gh/acme/tools', message('tools/list'))).status).toBe(200)
  })

  test('whose ref or folder is missing has tools that report that', async () => {
    for (const [path, code] of [
      [`${ADDRESS}@nowhere`, 'mount.ref_not_found'],
      [`${ADDRESS}/nowhere`, 'mount.path_not_found'],
    ]) {
      expect((await post(String(path), message('tools/list'))).status).toBe(200)
      const { json } = await post(String(path), message('tools/call', { name: 'browse_repo', arguments: {} }))
      expect(json.result).toMatchObject({ isError: true, structuredContent: { error: { code } } })
    }
  })
})

describe('a request', () => {
  const good = message('tools/list')
  const { headers } = good

  test.each<[what: string, options: Sent, status: number, code: number]>([
    ['that is no JSON', { headers, payload: '{' }, 400, -32700],
    ['without a body', { headers }, 400, -32700],
    ['that is a list of messages', { headers, payload: `[${good.payload},${good.payload}]` }, 400, -32600],
    ['that is a text', { headers, payload: '"tools/list"' }, 400, -32600],
    ['with more than 64 KiB', { headers, payload: `${good.payload}${' '.repeat(64 * 1024)}` }, 413, -32000],
    ['of another content type', { ...good, headers: { ...headers, 'content-type': 'text/plain' } }, 415, -32000],
    ['without its method in a header', { ...good, headers: without('mcp-method') }, 400, -32020],
    ['with another method in its header', { ...good, headers: { ...headers, 'mcp-method': 'tools/call' } }, 400, -32020],
    [
      'with another revision in its header',
      { ...good, headers: { ...headers, 'mcp-protocol-version': '2025-11-25' } },
      400,
      -32020,
    ],
    ['of an unknown revision', replaced('2026-07-28', '2099-01-01'), 400, -32022],
    ['of an unknown method', message('tools/destroy'), 404, -32601],
    ['for an unknown tool', message('tools/call', { name: 'rm', arguments: {} }), 400, -32602],
    ['for a tool without a name', replaced('"name":"x"', '"other":"x"', message('tools/call', { name: 'x' })), 400, -32602],
  ])('%s is refused', async (_, options, status, code) => {
    const answer = await post(ADDRESS, options)
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { code } })
    expect([200, status]).toContain(answer.status)
    expect(JSON.stringify(answer.json)).not.toMatch(/node_modules|\/work|at .*\.ts/)
  })

  function without(name: string): Record<string, string> {
    return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name))
  }

  function replaced(from: string, to: string, given = good): Sent {
    const entries = Object.entries(given.headers).map(([name, value]) => [name, value.replaceAll(from, to)])
    return { headers: Object.fromEntries(entries), payload: given.payload.replaceAll(from, to) }
  }

  test.each([
    [undefined, 200],
    ['*/*', 200],
    ['application/*, text/*', 200],
    ['application/json, */*;q=0.1', 200],
    ['Application/JSON;q=0.9, TEXT/event-stream;q=0.1', 200],
    ['text/*;q=0.8', 406],
    ['application/json', 406],
    ['application/json, text/event-stream;q=0', 406],
    ['*/*;q=0', 406],
  ])('of an older revision that accepts %s is answered %i: its answer is a stream', async (accept, status) => {
    const { accept: _, ...others } = headers
    const sent = { ...good, headers: accept === undefined ? others : { ...others, accept } }
    expect((await app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, ...sent })).statusCode).toBe(200)
    expect((await app.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, ...legacy(sent) })).statusCode).toBe(status)
  })

  test.each(['GET', 'DELETE', 'PUT'] as const)('by %s is 405', async method => {
    const answer = await app.app.inject({ method, url: `/mcp${ADDRESS}`, headers })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toContain('POST')
  })

  test('of a page of any origin may send a preflight', async () => {
    const answer = await app.app.inject({
      method: 'OPTIONS',
      url: `/mcp${ADDRESS}`,
      headers: {
        origin: 'https://agent.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method',
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' })
    expect(String(answer.headers['access-control-allow-headers'])).toContain('mcp-method')
  })

  test('to the server without an address names a repository', async () => {
    const call = async (given: Record<string, unknown>) =>
      (await post('', message('tools/call', { name: 'browse_repo', arguments: given }))).json.result
    for (const [address, code] of [
      [undefined, 'request.invalid'],
      [7, 'request.invalid'],
      ['', 'request.invalid'],
      ['acme', 'address.unknown_host'],
      ['https://elsewhere.example/acme/tools', 'address.incomplete'],
      ['local/acme/nothing', 'mount.repo_not_found'],
    ]) {
      const given = address === undefined ? {} : { address }
      expect(await call(given), String(address)).toMatchObject({ isError: true, structuredContent: { error: { code } } })
    }
    expect(await call({ address: 'https://github.com/acme/tools' })).toMatchObject({ structuredContent: { status: 'ready' } })
  })
})

test('a service on the own machine is reached under the names of that machine alone', async () => {
  const local = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { baseUrl: 'http://127.0.0.1:3000' })
  const asked = async (headers: Record<string, string>) => {
    const { headers: usual, payload } = message('tools/list')
    const answer = await local.app.inject({ method: 'POST', url: `/mcp${ADDRESS}`, headers: { ...usual, ...headers }, payload })
    return answer.statusCode
  }
  expect(await asked({ host: 'localhost:3000' })).toBe(200)
  expect(await asked({ host: '127.0.0.1:3000', origin: 'http://localhost:5173' })).toBe(200)
  expect(await asked({ host: 'evil.example' })).toBe(403)
  expect(await asked({ host: 'localhost:3000', origin: 'https://evil.example' })).toBe(403)
  await local.close()
})

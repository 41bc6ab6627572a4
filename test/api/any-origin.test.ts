import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const ADDRESS = '/local/acme/tools'

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/tools': { 'package.json': '{"license":"MIT"}', 'a/SKILL.md': '---\nname: a\ndescription: Does it.\n---\nDo.\n' },
  })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

const OPEN = [
  `${ADDRESS}/.well-known/agent-skills/index.json`,
  `${ADDRESS}/.well-known/agent-skills/archive/${'0'.repeat(64)}.tar.gz`,
  `${ADDRESS}/.well-known/skills/index.json`,
  `${ADDRESS}/.well-known/skills/a/SKILL.md`,
  `${ADDRESS}/llms.txt`,
  '/llms.txt',
  '/api/v1/openapi.json',
  `/api/v1/mounts${ADDRESS}`,
]

test.each(OPEN)('a page of any origin may read %s, and may send its own headers', async url => {
  const origin = 'https://elsewhere.example'
  const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match,mcp-protocol-version' }
  const preflight = await app.app.inject({ method: 'OPTIONS', url, headers: { origin, ...asked } })
  expect([preflight.statusCode, preflight.body]).toEqual([204, ''])
  expect(preflight.headers['access-control-allow-origin']).toBe('*')
  expect(preflight.headers['access-control-allow-headers']).toMatch(/\*|if-none-match/)
  expect(preflight.headers['access-control-allow-methods']).toContain('GET')
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
  for (const method of ['GET', 'HEAD'] as const) {
    const answer = await app.app.inject({ method, url, headers: { origin } })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-expose-headers']).toContain('etag')
  }
})

test.each(['/metrics', '/healthz', '/auth/sign-in'])('%s is for no other origin', async url => {
  const preflight = await app.app.inject({ method: 'OPTIONS', url, headers: { origin: 'https://elsewhere.example' } })
  expect(preflight.statusCode).toBeGreaterThanOrEqual(400)
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
})

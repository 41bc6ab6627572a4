import { afterAll, beforeAll, expect, test } from 'vitest'
import { message } from '#test/mcp/scene.ts'
import { openPeopleScene } from '#test/support/people-scene.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const ADDRESS = '/local/acme/tools'
const FOREIGN = ['Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer x', 'bearer ', 'Bearer ya29.A0ARrdaM']

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'package.json': '{"license":"MIT"}', 'a.md': '# A\n' } })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

test.each(FOREIGN)('without sign-in, %j is taken as the token of a proxy, and ignored', async authorization => {
  expect((await app.get(`/api/v1/mounts${ADDRESS}`, { headers: { authorization } })).status).toBe(200)
  const sent = message('tools/list')
  const answer = await app.app.inject({
    method: 'POST',
    url: `/mcp${ADDRESS}`,
    ...sent,
    headers: { ...sent.headers, authorization },
  })
  expect(answer.statusCode).toBe(200)
})

test('a token of such a service is judged there, too', async () => {
  const answer = await app.get(`/api/v1/mounts${ADDRESS}`, { headers: { authorization: `Bearer mgp_${'a'.repeat(90)}` } })
  expect([answer.status, answer.json.error.code]).toEqual([401, 'auth.required'])
})

test('with sign-in, every token is checked', async () => {
  const scene = await openPeopleScene({})
  for (const authorization of FOREIGN)
    expect((await scene.get('/api/v1/mounts/gh/acme/tools', { headers: { authorization } })).status).toBe(401)
  await scene.close()
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { PERSONAL_ENDPOINTS } from '#test/support/personal-endpoints.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'a.md': '# A\n' } })
})
afterAll(() => app.close())

test.for(PERSONAL_ENDPOINTS)('%s is 404 if sign-in is off, with any method and credentials', async name => {
  const { method, path } = ENDPOINTS[name]
  const url = `/api/v1${path.replace('{id}', '0'.repeat(24))}`
  for (const headers of [{}, { origin: 'https://example.org' }, { authorization: 'Bearer x', cookie: '__Host-session=x' }]) {
    const answer = await app.get(url, { method, headers })
    expect([answer.status, answer.json.error.code]).toEqual([404, 'request.not_found'])
  }
})

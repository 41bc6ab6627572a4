import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { github: { withToken: true } })
})
afterAll(() => app.close())

test.for([
  ['/local/acme/tools/%ZZ', 'address.invalid_escape'],
  ['/local/acme/tools/%FF', 'address.invalid_escape'],
  ['/local/acme/tools/a%5Cb', 'address.invalid_path'],
  ['/local/acme/tools/a%2Fb', 'address.invalid_path'],
  ['/gh/acme/tools@', 'address.invalid_ref'],
  ['/gh/acme/tools//a', 'address.invalid_path'],
  ['/gh/-/tools', 'address.invalid_owner'],
  ['/gh/acme', 'address.incomplete'],
  ['/gh/', 'address.incomplete'],
  [`/local/acme/tools/${'a'.repeat(3_000)}`, 'address.too_long'],
  ['/owners/gh/%ZZ', 'owner.invalid'],
  ['/owners/local/acme', 'owner.invalid'],
  ['/owners', 'owner.invalid'],
] as const)('without built pages, %s is 400 as on a page, in the form of the interface', async ([target, code]) => {
  const answer = await app.get(target)
  expect([answer.status, answer.json.error.code]).toEqual([400, code])
})

test.for(['/', '/open', '/local/acme/tools', '/gh/acme/tools@main/docs?view=browse', '/owners/gh/acme', '/nothing', '/gh'])(
  'without built pages, %s is 404',
  async target => {
    const answer = await app.get(target)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'request.not_found'])
  },
)

test('a host that this deployment does not serve is unknown', async () => {
  const local = await testApp({})
  try {
    expect((await local.get('/gh/acme/tools')).json.error.code).toBe('address.unknown_host')
    expect((await local.get('/owners/gh/acme')).json.error.code).toBe('request.not_found')
  } finally {
    await local.close()
  }
})

test('a start on a busy machine is given enough time', () => {
  expect(app.app.initialConfig.pluginTimeout).toBe(0)
})

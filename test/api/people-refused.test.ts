import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { message } from '#test/mcp/scene.ts'
import { mistyped } from '#test/support/mistyped.ts'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'

const CLOSED = '/gh/acme/closed'
const lines: string[] = []
let scene: PeopleScene
let ada: Browser
let token: string
let isAway = false

beforeAll(async () => {
  const states = createMemoryStateStore()
  const away = <Args extends unknown[], Value>(call: (...args: Args) => Promise<Value>) => {
    return (...args: Args) => (isAway ? Promise.reject(new Error('away')) : call(...args))
  }
  scene = await openPeopleScene({
    states: { ...states, read: away(states.read), create: away(states.create), replace: away(states.replace) },
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
  })
  ada = await scene.signIn(scene.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await scene.index()
  token = (await ada.post('/api/v1/me/tokens', { address: CLOSED, label: 'x', expiresInDays: 1 })).json.token
})
afterAll(() => scene.close())

const codeOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) =>
  `${status} ${json?.error?.code ?? ''}`
const bearer = () => ({ authorization: `Bearer ${token}` })

test('v5.0.0-16.5.3: while records cannot be read, nobody is let in, and nobody is treated as signed out', async () => {
  const ask = async () => [
    codeOf(await ada.get('/api/v1/me')),
    codeOf(await ada.get(`/api/v1/mounts${CLOSED}`)),
    codeOf(await scene.get(`/api/v1/mounts${CLOSED}`, { headers: bearer() })),
    codeOf(await ada.get('/api/v1/me/tokens')),
    codeOf(await ada.delete('/api/v1/me/tokens/x')),
  ]
  expect(await ask()).toEqual(['200 ', '200 ', '200 ', '200 ', '404 token.not_found'])
  isAway = true
  expect(await ask()).toEqual(Array(5).fill('503 auth.unavailable'))
  const called = message('tools/list')
  const answer = await scene.app.inject({
    method: 'POST',
    url: `/mcp${CLOSED}`,
    ...called,
    headers: { ...called.headers, ...bearer() },
  })
  expect([answer.statusCode, answer.json().error.data.code]).toEqual([503, 'auth.unavailable'])
  isAway = false
  expect(await ask()).toEqual(['200 ', '200 ', '200 ', '200 ', '404 token.not_found'])
})

test('v5.0.0-16.3.2: a refusal is in the log, with its status and without the name', async () => {
  const stranger = await scene.signIn(scene.bob)
  lines.length = 0
  const refused = [
    await stranger.get(`/api/v1/mounts${CLOSED}`),
    await scene.get(`/api/v1/mounts${CLOSED}`, { headers: { authorization: `Bearer ${mistyped(token)}` } }),
    await scene.get('/api/v1/mounts/gh/acme/other', { headers: bearer() }),
    await stranger.post('/api/v1/me/tokens', { address: CLOSED, label: 'x', expiresInDays: 1 }),
    await scene.browser().get('/api/v1/me/tokens'),
  ]
  const logged = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  expect(logged.map(({ status, reqId }) => [status, reqId])).toEqual(
    refused.map(({ status, headers }) => [status, headers['x-request-id']]),
  )
  expect(logged.map(({ status }) => status)).toEqual([404, 401, 401, 404, 401])
  expect(logged.slice(0, 3).map(({ repo }) => /^h_[\w-]{16}$/.test(repo))).toEqual([true, true, true])
  expect(lines.join('')).not.toMatch(/closed|"\/gh\/acme/)
})

test.each([
  '/api/v1/mounts/github/acme/closed',
  '/api/v1/files/GH/acme/closed/secret-plan?path=a.md',
  '/api/v1/mounts/https:/github.com/acme/closed',
  '/mcp/acme/closed',
  '/badge/gh%2Facme/closed',
  '/gh/acme/closed/%zz',
  '/gh/acme/closed@main//secret-plan',
  '/api/v1/mounts/githb/acme/closed/gh/acme/tools',
  '/api/v1/nothing/closed/gh/acme/tools',
])('an address that does not parse is not in the log: %s', async url => {
  expect((await scene.get('/api/v1/mounts/gh/acme/tools')).status).toBe(200)
  lines.length = 0
  expect((await scene.app.inject(url)).statusCode).toBeGreaterThanOrEqual(400)
  expect(lines.join('')).toContain('answered')
  expect(lines.join('')).not.toMatch(/closed|secret-plan/)
})

import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createClock } from '#test/support/fake-github/clock.ts'
import { createLimits } from '#test/support/fake-github/limits.ts'
import { openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, installation, tokens, ask, askJson, statusOf, gitFailure } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('tags and limits', () => {
  test('the tag of a JSON body is the same for every credential except tokens of persons and installations', async () => {
    const tagOf = async (headers: Record<string, string>) => (await ask('/repos/acme/tools', { headers })).headers.get('etag')
    const anonymous = await tagOf({})
    expect(anonymous).toMatch(/^W\/"[0-9a-f]{64}"$/)
    expect(await tagOf({ authorization: `Basic ${tokens.client}` })).toBe(anonymous)
    const byInstallation = await tagOf({ authorization: `Bearer ${tokens.installation}` })
    const other = github.installationToken(installation)
    expect(new Set([anonymous, byInstallation, await tagOf({ authorization: `Bearer ${other}` })]).size).toBe(3)
    expect(await tagOf({ authorization: `Bearer ${tokens.installation}` })).toBe(byInstallation)
  })

  test('an unchanged answer is 304, and free for an authenticated client', async () => {
    const remaining = async (headers: Record<string, string>) => {
      const answer = await ask('/users/ada', { headers })
      return [answer.status, Number(answer.headers.get('x-ratelimit-remaining')), answer.headers.get('etag') ?? ''] as const
    }
    const [, left, etag] = await remaining({})
    expect(await remaining({ 'if-none-match': etag })).toEqual([304, left - 1, etag])
    const authorization = `Bearer ${tokens.ada}`
    const [, known, own] = await remaining({ authorization })
    expect(await remaining({ authorization, 'if-none-match': own })).toEqual([304, known, own])
    expect(github.log.rest.map(({ counted }) => counted)).toEqual([true, true, true, false])
  })

  test('a date is enough where there is no tag', async () => {
    const changed = (await ask('/repos/acme/tools')).headers.get('last-modified') ?? ''
    const since = async (headers: Record<string, string>) => statusOf('/repos/acme/tools', { headers })
    expect(await since({ 'if-modified-since': changed })).toBe(304)
    expect(await since({ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(200)
    expect(await since({ 'if-modified-since': changed, 'if-none-match': '"other"' })).toBe(200)
  })

  test('the hour of a credential: sixty requests without a token, five thousand for a person, and the rate limit endpoint is free', async () => {
    const overview = await askJson('/rate_limit')
    expect(overview).toMatchObject({ rate: { limit: 60, used: 0, remaining: 60 }, resources: { core: { limit: 60 } } })
    await ask('/users/ada')
    expect(await askJson('/rate_limit')).toMatchObject({ rate: { used: 1, remaining: 59 } })
    expect(await askJson('/rate_limit', { token: tokens.ada })).toMatchObject({ rate: { limit: 5000 } })
    const newer = await ask('/rate_limit', { headers: { 'x-github-api-version': '2026-03-10' } })
    expect(Object.keys((await newer.json()) as object)).toEqual(['resources'])
  })

  test.each([403, 429] as const)('over the limit every answer is %i until the hour is over', async status => {
    const before = github.clock.now()
    github.limits.exhaust(tokens.ada, { status, seconds: 100 })
    const after = github.clock.now()
    const answer = await ask('/users/ada', { token: tokens.ada })
    expect(answer.status).toBe(status)
    expect([answer.headers.get('x-ratelimit-remaining'), answer.headers.get('retry-after')]).toEqual(['0', null])
    const reset = Number(answer.headers.get('x-ratelimit-reset')) * 1000
    // In whole seconds.
    expect(reset).toBeGreaterThan(before + 99_000)
    expect(reset).toBeLessThan(after + 101_000)
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('API rate limit exceeded for user ID') })
    expect(await statusOf('/users/ada', { token: tokens.adaByApp })).toBe(status)
    expect(await statusOf('/users/ada')).toBe(200)
    github.clock.advance(101)
    expect(await statusOf('/users/ada', { token: tokens.ada })).toBe(200)
  })

  test.each([403, 429] as const)('the secondary limit is %i, with or without a time to wait', async status => {
    github.limits.secondary({ status, retryAfterSeconds: 17 })
    const answer = await ask('/users/ada', { token: tokens.ada })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '17'])
    expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
    github.limits.secondary({ status, retryAfterSeconds: null })
    expect((await ask('/users/ada')).headers.get('retry-after')).toBe(null)
    expect(await statusOf('/users/ada')).toBe(200)
  })

  test('nine hundred points in a minute and a hundred requests at once are the secondary limit by themselves', () => {
    const clock = createClock()
    const keeper = createLimits(clock, () => ({ kind: 'anonymous' }))
    const app = { kind: 'client', clientId: 'Ov23', app: null } as const
    const refusedAs = (method: string) => keeper.refuse(app, method, 'ID')?.status ?? null
    for (let turn = 0; turn < 180; turn++) expect(refusedAs('POST')).toBe(null)
    expect(refusedAs('GET')).toBe(403)
    clock.advance(61)
    const ends = Array.from({ length: 101 }, () => keeper.begin(app))
    expect(refusedAs('GET')).toBe(403)
    ends[0]?.()
    expect(refusedAs('GET')).toBe(null)
  })

  test('the sixty-first anonymous request of an hour is refused', async () => {
    github.limits.exhaust(`Basic ${tokens.client}`)
    expect(await statusOf('/users/ada', { headers: { authorization: `Basic ${tokens.client}` } })).toBe(403)
    github.limits.set('anonymous', 2)
    expect([await statusOf('/users/ada'), await statusOf('/nothing'), await statusOf('/users/ada')]).toEqual([200, 404, 403])
  })
})

describe('faults', () => {
  test('an answer instead of the real one, as often as asked for', async () => {
    github.faults.add({
      match: { host: 'api', path: '/users/ada' },
      times: 2,
      status: 502,
      body: 'oops',
      headers: { 'x-a': 'b' },
    })
    const answer = await ask('/users/ada')
    expect([answer.status, await answer.text(), answer.headers.get('x-a')]).toEqual([502, 'oops', 'b'])
    expect([await statusOf('/users/bob'), await statusOf('/users/ada'), await statusOf('/users/ada')]).toEqual([200, 502, 200])
    expect(github.log.rest.map(({ fault }) => fault)).toEqual([true, false, true, false])
  })

  test('a page, a redirect, and the real answer late', async () => {
    github.faults.add({ html: true })
    expect((await ask('/users/ada')).headers.get('content-type')).toContain('text/html')
    github.faults.add({ redirect: 'http://127.0.0.1:1/' })
    expect((await ask('/users/ada')).headers.get('location')).toBe('http://127.0.0.1:1/')
    github.faults.add({ delaySeconds: 0.05 })
    expect(await askJson('/users/ada')).toMatchObject({ login: 'ada' })
  })

  test('a broken connection, a truncated answer, one without an end, and no answer', async () => {
    github.faults.add({ reset: true })
    await expect(ask('/users/ada')).rejects.toThrow()
    github.faults.add({ match: { path: /users/ }, cutAfterBytes: 10 })
    await expect(ask('/users/ada').then(answer => answer.text())).rejects.toThrow()
    github.faults.add({ endless: true })
    const reader = (await ask('/users/ada')).body?.getReader()
    let seen = 0
    while (seen < 1024 * 1024) seen += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY
    expect(seen).toBeLessThan(Number.POSITIVE_INFINITY)
    await reader?.cancel()
    github.faults.add({ stall: true })
    const stalled = await ask('/users/ada')
    expect(stalled.status).toBe(200)
    await stalled.body?.cancel()
    github.faults.add({ match: { host: 'web' }, cutAfterBytes: 10 })
    expect(await gitFailure(['ls-remote', `${github.origins.web}/acme/tools`])).toMatch(/fatal/)
  })
})

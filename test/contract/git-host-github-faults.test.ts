import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { describeAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, create, open, look, asked } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

describe('a host that', () => {
  const token = () => github.personalToken(github.user('reader'), [])

  test.each([
    ['resets', { reset: true }],
    ['answers HTML', { html: true }],
    ['answers HTML with an error', { html: true, status: 502 }],
    ['is hidden behind a page that refuses', { html: true, status: 403 }],
    ['is hidden behind a foreign page', { html: true, status: 404 }],
    ['answers other JSON', { body: '{"id":"1"}' }],
    ['answers broken JSON', { body: '{"id":' }],
    ['answers nothing', { body: '' }],
    ['breaks off', { cutAfterBytes: 100 }],
    ['answers without end', { endless: true }],
    ['fails', { status: 500, body: '{"message":"Server Error"}' }],
    ['is busy', { status: 503, body: '', headers: { 'retry-after': '9' } }],
    ['sends away to another origin', { redirect: 'http://127.0.0.1:1/repositories/1' }],
    ['sends away to a file', { redirect: 'file:///etc/passwd' }],
  ] as const)('%s is unavailable', async (_, fault) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const secret = token()
    const at = await open({ token: secret })
    github.faults.add({ ...fault, times: 9, match: { host: 'api' } })
    const answer = await at.repository('acme', repository.name)
    expect(answer).toEqual({ status: 'unavailable', retryAfterSeconds: 'status' in fault && fault.status === 503 ? 9 : null })
    expect(JSON.stringify(answer)).not.toContain(secret)
  })

  test.each([
    ['resets', { reset: true }],
    ['answers HTML', { html: true }],
    ['answers HTML with a refusal', { html: true, status: 403 }],
    ['answers otherwise than git', { body: 'no packets', headers: { 'content-type': 'application/x-git-upload-pack-result' } }],
    ['answers without end', { endless: true }],
    ['breaks off', { cutAfterBytes: 10 }],
    ['is busy', { status: 503, body: '' }],
    ['sends away to another origin', { redirect: 'http://127.0.0.1:1/acme/tools.git/git-upload-pack' }],
  ] as const)('%s to git does not keep a branch or tag from being found: the API is asked for both', async (_, fault) => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' }, { branch: 'side' })
    await repository.tag('v1', commit)
    const at = await open({ token: token() })
    await describeAt(at, repository)
    github.faults.add({ ...fault, times: 99, match: { host: 'web' } })
    github.log.clear()
    for (const ref of ['side', 'v1']) expect(await look(repository, ref, at)).toEqual(ok(commit))
    expect(await look(repository, 'none', at)).toEqual(MISSING)
    const name = repository.name
    expect(asked()).toEqual([
      `/repos/acme/${name}/commits/heads%2Fside 200`,
      `/repos/acme/${name}/commits/heads%2Fv1 422`,
      `/repos/acme/${name}/commits/tags%2Fv1 200`,
      `/repos/acme/${name}/commits/heads%2Fnone 422`,
      `/repos/acme/${name}/commits/tags%2Fnone 422`,
    ])
  })

  test('is silent to git is unavailable as soon as the patience of a visitor ends', async () => {
    const repository = await create()
    await repository.tag('v1', await repository.commit({ a: 'a' }))
    const described = await describeAt(host, repository)
    github.faults.add({ stall: true, times: 9, match: { host: 'web' } })
    const impatient = await open({ timeouts: { patienceMs: IMPATIENT_MS } })
    expect(await impatient.resolve(described, 'v1')).toEqual({ status: 'unavailable', retryAfterSeconds: 1 })
  })

  test('sends from one place to the next is followed once', async () => {
    const repository = await create()
    github.faults.add({ times: 9, match: { host: 'api' }, redirect: `${github.origins.api}/repositories/1` })
    expect(await host.repository('acme', repository.name)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(github.log.rest).toHaveLength(2)
  })

  test('fails once at once is asked again', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    github.faults.add({ reset: true })
    expect(await look(repository)).toEqual(ok(commit))
  })

  test.each([
    ['is silent', { delaySeconds: 30 }],
    ['stalls in the middle', { stall: true }],
  ] as const)('%s is unavailable as soon as the patience of a visitor ends', async (_, fault) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const described = await describeAt(host, repository)
    github.faults.add({ ...fault, times: 9, match: { host: 'api' } })
    const impatient = await open({ timeouts: { patienceMs: IMPATIENT_MS } })
    expect(await impatient.resolve(described, null)).toEqual({ status: 'unavailable', retryAfterSeconds: 1 })
  })

  test('is down does not hide what was public minutes ago; ten minutes later it does', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    expect(await look(repository)).toEqual(ok(commit))
    github.faults.add({ reset: true, times: 1_000, match: { host: 'api' } })
    for (let minute = 1; minute < 10; minute++) {
      github.clock.advance(60)
      expect(await look(repository)).toEqual(ok(commit))
    }
    github.clock.advance(120)
    expect(await look(repository)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
  })
})

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { PATIENT } from '#test/support/patient.ts'
import { until } from '#test/support/until.ts'
import { describeAt, readSelected } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, create, open } = scene
let host: GitHost
/** Asks again as often as usual, and at once. */
const AT_ONCE = { ...PATIENT, readRetries: { withinMs: 60_000, delaysMs: [1, 1, 1] } }

beforeEach(async () => {
  await scene.begin()
  host = await open({ timeouts: AT_ONCE })
  github.limits.set('anonymous', 1_000_000)
})
afterEach(scene.end)
afterAll(scene.close)

const PLAIN = { 'content-type': 'text/plain' }
const RESULT = { 'content-type': 'application/x-git-upload-pack-result' }
const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

/** Reads the one text of a new repository after `befall`. */
async function read(befall: () => void, at = host): Promise<string | null> {
  const repository = await create()
  const commit = await repository.commit({ 'SKILL.md': 'skill' })
  await describeAt(at, repository)
  befall()
  github.log.clear()
  const { blobs } = await readSelected(at, repository, commit)
  const bytes = blobs[0]?.bytes
  return bytes ? Buffer.from(bytes).toString() : null
}

const asked = () => github.log.all.filter(({ host }) => host === 'web').length

describe('a job that reads while git', () => {
  test.each([
    ['fails', { status: 500, headers: PLAIN, body: 'error: 500' }],
    ['is hidden behind a page of a proxy', { html: true, status: 502 }],
    ['is away for a moment', { status: 503, headers: PLAIN, body: 'Service unavailable' }],
    ['reports an error within its result', { headers: RESULT, body: packet('ERR upload-pack: internal server error\n') }],
    ['breaks off', { cutAfterBytes: 40 }],
    ['resets', { reset: true }],
  ] as const)('%s twice in a row is asked again', async (_, fault) => {
    expect(await read(() => github.faults.add({ ...fault, times: 2, match: { host: 'web' } }))).toBe('skill')
    expect(github.faults.pending).toEqual([])
    expect(asked()).toBe(3)
  })

  test.each([
    [503, 'Service unavailable'],
    [429, 'Too many requests'],
  ])('pauses by %i is asked again after the pause, and not before', async (status, body) => {
    const fault = { status, body, headers: { ...PLAIN, 'retry-after': '4' }, match: { host: 'web' } } as const
    let isFailing = false
    const reading = read(() => {
      github.faults.add(fault)
      isFailing = true
    })
    // The other requests of this process wait for the same pause, once the answer has arrived.
    await until(async () => isFailing && asked() > 0 && (await host.tip(await describeAt(host, await create()))).status !== 'ok')
    const before = asked()
    github.clock.advance(5)
    expect(await reading).toBe('skill')
    expect(asked()).toBe(before + 1)
  })

  test.each([
    ['does not find the repository', { status: 404, headers: PLAIN, body: 'Not Found' }],
    ['refuses', { status: 403, headers: PLAIN, body: 'Access to this repository has been disabled by GitHub staff.\n' }],
    ['does not have the commit', { headers: RESULT, body: packet(`ERR upload-pack: not our ref ${'0'.repeat(40)}\n`) }],
    [
      'asks for a pause that is longer than a job may wait',
      { status: 429, headers: { ...PLAIN, 'retry-after': '600' }, body: '' },
    ],
    ['limits requests without saying for how long', { status: 429, headers: PLAIN, body: 'Too many requests' }],
  ] as const)('%s is asked once', async (_, fault) => {
    const failed = read(() => github.faults.add({ ...fault, match: { host: 'web' } }))
    await expect(failed).rejects.toMatchObject({ code: 'index.fetch_failed' })
    expect(asked()).toBe(1)
  })

  test('fails for good ends as such a failure', async () => {
    const failed = read(() => github.faults.add({ status: 500, headers: PLAIN, body: '', times: 99, match: { host: 'web' } }))
    await expect(failed).rejects.toMatchObject({ code: 'index.fetch_failed' })
    expect(asked()).toBe(4)
  })
})

test('a job with a token that sees private repositories checks again whether the repository is public', async () => {
  const at = await open({ token: github.personalToken(github.user('reader'), ['repo']), timeouts: AT_ONCE })
  const fault = { status: 502, html: true, times: 2, match: { host: 'web' } } as const
  expect(await read(() => github.faults.add(fault), at)).toBe('skill')
})

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { describeAt, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, repositories, open, look } = scene
let warnings: string[]
let names = 0

beforeEach(async () => {
  await scene.begin()
  warnings = []
})
afterEach(scene.end)
afterAll(scene.close)

const reader = () => github.user('reader')
const openWith = (token: string | null): Promise<GitHost> => open({ token, onWarning: message => void warnings.push(message) })

/** A public repository of an account of its own. */
async function createIn() {
  const repository = await repositories.create(`paused-${names++}`, 'tools')
  return { repository, commit: await repository.commit({ a: 'a' }) }
}

const packetOf = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text

describe('git', () => {
  const plain = { 'content-type': 'text/plain' }
  const gitRequests = () => github.log.git.length

  test.each([
    ['429', { status: 429, body: 'Too many requests\n', headers: { ...plain, 'retry-after': '20' } }, 20],
    ['429 without seconds', { status: 429, body: 'Too many requests\n', headers: plain }, 60],
    ['403', { status: 403, body: 'Forbidden\n', headers: { ...plain, 'retry-after': '40' } }, 40],
    ['403 of a page', { status: 403, html: true as const, headers: { 'retry-after': '40' } }, 40],
    ['503', { status: 503, body: '', headers: { 'retry-after': '30' } }, 30],
    ['503 that lasts a quarter of an hour', { status: 503, body: '', headers: { 'retry-after': '900' } }, 900],
    ['429 that lasts a day, of which an hour counts', { status: 429, body: '', headers: { 'retry-after': '86400' } }, 3_600],
    [
      'an error in a 200',
      {
        body: packetOf('ERR GitHub is temporarily limiting some unauthenticated downloads. Please retry later'),
        headers: { 'content-type': 'application/x-git-upload-pack-result' },
      },
      60,
    ],
  ])('is asked nothing, for any repository, until the seconds of %s are over', async (_, fault, seconds) => {
    const [first, second] = [await createIn(), await createIn()]
    const at = await openWith(null)
    const described = await describeAt(at, second.repository)
    github.faults.add({ ...fault, match: { host: 'web' } })
    await look(first.repository, null, at)
    const before = gitRequests()
    expect(await at.resolve(described, 'v1')).toMatchObject({ status: expect.stringMatching(/missing|limited|unavailable/) })
    github.clock.advance(seconds - 2)
    await at.resolve(described, 'v2')
    expect(gitRequests()).toBe(before)
    github.clock.advance(3)
    await at.resolve(described, 'v3')
    expect(gitRequests()).toBe(before + 1)
  })

  test('is not asked without the token either if the limit or the outage concerns both, and cached answers are still served', async () => {
    const { repository, commit } = await createIn()
    await repository.tag('v1', commit)
    for (const status of [429, 403, 503]) {
      const at = await openWith(github.personalToken(reader(), []))
      const described = await describeAt(at, repository)
      expect(await at.resolve(described, 'v1')).toEqual(ok(commit))
      github.faults.add({ status, body: '', headers: { ...plain, 'retry-after': '600' }, match: { host: 'web' } })
      github.clock.advance(61)
      const kind = status === 503 ? 'unavailable' : 'rate_limited'
      expect(await at.refs?.(described)).toEqual({ status: kind, retryAfterSeconds: 600 })
      const before = gitRequests()
      github.clock.advance(100)
      expect(await at.refs?.(described)).toEqual({ status: kind, retryAfterSeconds: 500 })
      expect(await at.resolve(described, 'v1')).toEqual(ok(commit))
      expect(gitRequests()).toBe(before)
      expect(warnings).toEqual([])
    }
  })

  test('limits a credential alone, and is out for all', async () => {
    const { repository } = await createIn()
    const at = await openWith(github.personalToken(reader(), ['repo']))
    const described = await describeAt(at, repository)
    const asks = async (question: () => Promise<unknown>) => {
      const before = gitRequests()
      await question()
      return gitRequests() - before
    }
    // A repository is looked for without a token that sees private ones; its refs are listed with it.
    const [look, list] = [
      () => Promise.resolve(at.repository('acme', `none-${names++}`)),
      () => Promise.resolve(at.refs?.(described)),
    ]
    github.faults.add({ status: 429, body: '', headers: { ...plain, 'retry-after': '60' }, match: { host: 'web' } })
    expect([await asks(look), await asks(look), await asks(list)]).toEqual([1, 0, 1])
    github.clock.advance(61)
    github.faults.add({ status: 503, body: '', headers: { ...plain, 'retry-after': '60' }, match: { host: 'web' } })
    expect([await asks(look), await asks(look), await asks(list)]).toEqual([1, 0, 0])
  })

  test('pauses grow while limits without seconds follow each other', async () => {
    const { repository } = await createIn()
    const at = await openWith(null)
    const described = await describeAt(at, repository)
    github.faults.add({ status: 429, body: 'Too many requests\n', headers: plain, times: 99, match: { host: 'web' } })
    const asks: number[] = []
    for (let minute = 0; minute < 16; minute++) {
      const before = gitRequests()
      await at.resolve(described, `v${minute}`)
      if (gitRequests() > before) asks.push(minute)
      github.clock.advance(61)
    }
    expect(asks).toEqual([0, 1, 3, 7, 15])
  })
})

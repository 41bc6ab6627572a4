import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ReadError } from '#core/ports/git-host.ts'
import type { CredentialHandover } from '#infra/github/credential.ts'
import { collect, describeAt, LIMITS, MISSING, ok, readAt } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, repositories, create, open, look } = scene
let warnings: string[]

beforeEach(async () => {
  await scene.begin()
  warnings = []
})
afterEach(scene.end)
afterAll(scene.close)

const UNKNOWN_TOKEN = 'ghp_notatokenthatanybodyeverissued000000'
const onWarning = (message: string) => void warnings.push(message)
const openWith = (token: string, parent: CredentialHandover | null = null) => open({ token, onWarning, parent })
const validToken = () => github.personalToken(github.user('reader'), [])
const withToken = () => github.log.all.filter(({ credential }) => credential !== 'anonymous').length
const packetOf = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text

/** What an organisation answers to tokens, to the API and to git. */
const REFUSAL = { api: '`abuse-x` forbids access via a personal access token.', git: 'abuse-x forbids personal access tokens.' }

test('the name of an organisation that refuses tokens is no rate limit: other repositories keep the token', async () => {
  github.organization('abuse-x', { refusesTokens: REFUSAL })
  const refusing = await repositories.create('abuse-x', 'tools')
  const commit = await refusing.commit({ a: 'a' })
  const other = await create()
  const otherCommit = await other.commit({ a: 'a' })
  const at = await openWith(validToken())
  expect(await look(refusing, null, at)).toEqual(ok(commit))
  github.log.clear()
  expect(await look(other, null, at)).toEqual(ok(otherCommit))
  expect(new Set(github.log.all.map(({ credential }) => credential))).toEqual(new Set(['personal']))
})

test('the refusal of a repository that is hidden from everybody does not keep the token from other repositories of the account', async () => {
  const organization = github.organization('mixed')
  const [hidden, shown] = [await repositories.create('mixed', 'hidden'), await repositories.create('mixed', 'shown')]
  const commit = await shown.commit({ a: 'a' })
  await scene.shownAs(hidden, { visibility: 'private' })
  const at = await openWith(validToken())
  expect(await look(shown, null, at)).toEqual(ok(commit))
  organization.refusesTokens = REFUSAL
  expect(await look(hidden, null, at)).toEqual(MISSING)
  organization.refusesTokens = null
  github.clock.advance(61)
  github.log.clear()
  expect(await look(shown, null, at)).toEqual(ok(commit))
  expect(new Set(github.log.all.map(({ credential }) => credential))).toEqual(new Set(['personal']))
  expect(warnings).toEqual([])
})

test('an unknown token is sent once, for any number of requests at the start', async () => {
  const asked = await Promise.all(Array.from({ length: 12 }, () => create()))
  for (const repository of asked) await repository.commit({ a: 'a' })
  const at = await openWith(UNKNOWN_TOKEN)
  github.faults.add({ delaySeconds: 0.2 })
  const answers = await Promise.all(asked.map(repository => look(repository, null, at)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['ok']))
  expect(withToken()).toBe(1)
})

test('a child process does not try a refused token, neither one refused before its start nor one refused by itself', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const informed = await openWith(UNKNOWN_TOKEN, { pausedUntil: github.clock.now() + 60_000, validAt: null })
  expect(await look(repository, null, informed)).toEqual(ok(commit))
  expect(withToken()).toBe(0)
  const late = await openWith(UNKNOWN_TOKEN, { pausedUntil: github.clock.now() - 60_000, validAt: null })
  expect(await look(repository, null, late)).toEqual(ok(commit))
  expect(withToken()).toBe(0)
  const uninformed = await openWith(UNKNOWN_TOKEN, { pausedUntil: null, validAt: null })
  for (let minute = 0; minute < 30; minute++) {
    expect(await look(repository, null, uninformed)).toEqual(ok(commit))
    github.clock.advance(61)
  }
  expect(withToken()).toBe(1)
})

test('a child process uses a token again after its parent saw that the host accepts it', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const token = validToken()
  const parent = await openWith(token)
  const child = await openWith(token, parent.credentialHandover())
  github.faults.add({ status: 401, body: '{"message":"Bad credentials"}', match: { host: 'api' } })
  expect(await look(repository, null, child)).toEqual(ok(commit))
  github.clock.advance(61)
  const sent = withToken()
  child.followCredential(parent.credentialHandover())
  expect(await look(repository, null, child)).toEqual(ok(commit))
  expect(withToken()).toBe(sent)
  expect(await look(repository, null, parent)).toEqual(ok(commit))
  github.clock.advance(61)
  child.followCredential(parent.credentialHandover())
  github.log.clear()
  expect(await look(repository, null, child)).toEqual(ok(commit))
  expect(withToken()).toBeGreaterThan(0)
})

test('a child process is informed of a refusal that came after its start', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const child = await openWith(UNKNOWN_TOKEN, { pausedUntil: null, validAt: null })
  child.followCredential({ pausedUntil: github.clock.now() + 60_000, validAt: null })
  expect(await look(repository, null, child)).toEqual(ok(commit))
  expect(withToken()).toBe(0)
})

test('while the token is paused, the reported quota is the anonymous one', async () => {
  const repository = await create()
  await repository.commit({ a: 'a' })
  const at = await openWith(UNKNOWN_TOKEN)
  await look(repository, null, at)
  expect(at.quota?.()?.limit).toBe(60)
})

describe('a reader that is open', () => {
  const large = 'x'.repeat(200_000)

  /** Opens the only commit, without fetching any blob. */
  async function openReader(at: Awaited<ReturnType<typeof open>>) {
    const repository = await repositories.create('strict', 'tools')
    const commit = await repository.commit({ a: large })
    const nothing = { usesOf: (lines: readonly unknown[]) => lines.map(() => 'nothing' as const), maxBytes: 0 }
    const reader = await at.open(await describeAt(at, repository), commit, LIMITS, nothing)
    const [file] = await collect(reader.entries())
    const read = async () => (await collect(reader.read([file?.oid ?? ''], 1_000_000)))[0]?.bytes?.length
    return { reader, read }
  }

  test('fetches blobs without the token after the account refused it', async () => {
    const organization = github.organization('strict')
    const at = await openWith(validToken())
    const { reader, read } = await openReader(at)
    organization.refusesTokens = REFUSAL
    expect(await read()).toBe(large.length)
    await reader.close()
  })

  test('fetches nothing during a pause of git, and fails as unavailable', async () => {
    github.organization('strict')
    const other = await create()
    await other.commit({ a: 'a' })
    const at = await open({ onWarning })
    const { reader, read } = await openReader(at)
    const described = await describeAt(at, other)
    const headers = { 'content-type': 'application/x-git-upload-pack-result' }
    github.faults.add({ body: packetOf('ERR GitHub is temporarily limiting some downloads'), headers, match: { host: 'web' } })
    await at.resolve(described, 'v1')
    const requests = github.log.git.length
    await expect(read()).rejects.toMatchObject({ name: 'ReadError', code: 'index.fetch_failed' })
    expect(github.log.git).toHaveLength(requests)
    await reader.close()
  })
})

test('a repository that is opened during a pause of git cannot be read now, and is not asked for its new name', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const at = await open({ onWarning })
  const described = await describeAt(at, repository)
  const fault = {
    status: 429,
    body: 'Too many requests',
    headers: { 'content-type': 'text/plain' },
    match: { host: 'web' as const },
  }
  github.faults.add(fault)
  await at.resolve(described, 'v1')
  github.log.clear()
  await expect(readAt(at, repository, commit, async () => {})).rejects.toThrow(ReadError)
  expect(github.log.all).toEqual([])
})

test('an outage of one repository without Retry-After blocks no other repository', async () => {
  const [ill, well] = [await create(), await create()]
  for (const repository of [ill, well]) await repository.commit({ a: 'a' })
  const at = await open({ onWarning })
  const described = [await describeAt(at, ill), await describeAt(at, well)] as const
  github.faults.add({
    status: 503,
    headers: { 'retry-after': '0' },
    times: 9,
    match: { host: 'web', path: new RegExp(`${ill.name}[./]`) },
  })
  for (let time = 0; time < 3; time++) {
    await at.resolve(described[0], `v${time}`)
    github.log.clear()
    expect(await at.resolve(described[1], `v${time}`)).toEqual(MISSING)
    expect(github.log.git).toHaveLength(1)
    github.clock.advance(61)
  }
})

test('while the API is limited, a fine-grained token does not prove that a repository is still public', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const at = await openWith(github.fineGrainedToken(github.user('acme'), 'private'))
  await at.describeCredential?.()
  expect(await look(repository, null, at)).toEqual(ok(commit))
  await scene.shownAs(repository, { visibility: 'private' })
  const limit = { status: 403, body: '{"message":"API rate limit exceeded"}', headers: { 'x-ratelimit-remaining': '0' } }
  github.faults.add({ ...limit, times: 999, match: { host: 'api' } })
  for (let second = 0; second < 12; second++) {
    github.clock.advance(5)
    await look(repository, null, at)
  }
  expect(await look(repository, null, at)).toMatchObject({ status: expect.stringMatching(/missing|gone|limited/) })
})

test('a warning about an answer of the host quotes no secret of a URL and no control character', async () => {
  const api = 'Single sign-on: https://github.com/orgs/x/sso?authorization_request=SECRET\u001b[31m red'
  github.organization('signed', { refusesTokens: { api, git: 'no' } })
  const repository = await repositories.create('signed', 'tools')
  await repository.commit({ a: 'a' })
  await look(repository, null, await openWith(validToken()))
  expect(warnings.join()).toContain('https://github.com/orgs/x/sso')
  expect(warnings.join()).not.toMatch(/SECRET|\p{Cc}/u)
})

test('visitors of many accounts cause a bounded number of warnings', async () => {
  const at = await openWith(validToken())
  for (let index = 0; index < 40; index++) {
    github.organization(`strict-${index}`, { refusesTokens: REFUSAL })
    const repository = await repositories.create(`strict-${index}`, 'tools')
    await repository.commit({ a: 'a' })
    await look(repository, null, at)
  }
  expect(warnings).toHaveLength(32)
  expect(warnings[31]).toContain('further accounts are left out')
})

test('with a token that sees private repositories, a repository that became private after its look-up is not read', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const at = await open({ token: github.personalToken(github.user(repository.owner)), onWarning })
  const described = await describeAt(at, repository)
  const pushed = await repository.commit({ secret: 'pushed afterwards' })
  await scene.shownAs(repository, { visibility: 'private' })
  for (const one of [commit, pushed]) {
    const reading = at.open(described, one, LIMITS)
    await expect(reading).rejects.toThrow(ReadError)
    await expect(reading).rejects.toMatchObject({ code: 'index.fetch_failed' })
  }
  await scene.shownAs(repository, { visibility: 'public' })
  github.clock.advance(61)
  expect(await readAt(at, repository, pushed, reader => collect(reader.entries()))).toMatchObject([
    { path: 'a' },
    { path: 'secret' },
  ])
})

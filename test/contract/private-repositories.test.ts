import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository, RepositoryReader } from '#core/ports/git-host.ts'
import { createGivenTokens } from '#infra/github/app-tokens.ts'
import { type GitHubHost, openGitHubHost } from '#infra/github/host.ts'
import { PATIENT } from '#test/support/patient.ts'
import { openGitHubScene } from './fake-github-scene.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

const scene = await openGitHubScene()
const { github, acme, ada, secret, app, installation, tokens } = scene
const LIMITS = { treeEntries: 1000, treeDepthSegments: 20, seconds: 120 }
const closed: HostRepository = {
  id: `gh-${secret.id}`,
  host: 'gh',
  owner: 'acme',
  name: 'closed',
  defaultBranch: 'main',
  description: null,
  avatar: null,
  visibility: 'private',
}
const NOT_ON_LIST = '{"message":"The `acme` organization has an IP allow list enabled"}'
let host: GitHubHost

beforeEach(async () => {
  // Only `advance` moves it: how long a test takes decides nothing.
  github.clock.stopAt(Date.now())
  // The operator's token would see the repository: it must not be used.
  host = await openGitHubHostAt(github, { app: { ...app, id: String(app.id) }, token: tokens.ada })
  await host.describeCredential()
  github.log.clear()
})
afterEach(async () => {
  installation.suspendedAt = null
  installation.repositories.add(secret)
  await host.close()
  scene.check()
})
afterAll(scene.close)

const credentials = () => new Set(github.log.all.map(({ credential }) => credential))
const made = () => github.log.rest.filter(({ path, status }) => path.endsWith('/access_tokens') && status === 201).length

async function contentsOf(reader: RepositoryReader): Promise<string[]> {
  const texts: string[] = []
  for await (const { path, oid } of reader.entries()) {
    for await (const { bytes } of reader.read([oid], 1000)) texts.push(`${path}: ${Buffer.from(bytes ?? []).toString()}`)
  }
  await reader.close()
  return texts
}

async function tip(): Promise<CommitSha> {
  const answer = await host.resolve(closed, null)
  if (answer.status !== 'ok') throw new Error(answer.status)
  return answer.value
}

test('a private repository is resolved and read with a token for it alone, by the API and by git', async () => {
  github.log.clear()
  const commit = await tip()
  expect(await host.resolve(closed, 'main')).toEqual({ status: 'ok', value: commit })
  expect(await host.resolve(closed, commit)).toEqual({ status: 'ok', value: commit })
  expect(await host.resolve(closed, 'nothing')).toEqual({ status: 'missing' })
  expect(await host.tip(closed)).toEqual({ status: 'ok', value: commit })
  const reader = await host.open(closed, commit, LIMITS)
  expect(await contentsOf(reader)).toEqual(['secret.md: secret'])
  expect(credentials()).toEqual(new Set(['app', 'installation']))
  expect(made()).toBe(1)
})

test('the token is asked for with the repository and the permission to read alone', async () => {
  await tip()
  const [token] = [...github.world.tokens.values()].filter(one => one.kind === 'installation').slice(-1)
  expect(token).toMatchObject({ repositories: new Set([secret]), permissions: { contents: 'read', metadata: 'read' } })
})

test('a token is used until ten minutes before its end, by many requests at once', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => host.resolve(closed, index % 2 === 0 ? null : `heads/b${index}`)))
  expect(made()).toBe(1)
  github.clock.advance(2900)
  await tip()
  expect(made()).toBe(1)
  github.clock.advance(120)
  await tip()
  expect(made()).toBe(2)
})

test('a token that the host refuses before its time is replaced once', async () => {
  await tip()
  for (const [value, { kind }] of github.world.tokens) if (kind === 'installation') github.world.tokens.delete(value)
  github.clock.advance(61)
  expect(await host.resolve(closed, null)).toMatchObject({ status: 'ok' })
  expect(await host.tip(closed)).toMatchObject({ status: 'ok' })
  expect(made()).toBe(2)
})

test('without an installation, or with a suspended one, the repository is missing, and no other credential is tried', async () => {
  installation.suspendedAt = '2026-01-01T00:00:00Z'
  expect(await host.resolve(closed, null)).toEqual({ status: 'gone' })
  await expect(host.open(closed, '0'.repeat(40) as CommitSha, LIMITS).then(contentsOf)).rejects.toMatchObject({
    code: 'index.fetch_failed',
  })
  installation.suspendedAt = null
  installation.repositories.delete(secret)
  github.clock.advance(61)
  expect(await host.resolve(closed, null)).toEqual({ status: 'gone' })
  expect(await host.tip(closed)).toMatchObject({ status: 'missing' })
  installation.repositories.add(secret)
  expect(credentials()).toEqual(new Set(['app']))
})

test('a suspended installation is noticed even by its earlier token', async () => {
  await tip()
  for (const [value, { kind }] of github.world.tokens) if (kind === 'installation') github.world.tokens.delete(value)
  installation.suspendedAt = '2026-01-01T00:00:00Z'
  github.clock.advance(61)
  expect(await host.resolve(closed, null)).toEqual({ status: 'gone' })
  installation.suspendedAt = null
})

test('an IP allow list that lacks this server makes the repository unavailable, not missing, with a warning without names', async () => {
  const warnings: string[] = []
  const at = await openGitHubHostAt(github, { app: { ...app, id: String(app.id) }, onWarning: text => warnings.push(text) })
  const commit = await tip()
  acme.refusesAddress = true
  expect(await at.resolve(closed, null)).toMatchObject({ status: 'unavailable' })
  expect(await at.resolve(closed, 'side')).toMatchObject({ status: 'unavailable' })
  expect(await at.tip(closed)).toMatchObject({ status: 'unavailable' })
  expect(await at.refs(closed)).toMatchObject({ status: 'unavailable' })
  await expect(at.open(closed, commit, LIMITS).then(contentsOf)).rejects.toMatchObject({ code: 'index.fetch_failed' })
  github.faults.add({ match: { path: '/repos/acme/closed/installation' }, status: 403, body: NOT_ON_LIST })
  host.applyChange({ repositories: [{ id: closed.id, fullName: 'acme/closed' }], accounts: [], refs: [] })
  expect(await host.resolve(closed, null)).toMatchObject({ status: 'unavailable' })
  expect(warnings).toEqual([expect.stringContaining('the IP allow list of an organization')])
  expect(warnings.join()).not.toMatch(/acme|closed/)
  acme.refusesAddress = false
  expect(await at.resolve(closed, null)).toEqual({ status: 'ok', value: commit })
  await at.close()
})

test('the clock of this machine may be wrong by minutes', async () => {
  github.clock.advance(1800)
  expect(await host.resolve(closed, null)).toMatchObject({ status: 'ok' })
})

test('a repository of the same name and another id is not read with the token of the former one', async () => {
  await tip()
  const [former, ...rest] = [...github.world.repositories].filter(one => one === secret)
  expect([former, rest]).toEqual([secret, []])
  const successor = { ...closed, id: 'gh-1' }
  expect(await host.resolve(successor, null)).toEqual({ status: 'gone' })
  await expect(host.open(successor, '0'.repeat(40) as CommitSha, LIMITS).then(contentsOf)).rejects.toMatchObject({
    code: 'index.fetch_failed',
  })
})

test('a change drops cached answers, and a push is reported for opened refs', async () => {
  await tip()
  github.log.clear()
  await tip()
  expect(github.log.rest).toEqual([])
  expect(host.applyChange({ repositories: [], accounts: [], refs: [{ id: closed.id, ref: 'refs/heads/main' }] })).toBe(true)
  await tip()
  expect(made()).toBe(0)
  host.applyChange({ repositories: [{ id: closed.id, fullName: 'acme/closed' }], accounts: [], refs: [] })
  await tip()
  expect(made()).toBe(1)
  host.applyChange({ repositories: [], accounts: ['ACME'], refs: [] })
  await tip()
  expect(made()).toBe(2)
})

test('a host that limits or fails makes no private repository disappear', async () => {
  github.faults.add({ match: { path: '/repos/acme/closed/installation' }, times: 2, status: 500 })
  expect(await host.resolve(closed, null)).toMatchObject({ status: 'unavailable' })
  github.faults.clear()
  github.faults.add({
    match: { path: `/app/installations/${installation.id}/access_tokens` },
    status: 429,
    headers: { 'retry-after': '9' },
  })
  expect(await host.resolve(closed, null)).toEqual({ status: 'rate_limited', retryAfterSeconds: 9 })
  github.faults.clear()
})

test.each([429, 403, 503])('git that asks for a pause with %i is not asked until its end', async status => {
  await tip()
  const asked = () => github.log.git.length
  github.log.clear()
  github.faults.add({ match: { host: 'web' }, status, body: '', headers: { 'retry-after': '600' } })
  const trouble = { status: status === 503 ? 'unavailable' : 'rate_limited' }
  expect(await host.tip(closed)).toEqual({ ...trouble, retryAfterSeconds: 600 })
  github.clock.advance(590)
  expect(await host.tip(closed)).toEqual({ ...trouble, retryAfterSeconds: 10 })
  expect(await host.resolve(closed, null)).toMatchObject({ status: 'ok' })
  expect(asked()).toBe(1)
  github.clock.advance(11)
  expect(await host.tip(closed)).toMatchObject({ status: 'ok' })
  expect(asked()).toBe(2)
})

test('a key of another App is the mistake of the operator', async () => {
  const warnings: string[] = []
  const other = await openGitHubHostAt(github, { app: { ...app, id: '1' }, onWarning: text => warnings.push(text) })
  expect(await other.resolve(closed, null)).toMatchObject({ status: 'unavailable' })
  expect(warnings).toEqual([expect.stringContaining('MOUNTGLASS_GITHUB_APP_ID')])
  await other.close()
})

test('a process without an App reads only repositories that it has a token for', async () => {
  const given = createGivenTokens()
  const { origins, clock } = github
  const child = await openGitHubHost({
    url: origins.web,
    apiUrl: origins.api,
    token: tokens.ada,
    webhookSecret: null,
    clock: { now: () => new Date(clock.now()) },
    onWarning: () => {},
    timeouts: PATIENT,
    tokens: given,
  })
  expect(child.people).toBeNull()
  const commit = await tip()
  const token = await host.tokens?.token(closed)
  github.log.clear()
  await expect(child.open(closed, commit, LIMITS).then(contentsOf)).rejects.toMatchObject({ code: 'index.fetch_failed' })
  expect(github.log.all).toEqual([])
  given.give(closed.id, token?.status === 'ok' ? token.value : null)
  expect(await contentsOf(await child.open(closed, commit, LIMITS))).toEqual(['secret.md: secret'])
  expect(credentials()).toEqual(new Set(['installation']))
  await child.close()
})

test('a deployment without an App reads no private repository, even if the token of the operator sees it', async () => {
  const without = await openGitHubHostAt(github, { token: github.personalToken(ada) })
  github.log.clear()
  expect(await without.resolve(closed, null)).toEqual({ status: 'gone' })
  expect(await without.tip(closed)).toEqual({ status: 'missing' })
  await expect(without.open(closed, '0'.repeat(40) as CommitSha, LIMITS)).rejects.toMatchObject({ code: 'index.fetch_failed' })
  expect(github.log.all).toEqual([])
  await without.close()
  expect(acme.login).toBe('acme')
})

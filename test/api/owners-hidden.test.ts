import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseRepositoryRule } from '#api/operator/repository-rule.ts'
import { hiddenKey, ownerListingKey } from '#core/snapshot/store-keys.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { FILES, ownerPages } from './support/owner-pages.ts'

let app: TestApp
const { ask, page, names, addMany, openAll, listed, described } = ownerPages(() => app)

beforeEach(async () => {
  app = await testApp(FILES, { github: { withToken: true } })
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

function requireRule(pattern: string) {
  const rule = parseRepositoryRule(pattern)
  if (rule === null) throw new Error(`${pattern} is no pattern`)
  return rule
}

const HIDDEN: [string, Partial<Repository>][] = [
  ['private', { visibility: 'private' }],
  ['internal', { visibility: 'internal' }],
  ['disabled', { disabled: true }],
  ['blocked by law', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } }],
  ['blocked by terms', { blocked: { reason: 'tos', createdAt: '2026-01-01T00:00:00Z' } }],
]

describe('a repository that the host does not show to everyone', () => {
  test.each(HIDDEN)('is on no page a minute after it was indexed, if it is %s, and returns with the host', async (_, changes) => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    expect((await names()).indexed).toEqual(['kit', 'tools'])
    const repository = await app.github.shown('acme', 'kit')
    const before = { ...repository }
    Object.assign(repository, changes)
    app.advanceClock(60)
    expect(await names()).toEqual({ indexed: ['tools'], others: ['later', 'plain'] })
    Object.assign(repository, before)
    app.advanceClock(60)
    expect((await names()).indexed).toEqual(['kit', 'tools'])
  })

  test('is on no page, although the credential could see it', async () => {
    const organization = app.github.organization('acme')
    for (const { login } of app.github.world.accounts) {
      const account = await app.github.world.account(login)
      if (account?.type === 'User') organization.members.set(account, 'admin')
    }
    for (const token of app.github.world.tokens.values()) if (token.kind === 'personal') token.scopes.push('repo')
    await app.github.shown('acme', 'kit', { visibility: 'private' })
    await app.github.shown('acme', 'later', { visibility: 'internal' })
    await app.github.shown('acme', 'plain', { disabled: true })
    expect(await names()).toEqual({ indexed: [], others: ['tools'] })
    expect((await page()).owner.publicRepositories).toBe(2)
  })

  test.each(['dmca', 'tos'] as const)('and is blocked (%s) is not listed, even if nobody requested it', async reason => {
    await app.github.shown('acme', 'kit', { blocked: { reason, createdAt: '2026-01-01T00:00:00Z' } })
    expect((await names()).others).toEqual(['later', 'plain', 'tools'])
  })

  test('and is blocked is checked about once an hour', async () => {
    await app.github.shown('acme', 'kit', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
    const askedKit = () => app.github.log.git.filter(({ path }) => path.startsWith('/acme/kit.git')).length
    await names()
    const once = askedKit()
    app.advanceClock(3_599)
    expect((await names()).others).toEqual(['later', 'plain', 'tools'])
    expect([once > 0, askedKit()]).toEqual([true, once])
    app.advanceClock(2)
    expect((await names()).others).toEqual(['later', 'plain', 'tools'])
    expect(askedKit()).toBe(2 * once)
    await app.github.shown('acme', 'kit', { blocked: null })
    app.advanceClock(3_601)
    expect((await names()).others).toEqual(['kit', 'later', 'plain', 'tools'])
  })

  test('and was blocked is listed again after a visitor saw it', async () => {
    await app.github.shown('acme', 'kit', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(404)
    expect((await names()).others).toEqual(['later', 'plain', 'tools'])
    await app.github.shown('acme', 'kit', { blocked: null })
    app.advanceClock(61)
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(200)
    expect((await names()).others).toEqual(['kit', 'later', 'plain', 'tools'])
  })

  test('is not listed either if this deployment refuses it, indexed or not', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/later')
    app.deps.deny = ['gh/acme/tools', 'gh/acme/k*'].map(pattern => requireRule(pattern))
    expect(await names()).toEqual({ indexed: ['later'], others: ['plain'] })
    app.deps.deny = []
    app.deps.allow = [requireRule('gh/acme/plain')]
    expect(await names()).toEqual({ indexed: [], others: ['plain'] })
  })

  test('disappears with the repository', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.remove(await app.github.shown('acme', 'kit'))
    app.advanceClock(60)
    expect(await names()).toEqual({ indexed: [], others: ['later', 'plain', 'tools'] })
  })
})

describe('the listing of a repository that the host hides', () => {
  const HOUR = 3_600
  const hide = async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    await app.github.shown('acme', 'kit', { visibility: 'private' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['tools'])
  }

  test('is removed after two days, and the snapshots are marked as hidden', async () => {
    await hide()
    const since = app.deps.clock.now().toISOString().slice(0, 16)
    expect((await listed()).map(({ name, hiddenSince }) => [name, hiddenSince?.slice(0, 16)])).toEqual([
      ['kit', since],
      ['tools', undefined],
    ])
    const { id } = await app.github.shown('acme', 'kit')
    await app.deps.hidden.written()
    const key = hiddenKey({ id: `gh-${id}`, visibility: 'public' })
    expect((await app.states.read(key))?.value).toEqual({ since: expect.stringContaining(since) })

    app.advanceClock(47 * HOUR)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await listed()).length).toBe(2)
    app.advanceClock(HOUR)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await listed()).map(({ name }) => name)).toEqual(['tools'])
  })

  test('is unchanged when the host shows the repository again, and returns with the next visit after a removal', async () => {
    await hide()
    await app.github.shown('acme', 'kit', { visibility: 'public' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['kit', 'tools'])
    expect((await listed()).map(({ hiddenSince }) => hiddenSince)).toEqual([undefined, undefined])

    await hide()
    app.advanceClock(49 * HOUR)
    await names()
    await app.github.shown('acme', 'kit', { visibility: 'public' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(200)
    expect((await names()).indexed).toEqual(['kit', 'tools'])
  })

  test('stays unchanged while the host is down, and does not block the page', async () => {
    await openAll('/gh/acme/tools')
    const before = await listed()
    app.advanceClock(700)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: /^\/repos\// } })
    expect((await ask()).status).toBe(503)
    expect(await listed()).toEqual(before)
    app.github.faults.clear()
    app.advanceClock(5)

    await hide()
    app.advanceClock(60 * HOUR)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: '/repos/acme/kit' } })
    app.github.faults.add({ status: 500, times: 9, match: { host: 'web', path: /^\/acme\/kit/ } })
    expect(await names()).toEqual({ indexed: ['tools'], others: ['later', 'plain'] })
    expect((await listed()).length).toBe(2)
  })

  test('is removed at once when the name belongs to another repository, or the repository to another owner', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    const { gitDir } = await app.github.shown('acme', 'plain')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'old-kit' })
    app.github.repository({ owner: 'acme', name: 'kit', gitDir })
    app.github.world.rename(await app.github.shown('acme', 'tools'), { owner: app.github.organization('other') })
    app.advanceClock(301)
    expect((await names()).indexed).toEqual([])
    expect(await listed()).toEqual([])
  })

  test('takes no place of shown repositories, and causes no more requests than there are cards', async () => {
    await addMany(150)
    for (let number = 1; number <= 150; number++) {
      const { id, ownerId = '' } = await described(`many-${number}`)
      await app.states.create(ownerListingKey(ownerId, id), {
        repositoryId: id,
        name: `many-${number}`,
        commit: app.commitOf('acme/plain'),
        license: { kind: 'none', name: null, source: null },
        counts: { skills: number, documents: 0 },
        skillNames: [],
      })
    }
    for (let number = 101; number <= 150; number++) await app.github.shown('acme', `many-${number}`, { visibility: 'private' })
    app.advanceClock(61)
    const numbersOf = (found: string[]) => found.map(name => Number(name.slice('many-'.length)))
    expect(numbersOf((await names()).indexed)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index))
    app.advanceClock(61)
    app.github.log.clear()
    expect((await names()).indexed.length).toBe(100)
    const questions = app.github.log.lines.filter(line => line.startsWith('GET /repos/'))
    expect(questions.length).toBe(100)
    // The most skills of all come first again when they come back.
    for (let number = 101; number <= 150; number++) await app.github.shown('acme', `many-${number}`, { visibility: 'public' })
    await app.github.shown('acme', 'many-100', { visibility: 'private' })
    app.advanceClock(61)
    expect(numbersOf((await names()).indexed)[0]).toBe(150)
  })
})

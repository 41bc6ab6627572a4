import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import type { AccountOptions } from '#test/support/fake-github/world.ts'
import { describeAt, listAt, MISSING, ok } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, repositories, create, open, look, asked } = scene
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

/** A public repository of an organisation of its own. */
async function createIn(options: Partial<AccountOptions>) {
  const login = `strict-${names++}`
  const organization = github.organization(login, options)
  const repository = await repositories.create(login, 'tools')
  const commit = await repository.commit({ a: 'a' })
  return { organization, repository, commit }
}

const credentials = () => github.log.rest.map(({ credential }) => credential)

/** What organisations answer to tokens at repositories that everybody can read. */
const REFUSALS: readonly [string, { api: string; git: string }][] = [
  [
    'the lifetime of fine-grained tokens (NixOS/org#247)',
    {
      api: "The 'strict' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 90 days. Please adjust your token's lifetime at the following URL: https://github.com/settings/personal-access-tokens/1",
      git: 'Write access to repository not granted.',
    },
  ],
  [
    'classic tokens (composer/composer#12711)',
    {
      api: '`strict` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a personal access token with fine-grained permissions.',
      git: 'Personal access tokens (classic) are forbidden from accessing this repository.',
    },
  ],
  [
    'addresses that are not on its list (xaf/omni#670)',
    {
      api: 'Although you appear to have the correct authorization credentials, the `strict` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
      git: 'Access denied by the IP allow list.',
    },
  ],
]

describe('an organisation that refuses', () => {
  test.each(REFUSALS)(
    '%s: its public repositories are read without the token, and the operator is warned once',
    async (_, refusesTokens) => {
      const { repository, commit } = await createIn({ refusesTokens })
      const token = github.personalToken(reader(), [])
      const at = await openWith(token)
      for (let minute = 0; minute < 3; minute++) {
        expect(await look(repository, null, at)).toEqual(ok(commit))
        expect(await look(repository, 'main', at)).toEqual(ok(commit))
        github.clock.advance(61)
      }
      const described = await describeAt(at, repository)
      expect((await listAt(at, repository, commit)).entries).toMatchObject([{ path: 'a' }])
      expect(await at.resolve(described, commit)).toEqual(ok(commit))
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain(repository.owner)
      expect(warnings[0]).toContain(refusesTokens.api.slice(0, 60))
      expect(warnings[0]).not.toContain(token)
      expect(credentials().filter(kind => kind === 'personal')).toHaveLength(1)
    },
  )

  test('tokens without single sign-on: so are those of a member', async () => {
    const member = github.user('unsigned')
    const { repository, commit } = await createIn({ members: new Map([[member, 'member']]), saml: { authorized: new Set() } })
    const at = await openWith(github.personalToken(member))
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(warnings).toHaveLength(1)
  })

  test('tokens: a private repository stays missing, and so does one that does not exist', async () => {
    const { repository, organization } = await createIn({
      members: new Map([[reader(), 'admin']]),
      refusesTokens: REFUSALS[0]?.[1] ?? null,
    })
    await scene.shownAs(repository, { visibility: 'private' })
    const at = await openWith(github.personalToken(reader()))
    expect(await look(repository, null, at)).toEqual(MISSING)
    expect(await at.repository(organization.login, 'none')).toEqual(MISSING)
  })

  test('tokens does not keep the token from other accounts, and is tried with it again after ten minutes', async () => {
    const { repository, organization, commit } = await createIn({ refusesTokens: REFUSALS[0]?.[1] ?? null })
    const other = await create()
    const otherCommit = await other.commit({ a: 'a' })
    const at = await openWith(github.personalToken(reader(), []))
    expect(await look(repository, null, at)).toEqual(ok(commit))
    github.log.clear()
    expect(await look(other, null, at)).toEqual(ok(otherCommit))
    expect(new Set(credentials())).toEqual(new Set(['personal']))
    organization.refusesTokens = null
    github.clock.advance(601)
    github.log.clear()
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(new Set(credentials())).toEqual(new Set(['personal']))
  })

  test('addresses, for a private repository that the token sees: it stays missing, and the log names no account', async () => {
    const { repository, organization } = await createIn({ members: new Map([[reader(), 'admin']]), refusesAddress: true })
    await scene.shownAs(repository, { visibility: 'private' })
    const at = await openWith(github.personalToken(reader()))
    expect(await at.repository(organization.login, 'tools')).toEqual(MISSING)
    expect(warnings.join()).not.toContain(organization.login)
  })

  test('everybody is unavailable rather than missing', async () => {
    const { repository } = await createIn({})
    const refusal = { status: 403, body: '{"message":"Something new that nobody has heard of"}' }
    github.faults.add({ ...refusal, times: 99, match: { host: 'api' } })
    const at = await openWith(github.personalToken(reader(), []))
    for (let time = 0; time < 3; time++) expect(await look(repository, null, at)).toMatchObject({ status: 'unavailable' })
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`${repository.owner}, also without a token.*Something new`))])
  })
})

describe('a token that', () => {
  test('is unknown is not used for a minute, then tried by one question, with growing pauses', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const secret = 'ghp_notatokenthatanybodyeverissued000000'
    const at = await openWith(secret)
    const tried = () => github.log.all.filter(({ credential }) => credential === 'invalid').length
    const attempts: number[] = []
    for (let minute = 0; minute < 20; minute++) {
      expect(await look(repository, null, at)).toEqual(ok(commit))
      attempts.push(tried())
      github.clock.advance(61)
    }
    expect(attempts.filter((count, index) => count !== attempts[index - 1])).toEqual([1, 2, 3, 4, 5])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('MOUNTGLASS_GITHUB_TOKEN')
    expect(warnings[0]).not.toContain(secret)
  })

  test('is unknown stays unused if the attempt after a pause gets no answer', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const at = await openWith('ghp_notatokenthatanybodyeverissued000000')
    const tried = () => github.log.all.filter(({ credential }) => credential === 'invalid').length
    expect(await look(repository, null, at)).toEqual(ok(commit))
    github.clock.advance(61)
    github.faults.add({ reset: true, times: 4 })
    await look(repository, null, at)
    const before = tried()
    for (let second = 0; second < 9; second++) {
      github.clock.advance(1)
      await look(repository, null, at)
      await at.repository('acme', `none-${second}`)
    }
    expect(tried()).toBe(before)
  })

  test('belongs to a suspended account is left aside until the account is back', async () => {
    const user = github.user('suspended', { suspended: true })
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const at = await openWith(github.personalToken(user, []))
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(warnings[0]).toContain('Your account was suspended')
    user.suspended = false
    github.clock.advance(61)
    github.log.clear()
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(credentials()[0]).toBe('personal')
  })

  test('is refused for a while after failed logins is left aside', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const message = 'Maximum number of login attempts exceeded. Please try again later.'
    github.faults.add({ status: 403, body: JSON.stringify({ message }), match: { host: 'api' } })
    const at = await openWith(github.personalToken(reader(), []))
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(credentials()).toEqual(['personal', 'anonymous', 'anonymous'])
    expect(warnings[0]).toContain('login attempts')
  })

  test('is fine-grained and sees public repositories only saves the anonymous question after its first one', async () => {
    const at = await openWith(github.fineGrainedToken(reader(), 'public'))
    expect(await at.describeCredential?.()).toContain('public repositories only')
    expect(asked()).toEqual(['/rate_limit 200', '/user/repos?visibility=private&per_page=1 200'])
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    github.log.clear()
    expect(await look(repository, null, at)).toEqual(ok(commit))
    expect(new Set(github.log.all.map(({ credential }) => credential))).toEqual(new Set(['personal']))
  })

  test('is fine-grained and sees a private repository does not: a repository that becomes private is hidden in time', async () => {
    const owner = github.user('acme')
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const at = await openWith(github.fineGrainedToken(owner, 'private'))
    expect(await at.describeCredential?.()).toContain('public repositories only')
    expect(await look(repository, null, at)).toEqual(ok(commit))
    // The listing of private repositories is 15 seconds old when the repository becomes private.
    github.clock.advance(15)
    await scene.shownAs(repository, { visibility: 'private' })
    for (let second = 0; second < 12; second++) {
      github.clock.advance(5)
      await look(repository, null, at)
    }
    expect(await look(repository, null, at)).toEqual(MISSING)
    expect(await at.describeCredential?.()).toContain('may see private repositories')
  })

  test.each([
    [[], 'public repositories only'],
    [['repo'], 'may see private repositories'],
  ])('has the scopes %j has that description', async (scopes, text) => {
    const at = await openWith(github.personalToken(reader(), scopes))
    expect(await at.describeCredential?.()).toContain(text)
  })
})

describe('a version of the API that', () => {
  test.each([
    [410, 'This API version is no longer supported.'],
    [400, 'Unsupported API version: 2026-03-10'],
  ])('GitHub answers with %i is unavailable, and the operator is warned once', async (status, message) => {
    const { repository } = await createIn({})
    github.faults.add({ status, body: JSON.stringify({ message }), times: 99, match: { host: 'api' } })
    const at = await openWith(null)
    for (let time = 0; time < 3; time++) expect(await look(repository, null, at)).toMatchObject({ status: 'unavailable' })
    expect(warnings).toEqual([expect.stringContaining(message)])
  })

  test.each(['Tue, 10 Mar 2028 00:00:00 GMT', '@1836259200'])(
    'GitHub will retire, deprecated %s, is reported once a day for each endpoint, with both dates',
    async deprecation => {
      const { repository, commit } = await createIn({})
      const headers = { deprecation, sunset: 'Wed, 10 Mar 2030 00:00:00 GMT' }
      const body = JSON.stringify({ message: 'Server Error' })
      const at = await openWith(null)
      expect(await look(repository, null, at)).toEqual(ok(commit))
      for (let hour = 0; hour < 30; hour++) {
        github.clock.advance(3_600)
        github.faults.add({ status: 404, headers, body, match: { host: 'api' } })
        await look(repository, null, at)
      }
      expect(warnings).toHaveLength(2)
      expect(warnings[0]).toMatch(/GET \/repos\/\{owner\}\/\{repo\} .* 10 Mar 2028 .* Wed, 10 Mar 2030/)
      github.faults.add({ status: 404, headers, body, match: { host: 'api' } })
      await at.accounts?.account('strict')
      expect(warnings[2]).toContain('GET /users/{username} ')
      expect(warnings.join()).not.toContain(repository.owner)
    },
  )
})

test('a comparison that GitHub refuses with 422 is not final: the history decides', async () => {
  const { repository, commit } = await createIn({})
  await repository.commit({ a: 'b' })
  const at = await openWith(null)
  const described = await describeAt(at, repository)
  github.faults.add({
    status: 422,
    body: '{"message":"Server Error: this diff is taking too long"}',
    match: { host: 'api', path: /compare/ },
  })
  expect(await at.resolve(described, commit)).toEqual(ok(commit))
})

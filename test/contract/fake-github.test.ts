import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { basic, openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, repository, acme, ada, bob, secret, installation, tokens, ask, askJson, statusOf, gitFailure } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('repositories', () => {
  test('a repository is described in full, in the spelling of the host, for any case of the address', async () => {
    const body = await askJson('/repos/ACME/tools')
    expect(body).toMatchObject({
      status: 200,
      full_name: 'acme/Tools',
      private: false,
      visibility: 'public',
      default_branch: 'main',
      description: 'What we use',
      stargazers_count: 7,
      fork: false,
      archived: false,
      owner: { login: 'acme', type: 'Organization', avatar_url: `${github.origins.avatars}/u/${acme.id}?v=4` },
      clone_url: `${github.origins.web}/acme/Tools.git`,
      url: `${github.origins.api}/repos/acme/Tools`,
    })
    expect(JSON.stringify(body)).not.toMatch(/octocat|api\.github\.com/)
  })

  test('asking for the head alone gives the same headers and no body', async () => {
    const [whole, head] = [await ask('/repos/acme/tools'), await ask('/repos/acme/tools', { method: 'HEAD' })]
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'))
  })

  test('a fork names its parent and its source', async () => {
    expect(await askJson('/repos/bob/tools')).toMatchObject({
      fork: true,
      parent: { full_name: 'acme/Tools' },
      source: { id: repository.id },
    })
  })

  test('a private repository is visible to those with access, and others get the answer for a missing one', async () => {
    const seen = async (name: string, token?: string) => statusOf(`/repos/acme/${name}`, token === undefined ? {} : { token })
    for (const name of ['closed', 'nothing']) {
      const body = await askJson(`/repos/acme/${name}`)
      expect(body).toMatchObject({ status: '404', message: 'Not Found' })
    }
    expect(await seen('closed', tokens.bob)).toBe(404)
    expect(await seen('closed', tokens.ada)).toBe(200)
    expect(await seen('closed', tokens.adaByApp)).toBe(200)
    expect(await seen('closed', tokens.installation)).toBe(200)
    expect(await seen('closed', github.personalToken(ada, []))).toBe(404)
    // The person sees it and the app does not reach it.
    expect(await seen('within', tokens.ada)).toBe(200)
    expect(await seen('within', tokens.adaByApp)).toBe(404)
    expect(await seen('within', tokens.installation)).toBe(404)
    expect(await seen('within')).toBe(404)
    expect(await askJson('/repos/acme/within', { token: tokens.ada })).toMatchObject({ visibility: 'internal', private: true })
  })

  test('a renamed repository redirects with 301 to its id, for those with access', async () => {
    const before = { owner: secret.owner, name: secret.name }
    github.world.rename(secret, { name: 'opened' })
    try {
      const url = `${github.origins.api}/repositories/${secret.id}`
      expect(await askJson('/repos/acme/closed', { token: tokens.ada })).toMatchObject({
        status: 301,
        message: 'Moved Permanently',
        url,
      })
      const deeper = await ask('/repos/acme/closed/commits/main?x=1', { token: tokens.ada })
      expect([deeper.status, deeper.headers.get('location')]).toEqual([301, `${url}/commits/main?x=1`])
      expect(await statusOf('/repos/acme/closed')).toBe(404)
      expect(await askJson(`/repositories/${secret.id}`, { token: tokens.ada })).toMatchObject({ full_name: 'acme/opened' })
      expect(await statusOf(`/repositories/${secret.id}`)).toBe(404)
    } finally {
      github.world.rename(secret, before)
    }
    expect(await statusOf('/repos/acme/opened', { token: tokens.ada })).toBe(301)
    github.world.rename(repository, { owner: bob, name: 'moved' })
    expect(await askJson('/repos/acme/tools')).toMatchObject({
      status: 301,
      url: `${github.origins.api}/repositories/${repository.id}`,
    })
    github.world.rename(repository, { owner: acme, name: 'Tools' })
    expect(await statusOf('/repos/acme/closed', { token: tokens.ada })).toBe(200)
  })

  test('a blocked repository is 451 for a takedown and 403 for the other reasons', async () => {
    const createdAt = '2024-01-01T00:00:00Z'
    try {
      for (const [reason, status] of [
        ['dmca', 451],
        ['tos', 403],
        ['unavailable', 403],
      ] as const) {
        repository.blocked = { reason, createdAt }
        const body = await askJson('/repos/acme/tools')
        expect(body).toMatchObject({ status, message: 'Repository access blocked', block: { reason, created_at: createdAt } })
        expect(await statusOf('/repos/acme/tools/commits/main')).toBe(status)
        expect(await gitFailure(['ls-remote', `${github.origins.web}/acme/tools`])).toContain(String(status))
      }
      const listed = await askJson('/users/acme/repos')
      expect(Object.values(listed)).toContainEqual(expect.objectContaining({ full_name: 'acme/Tools' }))
    } finally {
      repository.blocked = null
    }
  })

  test('an organisation with SAML refuses members until they sign in to it', async () => {
    acme.saml = { authorized: new Set() }
    try {
      const answer = await ask('/repos/acme/closed', { token: tokens.ada })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('x-github-sso')).toMatch(/^required; url=http.*\/orgs\/acme\/sso/)
      acme.saml.authorized.add(ada)
      expect(await statusOf('/repos/acme/closed', { token: tokens.ada })).toBe(200)
    } finally {
      acme.saml = null
    }
  })

  test('a suspended installation gets its own refusal', async () => {
    installation.suspendedAt = '2026-01-01T00:00:00Z'
    try {
      const message = 'This installation has been suspended'
      expect(await askJson('/repos/acme/closed', { token: tokens.installation })).toMatchObject({ message, status: '403' })
      expect(await askJson('/repos/acme/closed', { token: tokens.adaByApp })).toMatchObject({ message, status: '403' })
      const path = `/app/installations/${installation.id}/access_tokens`
      expect(await askJson(path, { token: tokens.jwt, method: 'POST' })).toMatchObject({ message, status: '403' })
      expect(await askJson(`/user/installations/${installation.id}/repositories`, { token: tokens.adaByApp })).toMatchObject({
        message,
      })
      expect((await askJson('/user/installations', { token: tokens.adaByApp })).installations).toMatchObject([
        { suspended_at: '2026-01-01T00:00:00Z' },
      ])
      expect(await gitFailure(['ls-remote', `${github.origins.web}/acme/closed`], basic(tokens.installation))).toContain('403')
    } finally {
      installation.suspendedAt = null
    }
  })
})

describe('accounts', () => {
  test('persons and organisations are asked for alike; only one has a bio and only the other a description', async () => {
    expect(await askJson('/users/ADA')).toMatchObject({ login: 'ada', type: 'User', name: 'Ada', bio: 'Writes' })
    expect(await askJson('/users/acme')).toMatchObject({ type: 'Organization', bio: null, public_repos: 2 })
    expect(await askJson('/orgs/acme')).toMatchObject({ login: 'acme', description: 'We make things' })
    expect(await askJson('/orgs/ada')).toMatchObject({ status: '404' })
    expect(await askJson('/users/nobody')).toMatchObject({ status: '404' })
    expect(await askJson(`/user/${ada.id}`)).toMatchObject({ login: 'ada' })
    expect(await askJson('/user', { token: tokens.adaByApp })).toMatchObject({ login: 'ada' })
    expect(await askJson('/user')).toMatchObject({ status: '401', message: 'Requires authentication' })
    expect(await askJson('/user', { token: tokens.installation })).toMatchObject({ status: '403' })
  })

  test('repositories of an account are paged with numeric links, public ones only', async () => {
    const names: string[] = []
    let next: string | undefined = '/users/acme/repos?type=owner&sort=pushed&direction=desc&per_page=1'
    for (let turn = 0; turn < 5 && next !== undefined; turn++) {
      const answer = await ask(next, { token: tokens.ada })
      const page = (await answer.json()) as { name: string }[]
      names.push(...page.map(({ name }) => name))
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
      if (turn === 0) expect(next).toMatch(new RegExp(`^${github.origins.api}/user/${acme.id}/repos\\?.*page=2`))
    }
    expect(names).toEqual(['Tools', 'empty'])
    const link = (await ask('/users/acme/repos?per_page=1&page=2')).headers.get('link')
    expect(link).toMatch(/rel="prev", .*rel="first"$/)
    expect(await (await ask('/users/acme/repos?page=9')).json()).toEqual([])
  })

  test('pictures are what the account has: a square, or something worse', async () => {
    const url = `${github.origins.avatars}/u/${acme.id}?v=4&s=128`
    const picture = Buffer.from(await (await ask(url)).arrayBuffer())
    expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16)]).toEqual(['PNG', 128])
    try {
      acme.avatar = 'html'
      expect(await (await ask(url)).text()).toContain('<script>')
      acme.avatar = 'redirect'
      expect(await statusOf(url)).toBe(302)
      acme.avatar = 'huge'
      expect((await (await ask(url)).arrayBuffer()).byteLength).toBeGreaterThan(8 * 1024 * 1024)
      acme.avatar = 'missing'
      expect(await statusOf(url)).toBe(404)
    } finally {
      acme.avatar = 'png'
    }
  })
})

import { execFile } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { simpleAccount } from '#test/support/fake-github/bodies.ts'
import { faultOfAnswer, OPERATIONS } from '#test/support/fake-github/schema.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import {
  authorizationPayload,
  installationPayload,
  pushPayload,
  repositoryPayload,
  selectionPayload,
  signDelivery,
} from '#test/support/fake-github/webhooks.ts'
import type { Account, App, Installation, Repository } from '#test/support/fake-github/world.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

let repositories: TestRepositories
let github: FakeGitHub
let work: string

/** What the suite is about; made once, since no test changes it without changing it back. */
let tools: TestRepository
let commits: { first: string; second: string; side: string; impostor: string }
let acme: Account
let ada: Account
let bob: Account
let repository: Repository
let secret: Repository
let app: App
let installation: Installation
/** Tokens by who holds them. */
let tokens: { ada: string; bob: string; adaByApp: string; installation: string; jwt: string; client: string }

beforeAll(async () => {
  repositories = await createRepositories()
  work = await mkdtemp(join(tmpdir(), 'mountglass-fake-github-'))
  tools = await repositories.create('acme', 'Tools', { description: 'What we use' })
  const first = await tools.commit({ 'README.md': 'one\n', 'skills/a/SKILL.md': 'a\n', '.gitattributes': ATTRIBUTES })
  const second = await tools.commit({ 'README.md': 'two\n', 'docs/hidden.md': 'hidden', 'version.txt': '$Format:%H$' })
  const side = await tools.commit({ 'side.md': 'side' }, { branch: 'feature/x', parent: first })
  await tools.tag('v1', first, { annotated: true })
  const fork = await repositories.create('bob', 'tools')
  await fork.git('fetch', '--quiet', tools.gitDir, 'refs/heads/main:refs/heads/main')
  const impostor = await fork.commit({ 'evil.md': 'evil' }, { parent: second })
  commits = { first, second, side, impostor }
  await repositories.create('acme', 'empty')
  const closed = await repositories.create('acme', 'closed')
  await closed.commit({ 'secret.md': 'secret' })
  const within = await repositories.create('acme', 'within')
  await within.commit({ 'within.md': 'within' })

  github = await startFakeGitHub({ root: repositories.root })
  ada = github.user('ada', { name: 'Ada', bio: 'Writes' })
  bob = github.user('bob')
  acme = github.organization('acme', { description: 'We make things', members: new Map([[ada, 'member']]) })
  repository = github.repository(tools, { stars: 7 })
  secret = github.repository(closed, { visibility: 'private' })
  github.repository(within, { visibility: 'internal' })
  github.repository(fork, { forkOf: repository })
  app = github.app('reader', {
    owner: acme,
    callbackUrls: ['https://reader.example/callback'],
    setupUrl: 'https://reader.example/',
  })
  installation = github.install(app, acme, { selection: 'selected', repositories: new Set([secret]) })
  github.world.oauthClients.set('Ov23', 'hush')
  tokens = {
    ada: github.personalToken(ada),
    bob: github.personalToken(bob),
    adaByApp: github.userTokens(app, ada).access_token,
    installation: github.installationToken(installation),
    jwt: github.appJwt(app),
    client: Buffer.from('Ov23:hush').toString('base64'),
  }
})

const ATTRIBUTES = 'docs/hidden.md export-ignore\nversion.txt export-subst\n'

afterEach(() => {
  const mistakes = [...github.mistakes]
  github.reset()
  expect(mistakes).toEqual([])
})

afterAll(async () => {
  await github.close()
  await repositories.remove()
  await rm(work, { recursive: true, force: true })
})

interface Asked {
  token?: string
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

async function ask(path: string, { token, method = 'GET', headers = {}, body }: Asked = {}): Promise<Response> {
  return fetch(path.startsWith('http') ? path : `${github.origins.api}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of the host are checked against its description, not against types
async function askJson(path: string, asked: Asked = {}): Promise<any> {
  const answer = await ask(path, asked)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([expect.any(Number), 'application/json; charset=utf-8'])
  return { status: answer.status, ...((await answer.json()) as object), headers: answer.headers }
}

async function statusOf(path: string, asked: Asked = {}): Promise<number> {
  const answer = await ask(path, asked)
  await answer.arrayBuffer()
  return answer.status
}

const run = promisify(execFile)

/** Plain git, as a person would have it, without any configuration of this machine. */
async function git(args: readonly string[], config: Record<string, string> = {}): Promise<string> {
  const settings = Object.entries({ 'protocol.version': '2', 'gc.auto': '0', ...config })
  const { stdout } = await run('git', args, {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '/bin/false',
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
    },
  })
  return stdout.trim()
}

function basic(token: string): Record<string, string> {
  return { 'http.extraHeader': `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
}

async function gitFailure(args: readonly string[], config: Record<string, string> = {}): Promise<string> {
  return git(args, config).then(
    () => 'no failure',
    (error: { stderr: string }) => error.stderr,
  )
}

describe('repositories', () => {
  test('a repository is described in full, in the spelling of the host, whatever the case of the address', async () => {
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

  test('a fork names its parent and its source', async () => {
    expect(await askJson('/repos/bob/tools')).toMatchObject({
      fork: true,
      parent: { full_name: 'acme/Tools' },
      source: { id: repository.id },
    })
  })

  test('nobody sees a private repository but who may, and who may not sees what a missing one gives', async () => {
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

  test('a renamed repository redirects reads with 301 and writes with 307 to its id, for those who may see it', async () => {
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
      expect(await statusOf('/repos/acme/closed', { token: tokens.ada, method: 'PATCH' })).toBe(307)
      expect(await statusOf('/repos/acme/closed')).toBe(404)
      expect(await askJson(`/repositories/${secret.id}`, { token: tokens.ada })).toMatchObject({ full_name: 'acme/opened' })
      expect(await statusOf(`/repositories/${secret.id}`)).toBe(404)
    } finally {
      github.world.rename(secret, before)
    }
    expect(await statusOf('/repos/acme/opened', { token: tokens.ada })).toBe(301)
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

  test('an organisation with SAML sends members away until they sign in to it', async () => {
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

  test('a suspended installation is told so', async () => {
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

  test('the role of a person in a repository', async () => {
    const path = (login: string) => `/repos/acme/closed/collaborators/${login}/permission`
    expect(await askJson(path('ADA'), { token: tokens.installation })).toMatchObject({
      permission: 'read',
      user: { login: 'ada' },
    })
    expect(await askJson(path('bob'), { token: tokens.installation })).toMatchObject({ permission: 'none', role_name: 'none' })
    expect(await askJson(path('nobody'), { token: tokens.installation })).toMatchObject({ status: '404' })
    expect(await askJson(path('bob'), { token: tokens.ada })).toMatchObject({ status: '403' })
    expect(await askJson('/repos/acme/tools/collaborators/ada/permission')).toMatchObject({ status: '401' })
  })
})

describe('refs and objects', () => {
  const SHA = { accept: 'application/vnd.github.sha' }
  const shaOf = async (ref: string, name = 'tools'): Promise<string | number> => {
    const answer = await ask(`/repos/acme/${name}/commits/${ref}`, { headers: SHA })
    return answer.ok ? answer.text() : answer.status
  }

  test('a ref is answered with its commit alone, and the tag of the answer is the commit', async () => {
    const path = '/repos/acme/tools/commits/main'
    const answer = await ask(path, { headers: SHA })
    expect(answer.headers.get('content-type')).toBe('application/vnd.github.sha; charset=utf-8')
    expect([await answer.text(), answer.headers.get('etag')]).toEqual([commits.second, `"${commits.second}"`])
    expect(await statusOf(path, { headers: { ...SHA, 'if-none-match': `"${commits.second}"` } })).toBe(304)
    // Unlike a JSON body's, this tag is the same for every token.
    expect(await statusOf(path, { token: tokens.ada, headers: { ...SHA, 'if-none-match': `"${commits.second}"` } })).toBe(304)
    expect(await statusOf(path, { headers: { ...SHA, 'if-none-match': `"${commits.first}"` } })).toBe(200)
  })

  test.each([
    ['v1', () => commits.first],
    ['tags/v1', () => commits.first],
    ['refs/tags/v1', () => commits.first],
    ['heads/main', () => commits.second],
    ['feature%2Fx', () => commits.side],
    ['feature/x', () => commits.side],
    ['HEAD', () => commits.second],
    ['nothing', () => 422],
    ['main~1', () => 422],
    ['--all', () => 422],
    ['main%0Amain', () => 422],
    ['0000000000000000000000000000000000000000', () => 422],
  ])('the ref %s', async (ref, expected) => {
    expect(await shaOf(ref)).toBe(expected())
  })

  test('commits are found by their id and its beginning, those of the whole fork network too', async () => {
    expect(await shaOf(commits.first)).toBe(commits.first)
    expect(await shaOf(commits.first.slice(0, 9))).toBe(commits.first)
    expect(await shaOf(commits.impostor)).toBe(commits.impostor)
    expect(await shaOf(commits.impostor, 'empty')).toBe(409)
  })

  test('a name that is a branch and a tag is either, as the test says', async () => {
    await tools.branch('both', commits.first)
    await tools.tag('both', commits.second)
    expect(await shaOf('both')).toBe(commits.first)
    github.world.ambiguousRefs = 'tag'
    expect(await shaOf('both')).toBe(commits.second)
    github.world.ambiguousRefs = 'branch'
    await tools.git('update-ref', '-d', 'refs/heads/both')
    await tools.git('update-ref', '-d', 'refs/tags/both')
  })

  test('an unknown ref and an empty repository say so', async () => {
    expect(await askJson('/repos/acme/tools/commits/nothing')).toMatchObject({
      message: 'No commit found for SHA: nothing',
      status: '422',
    })
    expect(await askJson('/repos/acme/empty/commits/main')).toMatchObject({ message: 'Git Repository is empty.', status: '409' })
    expect(await askJson('/repos/acme/empty/git/trees/main')).toMatchObject({ status: '409' })
    expect(await askJson('/repos/acme/empty')).toMatchObject({ default_branch: 'main', size: 0 })
  })

  test('a commit comes with what it changes', async () => {
    expect(await askJson('/repos/acme/tools/commits/main')).toMatchObject({
      sha: commits.second,
      parents: [{ sha: commits.first }],
      commit: { message: 'Change files', author: { email: 'test@example.org' } },
      stats: { additions: 3, deletions: 1, total: 4 },
    })
  })

  test('a comparison tells whether a commit is part of a branch', async () => {
    const compared = async (basehead: string) => askJson(`/repos/acme/tools/compare/${basehead}?per_page=1`)
    expect(await compared(`main...${commits.first}`)).toMatchObject({ status: 'behind', ahead_by: 0, behind_by: 1, commits: [] })
    expect(await compared(`main...${commits.second}`)).toMatchObject({ status: 'identical', total_commits: 0, files: [] })
    expect(await compared(`main...${commits.impostor}`)).toMatchObject({ status: 'ahead', commits: [{ sha: commits.impostor }] })
    expect(await compared('main...feature%2Fx')).toMatchObject({
      status: 'diverged',
      files: [{ filename: 'side.md', status: 'added' }],
    })
    expect(await compared('main...nothing')).toMatchObject({ status: '404' })
    const alone = await tools.commit({ 'alone.md': '' }, { branch: null, parent: null })
    expect(await compared(`main...${alone}`)).toMatchObject({
      status: '404',
      message: expect.stringContaining('No common ancestor'),
    })
  })

  test('a tree by commit, id or ref, flat or whole, and cut where it is too large', async () => {
    const paths = (body: { tree: { path: string }[] }) => body.tree.map(({ path }) => path)
    const flat = await askJson('/repos/acme/tools/git/trees/main')
    expect(paths(flat)).toEqual(['.gitattributes', 'README.md', 'docs', 'skills', 'version.txt'])
    const whole = await askJson(`/repos/acme/tools/git/trees/${commits.first}?recursive=1`)
    expect(paths(whole)).toEqual(['.gitattributes', 'README.md', 'skills', 'skills/a', 'skills/a/SKILL.md'])
    expect(whole.tree[1]).toMatchObject({
      mode: '100644',
      type: 'blob',
      size: 4,
      sha: await tools.oidAt(commits.first, 'README.md'),
    })
    const skills = await tools.oidAt(commits.first, 'skills')
    expect(await askJson(`/repos/acme/tools/git/trees/${skills}?recursive=0`)).toMatchObject({ sha: skills, truncated: false })
    repository.treeLimit = 2
    expect(await askJson('/repos/acme/tools/git/trees/main?recursive=1')).toMatchObject({ truncated: true, tree: [{}, {}] })
    repository.treeLimit = 100_000
    expect(await askJson('/repos/acme/tools/git/trees/nothing')).toMatchObject({ status: '404' })
  })

  test('a submodule and a link stand in a tree as what they are', async () => {
    const commit = await tools.commit({ module: { submodule: commits.first }, link: { link: 'README.md' } }, { branch: null })
    const { tree } = await askJson(`/repos/acme/tools/git/trees/${commit}`)
    expect(tree.map(({ mode, type }: { mode: string; type: string }) => `${mode} ${type}`)).toEqual([
      '120000 blob',
      '160000 commit',
    ])
    expect(Object.keys(tree[1])).not.toContain('size')
  })

  test('a blob as JSON and as its bytes', async () => {
    const oid = await tools.oidAt(commits.first, 'README.md')
    const path = `/repos/acme/tools/git/blobs/${oid}`
    const body = await askJson(path)
    expect([body.size, Buffer.from(body.content, 'base64').toString()]).toEqual([4, 'one\n'])
    expect(await (await ask(path, { headers: { accept: 'application/vnd.github.raw' } })).text()).toBe('one\n')
    expect(await askJson(`/repos/acme/tools/git/blobs/${'0'.repeat(40)}`)).toMatchObject({ status: '404' })
    expect(await askJson('/repos/acme/tools/git/blobs/main')).toMatchObject({ status: '422' })
  })
})

describe('archives', () => {
  async function unpack(answer: Response): Promise<Record<string, string>> {
    const folder = await mkdtemp(join(work, 'tar-'))
    await writeFile(join(folder, 'it.tar.gz'), Buffer.from(await answer.arrayBuffer()))
    await run('tar', ['-xzf', 'it.tar.gz'], { cwd: folder })
    const [top = ''] = (await readdir(folder)).filter(name => name !== 'it.tar.gz')
    const names = await readdir(join(folder, top), { recursive: true, withFileTypes: true })
    const files = names.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
    const texts = await Promise.all(files.map(async file => [file.slice(folder.length + 1), await readFile(file, 'utf8')]))
    return Object.fromEntries(texts)
  }

  test('a tarball lies on another origin and obeys export-ignore and export-subst', async () => {
    const redirect = await ask('/repos/acme/tools/tarball/main')
    expect([redirect.status, redirect.headers.get('location')]).toEqual([
      302,
      `${github.origins.codeload}/acme/Tools/legacy.tar.gz/refs/heads/main`,
    ])
    const top = `acme-Tools-${commits.second.slice(0, 7)}`
    const files = await unpack(await ask(redirect.headers.get('location') ?? ''))
    expect(Object.keys(files)).not.toContain(`${top}/docs/hidden.md`)
    expect(files).toMatchObject({ [`${top}/README.md`]: 'two\n', [`${top}/version.txt`]: commits.second })
    const bySha = await ask(`/repos/acme/tools/tarball/${commits.first}`)
    expect(bySha.headers.get('location')).toBe(`${github.origins.codeload}/acme/Tools/legacy.tar.gz/${commits.first}`)
    expect((await ask('/repos/acme/tools/tarball')).headers.get('location')).toMatch(/legacy\.tar\.gz\/refs\/heads\/main$/)
    expect((await ask('/repos/acme/tools/zipball/v1')).headers.get('location')).toMatch(/legacy\.zip\/refs\/tags\/v1$/)
    expect(await statusOf('/repos/acme/tools/tarball/nothing')).toBe(404)
  })

  test('a private tarball opens for five minutes to whoever has its address', async () => {
    expect(await statusOf('/repos/acme/closed/tarball/main')).toBe(404)
    const { headers } = await ask('/repos/acme/closed/tarball/main', { token: tokens.installation })
    const location = headers.get('location') ?? ''
    expect(Object.values(await unpack(await ask(location)))).toEqual(['secret'])
    expect(await statusOf(location.replace(/token=.*/, 'token=x'))).toBe(404)
    github.clock.advance(301)
    expect(await statusOf(location)).toBe(404)
  })

  test('a single file, by its page and by its own address', async () => {
    const page = await ask(`${github.origins.web}/acme/Tools/raw/${commits.first}/skills/a/SKILL.md`)
    expect(page.status).toBe(302)
    const raw = await ask(page.headers.get('location') ?? '')
    expect([await raw.text(), raw.headers.get('x-content-type-options')]).toEqual(['a\n', 'nosniff'])
    expect(await statusOf(`${github.origins.raw}/acme/closed/main/secret.md`)).toBe(404)
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

  test('repositories of an account come in pages with numeric links, public ones alone', async () => {
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

  test('the listing of an organisation shows members what is theirs, unless they ask for public ones', async () => {
    const list = async (query: string, token?: string) => {
      const answer = await ask(`/orgs/acme/repos${query}`, token === undefined ? {} : { token })
      return ((await answer.json()) as { name: string }[]).map(({ name }) => name).sort()
    }
    expect(await list('')).toEqual(['Tools', 'empty'])
    expect(await list('', tokens.ada)).toEqual(['Tools', 'closed', 'empty', 'within'])
    expect(await list('?type=public', tokens.ada)).toEqual(['Tools', 'empty'])
    expect(await list('', tokens.installation)).toEqual(['Tools', 'closed', 'empty'])
    expect((await ask('/orgs/acme/repos?per_page=1')).headers.get('link')).toContain(`/organizations/${acme.id}/repos?`)
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
      expect((await (await ask(url)).arrayBuffer()).byteLength).toBeGreaterThan(32 * 1024 * 1024)
      acme.avatar = 'missing'
      expect(await statusOf(url)).toBe(404)
    } finally {
      acme.avatar = 'png'
    }
  })
})

describe('credentials', () => {
  test('a token that is none is 401, whatever is asked for', async () => {
    for (const token of ['ghp_nothing', 'ghs_1_a.b.c', 'a.b.c'])
      expect(await askJson('/repos/acme/tools', { token })).toMatchObject({ status: '401' })
    expect(await askJson('/repos/acme/tools', { token: 'x' })).toMatchObject({ message: 'Bad credentials' })
  })

  test('a token goes as token, Bearer or Basic, and a client by its id and secret', async () => {
    const authorized = async (authorization: string) => statusOf('/repos/acme/closed', { headers: { authorization } })
    expect(await authorized(`token ${tokens.ada}`)).toBe(200)
    expect(await authorized(`Basic ${Buffer.from(`x-access-token:${tokens.ada}`).toString('base64')}`)).toBe(200)
    expect(await authorized(`Basic ${Buffer.from(`${tokens.ada}:x-oauth-basic`).toString('base64')}`)).toBe(200)
    expect(await authorized(`Basic ${tokens.client}`)).toBe(404)
    expect(await authorized(`Basic ${Buffer.from('Ov23:wrong').toString('base64')}`)).toBe(401)
  })

  test('a client without a name is sent away before anything else', async () => {
    const answer = await ask('/repos/acme/tools', { headers: { 'user-agent': '' } })
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('User-Agent')])
  })

  test('an unknown version of the API is 400', async () => {
    expect(await askJson('/users/ada', { headers: { 'x-github-api-version': '2001-01-01' } })).toMatchObject({ status: '400' })
    expect(await statusOf('/users/ada', { headers: { 'x-github-api-version': '2022-11-28' } })).toBe(200)
  })

  test('an app proves itself by a JWT that is fresh and its own', async () => {
    expect(await askJson('/app', { token: tokens.jwt })).toMatchObject({ slug: 'reader', client_id: app.clientId })
    const list = await (await ask('/app/installations', { token: tokens.jwt })).json()
    expect(list).toMatchObject([{ id: installation.id, account: { login: 'acme' }, repository_selection: 'selected' }])
    expect(await askJson(`/app/installations/${installation.id}`, { token: tokens.jwt })).toMatchObject({ app_slug: 'reader' })
    expect(await askJson('/repos/acme/closed/installation', { token: tokens.jwt })).toMatchObject({ id: installation.id })
    expect(await askJson('/repos/acme/tools/installation', { token: tokens.jwt })).toMatchObject({ status: '404' })
    expect(await askJson('/app', { token: tokens.ada })).toMatchObject({ status: '401' })
    expect(await askJson('/app', { token: `${tokens.jwt.slice(0, -8)}AAAAAAAA` })).toMatchObject({ status: '401' })
    github.clock.advance(600)
    expect(await askJson('/app', { token: tokens.jwt })).toMatchObject({ status: '401', message: expect.stringContaining('exp') })
  })

  test('an installation token is long, has two dots, is scoped down and ends within the hour', async () => {
    const path = `/app/installations/${installation.id}/access_tokens`
    const make = async (body: unknown) => askJson(path, { token: tokens.jwt, method: 'POST', body })
    const made = await make({ repository_ids: [secret.id], permissions: { contents: 'read' } })
    expect(made).toMatchObject({
      status: 201,
      permissions: { contents: 'read', metadata: 'read' },
      repository_selection: 'selected',
      repositories: [{ full_name: 'acme/closed' }],
    })
    expect([made.token.startsWith(`ghs_${app.id}_`), made.token.split('.').length]).toEqual([true, 3])
    expect(made.token.length).toBeGreaterThan(500)
    expect(await statusOf('/repos/acme/closed', { token: made.token })).toBe(200)
    expect(await make({ repository_ids: [repository.id] })).toMatchObject({ status: '422' })
    expect(await make({ permissions: { contents: 'write' } })).toMatchObject({ status: '422' })

    const listed = await askJson('/installation/repositories', { token: made.token })
    expect(listed).toMatchObject({ total_count: 1, repositories: [{ full_name: 'acme/closed' }] })
    expect(await askJson('/installation/repositories', { token: tokens.ada })).toMatchObject({ status: '403' })
    github.clock.advance(3601)
    expect(await statusOf('/repos/acme/closed', { token: made.token })).toBe(401)
    github.clock.reset()
    expect(await statusOf('/installation/token', { token: made.token, method: 'DELETE' })).toBe(204)
    expect(await statusOf('/repos/acme/closed', { token: made.token })).toBe(401)
  })

  test('a token without the permission to read contents is told so', async () => {
    const bare = github.install(github.app('bare', { permissions: { metadata: 'read' } }), acme)
    const token = github.installationToken(bare)
    expect(await statusOf('/repos/acme/closed', { token })).toBe(200)
    expect(await askJson('/repos/acme/closed/commits/main', { token })).toMatchObject({
      message: 'Resource not accessible by integration',
    })
    expect(await statusOf('/repos/acme/tools/commits/main', { token })).toBe(200)
  })

  test('the installations of a person, and what both reach', async () => {
    const list = await askJson('/user/installations?per_page=100', { token: tokens.adaByApp })
    expect(list).toMatchObject({ total_count: 1, installations: [{ id: installation.id, repository_selection: 'selected' }] })
    expect(list.installations[0].html_url).toBe(
      `${github.origins.web}/organizations/acme/settings/installations/${installation.id}`,
    )
    const reached = await askJson(`/user/installations/${installation.id}/repositories`, { token: tokens.adaByApp })
    expect(reached).toMatchObject({ total_count: 1, repositories: [{ full_name: 'acme/closed', permissions: { pull: true } }] })
    expect(await askJson('/user/installations', { token: tokens.ada })).toMatchObject({ status: '403' })
    const bobs = github.userTokens(app, bob).access_token
    expect(await askJson('/user/installations', { token: bobs })).toMatchObject({ total_count: 0 })
    expect(await askJson(`/user/installations/${installation.id}/repositories`, { token: bobs })).toMatchObject({ status: '404' })
  })
})

describe('sign-in', () => {
  const VERIFIER = 'v'.repeat(43)
  const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

  async function authorize(params: Record<string, string> = {}): Promise<URL> {
    const query = new URLSearchParams({
      client_id: app.clientId,
      state: 's',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...params,
    })
    const answer = await ask(`${github.origins.web}/login/oauth/authorize?${query}`)
    expect(answer.status).toBe(302)
    return new URL(answer.headers.get('location') ?? '')
  }

  // biome-ignore lint/suspicious/noExplicitAny: the token endpoint answers one of several shapes
  async function exchange(params: Record<string, string>): Promise<any> {
    const answer = await fetch(`${github.origins.web}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ client_id: app.clientId, client_secret: app.clientSecret, ...params }),
    })
    expect(answer.status).toBe(200)
    return answer.json()
  }

  async function signIn(): Promise<string> {
    github.world.browser = { user: ada, approves: true }
    const back = await authorize()
    return back.searchParams.get('code') ?? ''
  }

  test('a code goes back with the state, and becomes a token and a refresh token once, for who holds the verifier', async () => {
    github.world.browser = { user: ada, approves: true }
    const back = await authorize({ redirect_uri: 'https://reader.example/callback' })
    expect(`${back.origin}${back.pathname}?${back.searchParams.get('state')}`).toBe('https://reader.example/callback?s')
    const code = back.searchParams.get('code') ?? ''
    expect(await exchange({ code })).toMatchObject({ error: 'bad_verification_code' })
    expect(await exchange({ code, code_verifier: 'w'.repeat(43) })).toMatchObject({ error: 'bad_verification_code' })
    const given = await exchange({ code, code_verifier: VERIFIER })
    expect(given).toMatchObject({
      access_token: expect.stringMatching(/^ghu_\w{36}$/),
      expires_in: 28_800,
      refresh_token: expect.stringMatching(/^ghr_\w{76}$/),
      refresh_token_expires_in: 15_897_600,
      scope: '',
      token_type: 'bearer',
    })
    expect(await askJson('/user', { token: given.access_token })).toMatchObject({ login: 'ada' })
    expect(await exchange({ code, code_verifier: VERIFIER })).toMatchObject({ error: 'bad_verification_code' })
  })

  test('a refresh token works once and ends the pair before it; tokens end by themselves', async () => {
    const old = await exchange({ code: await signIn(), code_verifier: VERIFIER })
    const fresh = await exchange({ grant_type: 'refresh_token', refresh_token: old.refresh_token })
    expect(await statusOf('/user', { token: old.access_token })).toBe(401)
    expect(await statusOf('/user', { token: fresh.access_token })).toBe(200)
    const again = { grant_type: 'refresh_token', refresh_token: old.refresh_token }
    expect(await exchange(again)).toMatchObject({ error: 'bad_refresh_token' })
    github.clock.advance(28_801)
    expect(await statusOf('/user', { token: fresh.access_token })).toBe(401)
    const late = await exchange({ grant_type: 'refresh_token', refresh_token: fresh.refresh_token })
    github.clock.advance(15_897_601)
    expect(await exchange({ grant_type: 'refresh_token', refresh_token: late.refresh_token })).toMatchObject({
      error: 'bad_refresh_token',
    })
  })

  test('every refusal is a 200 with its name, or goes back to the app', async () => {
    const code = await signIn()
    expect(await exchange({ code, code_verifier: VERIFIER, client_secret: 'x' })).toMatchObject({
      error: 'incorrect_client_credentials',
    })
    const elsewhere = { code, code_verifier: VERIFIER, redirect_uri: 'https://evil.example/' }
    expect(await exchange(elsewhere)).toMatchObject({ error: 'redirect_uri_mismatch' })
    const mismatch = await authorize({ redirect_uri: 'https://evil.example/' })
    expect([mismatch.origin, mismatch.searchParams.get('error')]).toEqual(['https://reader.example', 'redirect_uri_mismatch'])
    github.world.browser = { user: ada, approves: false }
    const denied = await authorize()
    expect([denied.searchParams.get('error'), denied.searchParams.get('state')]).toEqual(['access_denied', 's'])
    github.clock.advance(601)
    expect(await exchange({ code, code_verifier: VERIFIER })).toMatchObject({ error: 'bad_verification_code' })
    expect((await authorize({ code_challenge_method: 'plain' })).searchParams.get('error')).toBe('invalid_request')
  })

  test('without asking for JSON the answer is a form', async () => {
    const answer = await fetch(`${github.origins.web}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x' }),
    })
    expect(new URLSearchParams(await answer.text()).get('error')).toBe('incorrect_client_credentials')
  })

  test('the app checks a token, ends it, and ends everything a person gave it', async () => {
    const authorization = `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`
    const about = (token: string, method: string, what = 'token') =>
      ask(`/applications/${app.clientId}/${what}`, { method, headers: { authorization }, body: { access_token: token } })
    const [one, two, three] = [1, 2, 3].map(() => github.userTokens(app, bob))
    expect(await (await about(one?.access_token ?? '', 'POST')).json()).toMatchObject({ user: { login: 'bob' } })
    expect((await about(one?.access_token ?? '', 'DELETE')).status).toBe(204)
    expect((await about(one?.access_token ?? '', 'DELETE')).status).toBe(404)
    expect(await statusOf('/user', { token: two?.access_token ?? '' })).toBe(200)
    expect((await about(two?.access_token ?? '', 'DELETE', 'grant')).status).toBe(204)
    expect(await statusOf('/user', { token: three?.access_token ?? '' })).toBe(401)
    expect(await exchange({ grant_type: 'refresh_token', refresh_token: three?.refresh_token ?? '' })).toMatchObject({
      error: 'bad_refresh_token',
    })
    expect(
      (await ask(`/applications/${app.clientId}/token`, { method: 'DELETE', headers: { authorization }, body: {} })).status,
    ).toBe(422)
  })

  test('installing leads back to the app', async () => {
    const page = `${github.origins.web}/apps/reader/installations/new`
    expect(await (await ask(page)).text()).toContain('bob')
    const { headers } = await ask(`${page}?account=bob`)
    expect(headers.get('location')).toMatch(/^https:\/\/reader\.example\/\?installation_id=\d+&setup_action=install$/)
    const made = [...github.world.installations].find(({ account }) => account === bob)
    if (made) github.world.installations.delete(made)
  })
})

describe('tags and limits', () => {
  test('the tag of a JSON body is the same for everyone who has no token of a person or installation', async () => {
    const tagOf = async (headers: Record<string, string>) => (await ask('/repos/acme/tools', { headers })).headers.get('etag')
    const anonymous = await tagOf({})
    expect(anonymous).toMatch(/^W\/"[0-9a-f]{64}"$/)
    expect(await tagOf({ authorization: `Basic ${tokens.client}` })).toBe(anonymous)
    const byInstallation = await tagOf({ authorization: `Bearer ${tokens.installation}` })
    const other = github.installationToken(installation)
    expect(new Set([anonymous, byInstallation, await tagOf({ authorization: `Bearer ${other}` })]).size).toBe(3)
    expect(await tagOf({ authorization: `Bearer ${tokens.installation}` })).toBe(byInstallation)
  })

  test('nothing new is 304, and free for who is known', async () => {
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

  test('the hour of a credential: sixty requests for nobody, five thousand for a person, and asking costs nothing', async () => {
    const overview = await askJson('/rate_limit')
    expect(overview).toMatchObject({ rate: { limit: 60, used: 0, remaining: 60 }, resources: { core: { limit: 60 } } })
    await ask('/users/ada')
    expect(await askJson('/rate_limit')).toMatchObject({ rate: { used: 1, remaining: 59 } })
    expect(await askJson('/rate_limit', { token: tokens.ada })).toMatchObject({ rate: { limit: 5000 } })
    const newer = await ask('/rate_limit', { headers: { 'x-github-api-version': '2026-03-10' } })
    expect(Object.keys((await newer.json()) as object)).toEqual(['resources'])
  })

  test.each([403, 429] as const)('over the limit every answer is %i until the hour is over', async status => {
    github.limits.exhaust(tokens.ada, { status, seconds: 100 })
    const answer = await ask('/users/ada', { token: tokens.ada })
    expect(answer.status).toBe(status)
    expect([answer.headers.get('x-ratelimit-remaining'), answer.headers.get('retry-after')]).toEqual(['0', null])
    const reset = Number(answer.headers.get('x-ratelimit-reset')) * 1000
    expect(Math.abs(reset - github.clock.now() - 100_000)).toBeLessThan(5000)
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

  test('the sixty-first request of nobody in an hour is one too many', async () => {
    github.limits.set('anonymous', 2)
    expect([await statusOf('/users/ada'), await statusOf('/nothing'), await statusOf('/users/ada')]).toEqual([200, 404, 403])
  })
})

describe('git', () => {
  const remote = (path: string) => `${github.origins.web}/${path}`

  test('refs are listed with and without .git, in two requests', async () => {
    const listed = await git(['ls-remote', remote('ACME/tools.git'), 'refs/heads/*'])
    expect(listed.split('\n')).toEqual([`${commits.side}\trefs/heads/feature/x`, `${commits.second}\trefs/heads/main`])
    expect(await git(['ls-remote', remote('acme/tools'), 'refs/tags/v1^{}'])).toContain(commits.first)
    expect(github.log.git.slice(0, 2).map(({ git: asked }) => asked?.command)).toEqual(['info/refs', 'ls-refs'])
  })

  test('the older protocol is answered too', async () => {
    expect(await git(['ls-remote', remote('acme/tools'), 'refs/heads/main'], { 'protocol.version': '0' })).toContain(
      commits.second,
    )
  })

  test('a shallow clone', async () => {
    const folder = join(work, 'clone')
    await git(['clone', '--quiet', '--depth', '1', remote('acme/tools'), folder])
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('two\n')
    expect(await git(['-C', folder, 'rev-list', '--count', 'HEAD'])).toBe('1')
  })

  test('trees first, then the wanted blobs by their ids in one request', async () => {
    const folder = join(work, 'partial.git')
    await git(['init', '--quiet', '--bare', folder])
    const lazy = {
      'remote.origin.url': remote('acme/tools'),
      'remote.origin.promisor': 'true',
      'remote.origin.partialclonefilter': 'blob:none',
    }
    for (const [key, value] of Object.entries(lazy)) await git(['--git-dir', folder, 'config', key, value])
    const fetching = ['--git-dir', folder, 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--filter=blob:none']
    await git([...fetching, '--depth', '1', 'origin', commits.second])
    const missing = async () =>
      (await git(['--git-dir', folder, 'rev-list', '--objects', '--missing=print', '-n1', commits.second])).match(/^\?/gm)
        ?.length ?? 0
    expect(await missing()).toBe(5)
    const blobs = await Promise.all(['README.md', 'version.txt'].map(path => tools.oidAt(commits.second, path)))
    await git([...fetching, 'origin', ...blobs], { 'fetch.negotiationAlgorithm': 'noop' })
    expect(await missing()).toBe(3)
    const fetches = github.log.git.filter(record => record.git?.command === 'fetch').map(record => record.git)
    expect(fetches).toMatchObject([
      { wants: 1, filter: 'blob:none', depth: 1 },
      { wants: 2, filter: 'blob:none', haves: 0 },
    ])
    expect(github.log.git.every(({ status, bytesOut }) => status === 200 && bytesOut > 0)).toBe(true)
  })

  test('any commit of the network is fetched by its id through any of its repositories', async () => {
    const folder = join(work, 'impostor.git')
    await git(['init', '--quiet', '--bare', folder])
    await git(['--git-dir', folder, 'fetch', '--quiet', '--depth', '1', remote('acme/tools'), commits.impostor])
    expect(await git(['--git-dir', folder, 'cat-file', '-t', commits.impostor])).toBe('commit')
    await git(['init', '--quiet', '--bare', `${folder}-2`])
    const elsewhere = ['--git-dir', `${folder}-2`, 'fetch', '--quiet', remote('acme/empty'), commits.impostor]
    expect(await gitFailure(elsewhere)).toContain('not our ref')
  })

  test('what is missing and what is private give nobody the same, and a stranger the same', async () => {
    for (const name of ['acme/closed', 'acme/nothing', 'nobody/nothing']) {
      expect(await gitFailure(['ls-remote', remote(name)])).toContain('could not read Username')
      expect(await gitFailure(['ls-remote', remote(name)], basic(tokens.bob))).toContain('not found')
    }
    expect(await git(['ls-remote', remote('acme/closed')], basic(tokens.ada))).toContain('refs/heads/main')
    expect(await git(['ls-remote', remote('acme/closed')], basic(tokens.installation))).toContain('refs/heads/main')
    expect(await gitFailure(['ls-remote', remote('acme/closed').replace('//', '//x:ghp_wrong@')])).toContain(
      'Authentication failed',
    )
    expect(github.log.git.map(({ credential }) => credential)).toContain('installation')
  })

  test('a renamed repository redirects git', async () => {
    const before = { owner: repository.owner, name: repository.name }
    github.world.rename(repository, { name: 'instruments' })
    try {
      expect(await git(['ls-remote', remote('acme/tools'), 'HEAD'])).toContain(commits.second)
      expect(await gitFailure(['ls-remote', remote('acme/tools')], { 'http.followRedirects': 'false' })).toContain('301')
    } finally {
      github.world.rename(repository, before)
    }
  })

  test('nothing can be pushed, and old clients are sent away', async () => {
    expect(await statusOf(remote('acme/tools.git/info/refs?service=git-receive-pack'))).toBe(401)
    expect(await statusOf(remote('acme/tools.git/info/refs'))).toBe(403)
    const authorization = `Basic ${Buffer.from(`x:${tokens.ada}`).toString('base64')}`
    const push = await ask(remote('acme/tools.git/info/refs?service=git-receive-pack'), { headers: { authorization } })
    expect(push.status).toBe(403)
  })

  test('a compressed request is read', async () => {
    const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
    const answer = await fetch(remote('acme/tools.git/git-upload-pack'), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'content-encoding': 'gzip',
        'git-protocol': 'version=2',
      },
      body: gzipSync(`${line('command=ls-refs\n')}0001${line('ref-prefix refs/heads/main\n')}0000`),
    })
    expect(await answer.text()).toContain(`${commits.second} refs/heads/main`)
  })

  test('an empty repository is cloned as empty', async () => {
    expect(await git(['ls-remote', remote('acme/empty')])).toBe('')
  })
})

describe('what goes wrong', () => {
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

  test('a broken connection, an answer cut short, one without an end, and one that never comes', async () => {
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

describe('the stand-in itself', () => {
  test('the log tells who asked for what, and how many bytes went', async () => {
    await askJson('/users/ada', { token: tokens.ada })
    await statusOf('/users/nobody')
    expect(github.log.lines).toEqual(['GET /users/ada 200', 'GET /users/nobody 404'])
    expect(github.log.rest.map(({ credential }) => credential)).toEqual(['personal', 'anonymous'])
    expect(github.log.bytesOut()).toBeGreaterThan(100)
    await Promise.all(Array.from({ length: 5 }, () => statusOf('/repos/acme/tools')))
    expect(github.log.peak).toBeGreaterThan(1)
  })

  test('a body that is not as described is a mistake', () => {
    expect(faultOfAnswer('GET /users/{username}', 200, { login: 'ada' })).toContain("must have required property 'id'")
    expect(faultOfAnswer('GET /users/{username}', 404, { message: 1 })).toContain('message')
    expect(faultOfAnswer('GET /nothing', 200, {})).toContain('not in the description')
    expect(faultOfAnswer('GET /users/{username}', 418, {})).toContain('not described')
  })

  test('every operation of the description is answered', async () => {
    const filled = (path: string) =>
      path
        .replace('{owner}/{repo}', 'acme/tools')
        .replace('{installation_id}', String(installation.id))
        .replace('{client_id}', app.clientId)
        .replace(/\{(username|org)\}/, 'acme')
        .replace('{basehead}', 'main...main')
        .replace('{file_sha}', '0'.repeat(40))
        .replace(/\{[^}]+\}/g, 'main')
    const unknown = await askJson('/nothing/at/all')
    for (const operation of OPERATIONS) {
      const [method = '', path = ''] = operation.split(' ')
      const answer = await ask(filled(path), { method, token: tokens.ada })
      const text = await answer.text()
      const page = text === '' ? '' : (JSON.parse(text) as { documentation_url?: string }).documentation_url
      expect([operation, page === unknown.documentation_url && answer.status === 404]).toEqual([operation, false])
    }
  })

  test('a push is signed with the secret of the app, as its description says', async () => {
    const push = { ref: 'refs/heads/main', before: commits.first, after: commits.second }
    const payload = await pushPayload(github.scene, repository, push, installation)
    const { headers, body } = signDelivery(app, 'push', payload, { id: 'one' })
    const signature = `sha256=${createHmac('sha256', app.webhookSecret).update(body).digest('hex')}`
    expect(headers).toMatchObject({ 'x-hub-signature-256': signature, 'x-github-event': 'push', 'x-github-delivery': 'one' })
    expect(JSON.parse(body)).toMatchObject({
      after: commits.second,
      repository: { full_name: 'acme/Tools' },
      commits: [{ id: commits.second, modified: ['README.md'], added: ['docs/hidden.md', 'version.txt'] }],
      installation: { id: installation.id },
    })
  })

  test('the other events are as described, and one that is not is refused', async () => {
    const { scene } = github
    const happened = (action: string | null, more = {}) => repositoryPayload(scene, repository, action, installation, more)
    const renamed = { changes: { repository: { name: { from: 'old' } } } }
    const events = [
      ['repository', await happened('renamed', renamed)],
      ['repository', await happened('privatized')],
      ['repository', await happened('publicized')],
      ['repository', await happened('deleted')],
      ['public', await happened(null)],
      ['member', await happened('removed', { member: simpleAccount(scene, bob) })],
      ['installation', await installationPayload(scene, installation, 'created')],
      ['installation', await installationPayload(scene, installation, 'suspend')],
      ['installation_repositories', selectionPayload(scene, installation, 'added', [secret])],
      ['installation_repositories', selectionPayload(scene, installation, 'removed', [secret])],
      ['github_app_authorization', authorizationPayload(scene, ada)],
    ] as const
    for (const [event, payload] of events) expect(signDelivery(app, event, payload).headers['x-github-event']).toBe(event)
    expect(() => signDelivery(app, 'public', {})).toThrow("must have required property 'repository'")
    expect(() => signDelivery(app, 'nothing', {})).toThrow('not in the description')
  })

  test('what comes to lie in the folder is served, and what goes is gone for good', async () => {
    const late = await repositories.create('carol', 'late', { description: 'Late' })
    await late.commit({ 'a.md': 'a' })
    const { id } = await askJson('/repos/carol/late')
    await rm(late.gitDir, { recursive: true })
    expect(await statusOf('/repos/carol/late')).toBe(404)
    const again = await repositories.create('carol', 'late')
    await again.commit({ 'b.md': 'b' })
    const found = await askJson('/repos/carol/late')
    expect([found.description, found.id === id]).toEqual([null, false])
  })

  test('an Enterprise Server has its API below the web origin', async () => {
    const server = await startFakeGitHub({ root: repositories.root, enterprise: true })
    try {
      expect(server.origins.api).toBe(`${server.origins.web}/api/v3`)
      const answer = await fetch(`${server.origins.api}/repos/acme/Tools`)
      expect(await answer.json()).toMatchObject({ url: `${server.origins.api}/repos/acme/Tools` })
      expect(server.log.rest.map(({ path }) => path)).toEqual(['/api/v3/repos/acme/Tools'])
    } finally {
      await server.close()
    }
  })
})

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { basic, openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const {
  github,
  work,
  tools,
  repository,
  commits,
  acme,
  ada,
  bob,
  secret,
  installation,
  tokens,
  ask,
  askJson,
  statusOf,
  gitFailure,
} = scene

afterEach(scene.check)
afterAll(scene.close)

const run = promisify(execFile)

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
    // Few entries, whose paths alone come to eight megabytes.
    const deep = `${'long'.repeat(60)}/`.repeat(16)
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${deep}${index}.md`, '']))
    const level = await tools.commit(files, { branch: null, parent: null })
    const inner = { mode: '40000', oid: await tools.git('rev-parse', `${level}^{tree}`) }
    const rows = Array.from({ length: 20 }, (_, index) => ({ ...inner, name: String(index).padStart(4, '0') }))
    const huge = await askJson(`/repos/acme/tools/git/trees/${await tools.rawTree(rows)}?recursive=1`)
    expect([huge.truncated, huge.tree.length > 1_500, huge.tree.length < 2_000]).toEqual([true, true, true])
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
      expect((await (await ask(url)).arrayBuffer()).byteLength).toBeGreaterThan(8 * 1024 * 1024)
      acme.avatar = 'missing'
      expect(await statusOf(url)).toBe(404)
    } finally {
      acme.avatar = 'png'
    }
  })
})

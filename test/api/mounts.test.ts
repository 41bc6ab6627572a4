import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseRepositoryRule } from '#api/operator/repository-rule.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'SKILLSET.md': [
        '---',
        'name: Handbook',
        'description: Everything.',
        'language: en',
        'image: cover art.png',
        'translations:',
        '  de: { name: Handbuch }',
        '---',
        'Root rule.',
        '',
      ].join('\n'),
      'cover art.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      'README.md': '# Welcome\n\nHello.\n',
      'guide.md': '# Guide\n\nHow to.\n',
      'skills/pdf/SKILL.md': skillText('pdf'),
      'skills/csv/SKILL.md': skillText('csv'),
      'skills/notes.md': '# Notes\n\nTaken.\n',
      'broken/SKILLSET.md': '---\nname: [\n---\n',
      'broken/x/SKILL.md': skillText('x'),
      'drafts/SKILLSET.md': '---\nname: Drafts\nexclude: [secret/]\n---\n',
      'drafts/secret/SKILL.md': skillText('secret'),
      'drafts/open.md': '# Open\n',
    },
    'acme/empty': {},
    'acme/none': { 'a.txt': 'nothing eligible' },
  })
})
afterAll(() => app.close())

test('resolving an address starts indexing and returns immediately', async () => {
  const first = await app.ask('mounts', '/local/acme/none')
  expect(first).toEqual({
    address: '/local/acme/none',
    repository: {
      host: 'local',
      owner: 'acme',
      name: 'none',
      defaultBranch: 'main',
      description: null,
      avatar: null,
      visibility: 'public',
    },
    ref: null,
    pinned: false,
    commit: app.commitOf('acme/none'),
    path: '',
    verified: false,
    image: null,
    index: { status: 'indexing' },
  })
  const many = await Promise.all(Array.from({ length: 20 }, () => app.ask('mounts', '/local/acme/none')))
  expect(many.map(mount => mount.index)).toEqual(many.map(() => ({ status: 'indexing' })))
  expect(await app.index()).toBe(1)
  expect((await app.ask('mounts', '/local/acme/none')).index).toMatchObject({
    status: 'ready',
    counts: { skills: 0, documents: 0 },
  })
})

test('a ready overview has the manifest, the license, counts, lists in path order, and diagnostics', async () => {
  await app.open('/local/acme/handbook')
  const mount = await app.ask('mounts', '/local/acme/handbook')
  expect(mount.image).toBe(`https://mountglass.test/git/local/acme/handbook/raw/${mount.commit}/cover%20art.png`)
  expect(mount.index).toMatchObject({
    status: 'ready',
    manifest: {
      path: 'SKILLSET.md',
      name: 'Handbook',
      description: 'Everything.',
      language: 'en',
      translations: { de: { name: 'Handbuch' } },
    },
    license: { kind: 'open', name: 'MIT', source: 'LICENSE' },
    counts: { skills: 2, documents: 3 },
    skills: [{ path: 'skills/csv/SKILL.md', directory: 'skills/csv', name: 'csv' }, { path: 'skills/pdf/SKILL.md' }],
    documents: [{ path: 'drafts/open.md' }, { path: 'guide.md', title: 'Guide' }, { path: 'skills/notes.md' }],
    diagnostics: [{ code: 'manifest.unreadable', path: 'broken/SKILLSET.md', boundary: 'broken' }],
    truncated: false,
  })
})

test('facts of a snapshot stay the same, and facts of the repository follow the host', async () => {
  await app.open('/local/acme/handbook')
  const before = await app.ask('mounts', '/local/acme/handbook')
  await writeFile(join(app.repository('acme/handbook').gitDir, 'description'), 'All that we know.')
  const after = await app.ask('mounts', '/local/acme/handbook')
  expect(after.repository.description).toBe('All that we know.')
  expect(after).toEqual({ ...before, repository: { ...before.repository, description: 'All that we know.' } })
  expect(await app.ask('mounts', '/local/acme/handbook@main')).toEqual({
    ...after,
    address: '/local/acme/handbook@main',
    ref: 'main',
  })
  const texts = await Promise.all([1, 2].map(() => app.get('/api/v1/mounts/local/acme/handbook')))
  expect(texts[0]?.body).toBe(texts[1]?.body)
})

test('a mounted folder has its own counts and lists, paths from the root, and the manifest above it', async () => {
  const mount = await app.ask('mounts', '/local/acme/handbook/skills/')
  expect(mount).toMatchObject({ address: '/local/acme/handbook/skills', path: 'skills' })
  expect(mount.index).toMatchObject({
    manifest: { path: 'SKILLSET.md' },
    counts: { skills: 2, documents: 1 },
    skills: [{ path: 'skills/csv/SKILL.md' }, { path: 'skills/pdf/SKILL.md' }],
    documents: [{ path: 'skills/notes.md' }],
    diagnostics: [],
  })
})

test('a folder that a failed boundary closes is a mount without content, with the diagnostic', async () => {
  const mount = await app.ask('mounts', '/local/acme/handbook/broken')
  expect(mount.index).toMatchObject({
    status: 'ready',
    counts: { skills: 0, documents: 0 },
    skills: [],
    documents: [],
    diagnostics: [{ code: 'manifest.unreadable', path: 'broken/SKILLSET.md', boundary: 'broken' }],
  })
})

test.for(['nowhere', 'guide.md', 'skills/pdf/SKILL.md', 'drafts/secret', 'broken/x', 'Skills'])(
  'once the index is ready, %s is not a folder to mount: missing, a file, excluded and closed are the same',
  async path => {
    for (const route of ['mounts', 'browse', 'find', 'skills', 'files']) {
      const query = { find: '?query=x', skills: '?path=x', files: '?path=x' }[route] ?? ''
      const answer = await app.get(`/api/v1/${route}/local/acme/handbook/${path}${query}`)
      expect([answer.status, answer.json.error.code]).toEqual([404, 'mount.path_not_found'])
    }
  },
)

test('a tag, a branch with a slash and a full hash resolve, and only the hash is pinned', async () => {
  const repository = app.repository('acme/handbook')
  const commit = app.commitOf('acme/handbook')
  await repository.branch('feature/x@2', commit)
  await repository.tag('v1', commit, { annotated: true })
  for (const [ref, pinned] of [
    ['v1', false],
    ['feature%2Fx@2', false],
    ['refs%2Ftags%2Fv1', false],
    [commit, true],
  ] as const) {
    const mount = await app.ask('mounts', `/local/acme/handbook@${ref}/skills`)
    expect(mount).toMatchObject({ ref: decodeURIComponent(ref), pinned, commit, index: { status: 'ready' } })
    expect(mount.address).toBe(`/local/acme/handbook@${ref}/skills`)
  }
})

test('while the new commit of a moved branch is indexed, answers are of the new commit alone', async () => {
  const { repositories } = app
  const repository = await repositories.create('acme', 'moving')
  await repository.commit({ 'a.md': '# One\n' })
  await app.open('/local/acme/moving')
  const second = await repository.commit({ 'a.md': '# Two\n' })
  expect(await app.ask('mounts', '/local/acme/moving')).toMatchObject({ commit: second, index: { status: 'indexing' } })
  expect(await app.ask('browse', '/local/acme/moving')).toEqual({ status: 'indexing', commit: second })
  await app.index()
  const { index } = await app.ask('mounts', '/local/acme/moving')
  expect(index).toMatchObject({ documents: [{ title: 'Two' }] })
})

test('a failed index is an answer with its code and the time of the next try, and is tried again after that', async () => {
  const repository = await app.repositories.create('acme', 'damaged')
  const commit = await repository.commit({ 'a.md': '# A\n', 'b/c.md': '# C\n' })
  await app.get('/api/v1/mounts/local/acme/damaged')
  await repository.dropObject(await repository.oidAt(commit, 'b'))
  await app.index()
  const { index } = await app.ask('mounts', '/local/acme/damaged')
  expect(index).toMatchObject({ status: 'failed', errorCode: 'index.fetch_failed' })
  const { retryAt } = index as { retryAt: string }
  expect(await app.ask('browse', '/local/acme/damaged')).toEqual({
    status: 'failed',
    commit,
    errorCode: 'index.fetch_failed',
    retryAt,
  })
  const file = await app.get('/api/v1/files/local/acme/damaged?path=a.md')
  expect([file.status, file.json.error.code]).toEqual([503, 'index.failed'])
  expect(file.json.error.retryAfter).toBeGreaterThan(0)
  expect(file.json.error.retryAfter).toBeLessThanOrEqual(30)
  expect(await app.index()).toBe(0)
  app.advanceClock(31)
  expect(await app.ask('browse', '/local/acme/damaged')).toEqual({ status: 'indexing', commit })
  expect(await app.index()).toBe(1)
})

test('the error of a shortened hash asks for all 40 digits', async () => {
  const messageOf = async (ref: string) => (await app.get(`/api/v1/mounts/local/acme/handbook@${ref}`)).json.error.message
  expect(await messageOf('0123456')).toMatch(/all 40 digits/)
  expect(await messageOf('0123ABC'.padEnd(39, '0'))).toMatch(/all 40 digits/)
  for (const ref of ['012345', '0123456g', '0'.repeat(40)]) expect(await messageOf(ref)).not.toMatch(/40 digits/)
})

test.for([
  ['/local/acme/nothing', 404, 'mount.repo_not_found'],
  ['/local/nobody/handbook', 404, 'mount.repo_not_found'],
  ['/local/acme/handbook@nothing', 404, 'mount.ref_not_found'],
  [`/local/acme/handbook@${'0'.repeat(40)}`, 404, 'mount.ref_not_found'],
  ['/local/acme/empty', 404, 'mount.ref_not_found'],
  ['/gh/acme/handbook', 400, 'address.unknown_host'],
  ['/', 400, 'address.incomplete'],
  ['/local', 400, 'address.incomplete'],
  ['/local/acme', 400, 'address.incomplete'],
  ['/local//handbook', 400, 'address.incomplete'],
  ['/local/acme/@v1', 400, 'address.incomplete'],
  ['/local/.acme/handbook', 400, 'address.invalid_owner'],
  ['/local/acme/hand%20book', 400, 'address.invalid_repository'],
  ['/local/acme/handbook.git', 400, 'address.invalid_repository'],
  ['/local/acme/handbook@', 400, 'address.invalid_ref'],
  ['/local/acme/handbook@a..b', 400, 'address.invalid_ref'],
  ['/local/acme/handbook/a//b', 400, 'address.invalid_path'],
  ['/local/acme/handbook/a%2Fb', 400, 'address.invalid_path'],
  ['/local/acme/handbook/a%00', 400, 'address.invalid_path'],
  ['/local/acme/handbook/a%5Cb', 400, 'address.invalid_path'],
  ['/local/acme/handbook/%ZZ', 400, 'address.invalid_escape'],
  ['/local/acme/handbook/%FF', 400, 'address.invalid_escape'],
  ['/local/acme/handbook/%', 400, 'address.invalid_escape'],
  [`/local/acme/handbook/${'a/'.repeat(70)}`, 400, 'address.too_long'],
  [`/local/acme/handbook/${'a'.repeat(2100)}`, 400, 'address.too_long'],
] as const)('%s answers %i %s on every route, with any query', async ([address, status, code]) => {
  for (const route of ['mounts', 'browse', 'find', 'skills', 'files']) {
    const query = { find: '?query=x', skills: '?path=x', files: '?path=x' }[route] ?? ''
    const answer = await app.get(`/api/v1/${route}${address}${query}`)
    expect([route, answer.status, answer.json.error.code]).toEqual([route, status, code])
    if (status === 400) expect((await app.get(`/api/v1/${route}${address}?limit=x`)).json.error.code).toBe(code)
  }
})

test('a private repository is missing for visitors who are not signed in', async () => {
  const repository = await app.repositories.create('acme', 'private')
  const commit = await repository.commit({ LICENSE: MIT, 'a.md': '# A\n' })
  await app.open('/local/acme/private')
  await writeFile(join(repository.gitDir, 'mountglass-private'), '')
  const missing = await app.get('/api/v1/mounts/local/acme/nothing')
  for (const url of [
    ...['mounts', 'browse'].map(route => `/api/v1/${route}/local/acme/private`),
    '/api/v1/files/local/acme/private?path=a.md',
    `/git/local/acme/private/raw/${commit}/a.md`,
  ]) {
    const answer = await app.get(url)
    expect([url, answer.status, answer.json]).toEqual([url, 404, missing.json])
  }
})

test('a repository that the deployment denies is not served through a link or a worktree inside its folder', async () => {
  const rule = (pattern: string) => parseRepositoryRule(pattern) ?? (() => false)
  const only = await testApp(
    { 'acme/open': { 'a.md': '# A\n' }, 'acme/closed': { 'a.md': '# Secret\n' } },
    { deps: deps => ({ ...deps, deny: [rule('local/*/closed')] }) },
  )
  try {
    const at = (...path: string[]) => join(only.repositories.root, ...path)
    const { gitDir } = only.repository('acme/closed')
    await symlink(gitDir, at('acme', 'alias'))
    await symlink(at('acme'), at('other'))
    await only.repository('acme/closed').git('worktree', 'add', '--quiet', '--detach', at('acme', 'tree'), 'main')
    for (const name of ['acme/alias', 'other/alias', 'acme/tree', 'other/closed']) {
      const answer = await only.get(`/api/v1/mounts/local/${name}`)
      expect([name, answer.status, answer.json.error?.code]).toEqual([name, 403, 'mount.not_allowed'])
    }
    expect((await only.get('/api/v1/mounts/local/other/open')).json.repository).toMatchObject({ owner: 'acme', name: 'open' })
  } finally {
    await only.close()
  }
})

test('allow and deny rules decide before the host is asked', async () => {
  const rule = (pattern: string) => parseRepositoryRule(pattern) ?? (() => false)
  const only = await testApp(
    { 'acme/open': { 'a.md': '# A\n' }, 'acme/closed': { 'a.md': '# A\n' } },
    { deps: deps => ({ ...deps, allow: [rule('local/acme/*')], deny: [rule('local/acme/closed')] }) },
  )
  try {
    expect((await only.get('/api/v1/mounts/local/acme/open')).status).toBe(200)
    for (const name of ['acme/closed', 'other/open', 'other/nothing']) {
      const answer = await only.get(`/api/v1/mounts/local/${name}`)
      expect([answer.status, answer.json.error.code]).toEqual([403, 'mount.not_allowed'])
    }
  } finally {
    await only.close()
  }
})

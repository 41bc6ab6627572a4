import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { joinFile, joinSkill, walkFolders } from '#test/support/joined.ts'
import { expectedContext } from '#test/support/oracle.ts'
import { type Reference, serveReference } from '#test/support/reference.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'

describe.each(['local', 'gh'])('the reference repository at the host %s, from a first visit to the last byte', segment => {
  const address = `/${segment}/mountglass/handbook`
  let reference: Reference
  let service: Service

  beforeAll(async () => {
    reference = await serveReference()
    // As `npm start` serves it, and as GitHub would.
    service = await startService(segment === 'local' ? {} : reference.settings)
  })
  afterAll(async () => {
    await service.stop()
    await reference.close()
  })

  test('opening it starts indexing, and it becomes ready', async () => {
    const mount = await service.get('mounts', address)
    expect(mount).toMatchObject({
      address,
      ref: null,
      pinned: false,
      path: '',
      index: { status: 'ready', truncated: false, manifest: { path: 'SKILLSET.md' } },
    })
    const pinned = await service.get('mounts', `${address}@${mount.commit}`)
    expect(pinned).toMatchObject({ commit: mount.commit, pinned: true, ref: mount.commit })
    expect(await service.get('mounts', `${address}@v1`)).toMatchObject({ commit: mount.commit, pinned: false, ref: 'v1' })
  })

  test('the joined pages of every skill are the texts of git, in the order of the contract', async () => {
    const mount = await service.get('mounts', address)
    if (mount.index.status !== 'ready') throw new Error('not ready')
    const full = mount.index.skills.filter(skill => !skill.describedOnly)
    expect(full.length).toBeGreaterThanOrEqual(8)
    let longest = 0
    for (const { path } of full) {
      const joined = await joinSkill(service, `${address}@${mount.commit}`, path)
      const expected = expectedContext(reference.gitDir, mount.commit, path)
      expect(joined.rules, path).toEqual(expected.rules)
      expect(joined.body, path).toBe(expected.body)
      expect(joined.includes, path).toEqual(expected.includes)
      expect(joined.complete, path).toBe(true)
      expect(joined.order, path).toEqual([...joined.order].sort((left, right) => ORDER.indexOf(left) - ORDER.indexOf(right)))
      longest = Math.max(longest, joined.pages)
    }
    expect(longest).toBeGreaterThan(1)
  })

  test('a skill whose license permits no copy is described, and nothing more', async () => {
    const mount = await service.get('mounts', address)
    if (mount.index.status !== 'ready') throw new Error('not ready')
    const described = mount.index.skills.find(skill => skill.describedOnly)
    if (!described) throw new Error('the handbook has no such skill')
    const answer = await service.get('skills', address, { path: described.path })
    expect(answer).toMatchObject({
      complete: true,
      nextCursor: null,
      skill: { body: '', bodyFragment: null, serving: { full: false } },
    })
    expect(answer).not.toHaveProperty('skill.ruleChain')
    expect(answer).not.toHaveProperty('skill.files')
    expect(await service.getError('files', address, { path: described.path })).toEqual({ status: 403, code: 'file.not_served' })
  })

  test('nothing of an excluded folder is named anywhere', async () => {
    const entries = await walkFolders(service, address)
    expect(entries.filter(entry => /draft|private/.test(entry.path)).map(entry => entry.path)).toEqual([
      'writing/policy/exclude-drafts',
      'writing/policy/exclude-drafts/SKILL.md',
    ])
    expect(await service.getError('files', address, { path: 'drafts/README.md' })).toEqual({
      status: 404,
      code: 'file.not_found',
    })
    expect(await service.getError('skills', address, { path: 'drafts/teach-a-crowd/SKILL.md' })).toEqual({
      status: 404,
      code: 'skill.not_found',
    })
    expect(await service.getError('mounts', `${address}/drafts`)).toEqual({ status: 404, code: 'mount.path_not_found' })
    expect(await service.getError('browse', address, { path: 'drafts' })).toEqual({ status: 404, code: 'mount.path_not_found' })
  })
})

describe.each(['local', 'gh'])('repositories of the host %s', segment => {
  let repositories: TestRepositories
  let repository: TestRepository
  let github: FakeGitHub
  let settings: Record<string, string>
  let service: Service
  const address = `/${segment}/acme/tools`

  beforeAll(async () => {
    repositories = await createRepositories()
    repository = await repositories.create('acme', 'tools')
    await repository.commit(FILES)
    github = await startFakeGitHub({ root: repositories.root })
    const token = github.personalToken(github.user('reader'), [])
    settings = { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, ...github.settings({ token }) }
    service = await startService(settings)
  })
  afterAll(async () => {
    await service.stop()
    expect(github.mistakes).toEqual([])
    await github.close()
    await repositories.remove()
  })

  test('a default branch, a tag, a branch with a slash, a full hash and a folder each open', async () => {
    const main = await service.get('mounts', address)
    const other = await repository.commit({ 'docs/new.md': '# New\n' }, { branch: 'feature/x' })
    await repository.tag('v1', main.commit, { annotated: true })
    expect(main).toMatchObject({ ref: null, pinned: false, address })
    expect(await service.get('mounts', `${address}@v1`)).toMatchObject({ ref: 'v1', commit: main.commit })
    expect(await service.get('mounts', `${address}@feature%2Fx`)).toMatchObject({
      ref: 'feature/x',
      commit: other,
      address: `${address}@feature%2Fx`,
    })
    expect(await service.get('mounts', `${address}@${other}`)).toMatchObject({ pinned: true, commit: other })
    expect(await service.get('mounts', `${address}/skills/`)).toMatchObject({ path: 'skills', address: `${address}/skills` })
    expect(await service.getError('mounts', `${address}@feature/x`)).toEqual({ status: 404, code: 'mount.ref_not_found' })
    expect(await service.getError('mounts', `${address}/nowhere`)).toEqual({ status: 404, code: 'mount.path_not_found' })
    expect(await service.getError('mounts', `${address}/docs/guide.md`)).toEqual({ status: 404, code: 'mount.path_not_found' })
  })

  test('browse walks to every eligible file, at any page size, and to nothing else', async () => {
    const expected = ['docs/guide.md', 'docs/猫.md', 'shared.md', 'skills/emoji/SKILL.md', 'skills/emoji/data.txt']
    for (const limit of [1, 2, 200]) {
      const entries = await walkFolders(service, address, undefined, limit)
      expect(entries.filter(entry => entry.kind === 'file').map(entry => entry.path)).toEqual(expected)
    }
  })

  test('the joined pages of every file are its bytes, wherever the pages end', async () => {
    for (const [path, content] of Object.entries(FILES)) {
      if (!/^(?:docs|skills)\//.test(path)) continue
      for (const limit of [1, 2, 3, 7, 100_000]) {
        if (content.length / limit > 400) continue
        expect(await joinFile(service, address, path, limit), `${path} by ${limit}`).toBe(content)
      }
    }
  })

  test('skill pages never split a character, for any text at their ends', async () => {
    const joined = await joinSkill(service, address, 'skills/emoji/SKILL.md')
    const expected = expectedContext(repository.gitDir, (await service.get('mounts', address)).commit, 'skills/emoji/SKILL.md')
    expect(joined.pages).toBeGreaterThan(3)
    expect({ rules: joined.rules, body: joined.body, includes: joined.includes }).toEqual(expected)
  })

  test('a cursor ends with its snapshot: when the branch moves, paging restarts', async () => {
    const path = 'skills/emoji/SKILL.md'
    const before = await service.get('mounts', address)
    const page = await service.get('skills', address, { path })
    const cursor = page.status === 'ready' ? page.nextCursor : null
    if (!cursor) throw new Error('no second page')
    await repository.commit({ 'docs/moved.md': '# Moved\n' })
    // A host is asked once a minute by all processes of a store together; with a store of its own, one asks at once.
    const later = segment === 'local' ? service : await startService(settings)
    const after = await later.get('mounts', address)
    expect(after.commit).not.toBe(before.commit)
    expect(await later.getError('skills', address, { path, cursor })).toEqual({ status: 400, code: 'request.invalid' })
    expect(await later.get('skills', `${address}@${before.commit}`, { path })).toMatchObject({ commit: before.commit })
    if (later !== service) await later.stop()
  })

  test('a folder that is no repository is not found, and an empty repository has no ref', async () => {
    await repositories.create('acme', 'empty')
    expect(await service.getError('mounts', `/${segment}/acme/nothing`)).toEqual({ status: 404, code: 'mount.repo_not_found' })
    expect(await service.getError('mounts', `/${segment}/acme/empty`)).toEqual({ status: 404, code: 'mount.ref_not_found' })
    expect(await service.getError('mounts', `${address}@nowhere`)).toEqual({ status: 404, code: 'mount.ref_not_found' })
    expect(await service.getError('mounts', `${address}@${'0'.repeat(40)}`)).toEqual({ status: 404, code: 'mount.ref_not_found' })
  })

  test('a repository that cannot be indexed fails with its code, and the process continues', async () => {
    const bomb = await repositories.create('acme', 'bomb')
    let tree = await bomb.rawTree([{ mode: '100644', name: 'f', oid: await bomb.writeBlob('x') }])
    for (let level = 0; level < 10; level++) {
      tree = await bomb.rawTree(Array.from({ length: 10 }, (_, item) => ({ mode: '40000', name: `d${item}`, oid: tree })))
    }
    await bomb.commitTree(tree)
    const mount = await service.get('mounts', `/${segment}/acme/bomb`)
    expect(mount.index).toMatchObject({ status: 'failed', errorCode: 'index.too_large' })
    expect(await service.get('browse', `/${segment}/acme/bomb`)).toMatchObject({ status: 'failed', errorCode: 'index.too_large' })
    expect(await service.getError('files', `/${segment}/acme/bomb`, { path: 'a.md' })).toEqual({
      status: 503,
      code: 'index.failed',
    })
    expect(await service.get('mounts', address)).toMatchObject({ index: { status: 'ready' } })
  })
})

const ORDER = ['rule', 'body', 'include']
const WIDE = '🙂👩‍👩‍👧‍👦é猫e\u0301ab\r\n'
const FILES: Record<string, string> = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': `---\nname: Tools\ninclude: [shared.md]\n---\n\n${'Règle 規則 🙂 '.repeat(700)}\n\n`,
  'shared.md': '猫'.repeat(9_000),
  'docs/guide.md': `# Guide\n\n${WIDE.repeat(20)}`,
  'docs/猫.md': '\uFEFF# 猫\n',
  'skills/emoji/SKILL.md': `---\nname: emoji\ndescription: Wide characters.\n---\n${WIDE.repeat(900)}`,
  'skills/emoji/data.txt': WIDE,
  'src/main.ts': 'export {}\n',
}

import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { simpleAccount } from '#test/support/fake-github/bodies.ts'
import {
  authorizationPayload,
  installationPayload,
  pushPayload,
  repositoryPayload,
  selectionPayload,
  signDelivery,
} from '#test/support/fake-github/webhooks.ts'
import { ADDRESS, app, hookApp, mount, post, push, repository, tell, useHookScene } from './support/hook-scene.ts'

useHookScene()

describe('a push', () => {
  test('to a branch that was opened before is indexed at once, and shown to the next visitor', async () => {
    await app.open(ADDRESS)
    app.github.log.clear()
    const { after, answer } = await push({ 'docs/guide.md': '# Guide\n\nTwo.\n' })
    expect(answer.status).toBe(202)
    expect(await app.index()).toBe(1)
    expect((await mount()).json).toMatchObject({ commit: after, index: { status: 'ready', indexedAt: expect.any(String) } })
    expect(app.github.log.lines.filter(line => line.includes('/commits/'))).toHaveLength(1)
  })

  test('to the default branch appears on the page of its owner, whether its commit is new or indexed already', async () => {
    const skills = async () => (await app.get('/api/v1/owners/gh/acme')).json.indexed[0]?.index.counts.skills
    const skill = (name: string) => `---\nname: ${name}\ndescription: The ${name} one.\n---\nDo it.\n`
    await app.open(ADDRESS)
    await push({ 'skills/one/SKILL.md': skill('one') })
    expect(await app.index()).toBe(1)
    expect(await skills()).toBe(1)

    const skillsOfNext = { 'skills/two/SKILL.md': skill('two'), 'skills/three/SKILL.md': skill('three') }
    const next = await app.repository('acme/tools').commit(skillsOfNext, { branch: 'next' })
    await app.open(`${ADDRESS}@next`)
    expect(await skills()).toBe(1)
    await app.repository('acme/tools').git('update-ref', 'refs/heads/main', next)
    const merged = { ref: 'refs/heads/main', before: app.commitOf('acme/tools'), after: next }
    await tell('push', await pushPayload(app.github.scene, repository, merged, null))
    expect(await app.index()).toBe(0)
    expect(await skills()).toBe(2)
  })

  test('is for the branch by its name as for the default branch', async () => {
    await app.open(`${ADDRESS}@main`)
    await push({ 'docs/guide.md': 'Two.' })
    expect(await app.index()).toBe(1)
  })

  test('to a ref that was never opened indexes nothing', async () => {
    await push({ 'docs/guide.md': 'Two.' })
    expect(await app.index()).toBe(0)
    await app.open(ADDRESS)
    await push({ 'docs/guide.md': 'Three.' }, { branch: 'side' })
    expect(await app.index()).toBe(0)
    expect((await mount(`${ADDRESS}@side`)).json.index.status).toBe('indexing')
  })

  test('that deletes a branch makes it missing for everybody', async () => {
    const side = await app.repository('acme/tools').commit({ 'side.md': 'Side.' }, { branch: 'side' })
    await app.open(`${ADDRESS}@side`)
    await app.repository('acme/tools').git('update-ref', '-d', 'refs/heads/side')
    const gone = { ref: 'refs/heads/side', before: side, after: null }
    await tell('push', await pushPayload(app.github.scene, repository, gone, null))
    expect(await app.index()).toBe(0)
    expect((await mount(`${ADDRESS}@side`)).json.error.code).toBe('mount.ref_not_found')
  })

  test('of a tag indexes the commit behind it', async () => {
    const tools = app.repository('acme/tools')
    await tools.tag('v1', app.commitOf('acme/tools'), { annotated: true })
    await app.open(`${ADDRESS}@v1`)
    const after = await tools.commit({ 'docs/guide.md': 'Two.' })
    await tools.git('tag', '--force', '--annotate', '--message=v1', 'v1', after)
    await tell('push', {
      ...(await pushPayload(
        app.github.scene,
        repository,
        { ref: 'refs/tags/v1', before: app.commitOf('acme/tools'), after },
        null,
      )),
      after: await tools.git('rev-parse', 'refs/tags/v1'),
    })
    expect(await app.index()).toBe(1)
    expect((await mount(`${ADDRESS}@v1`)).json).toMatchObject({ commit: after, index: { status: 'ready' } })
  })

  test('that is delivered twice has no effect the second time', async () => {
    await app.open(ADDRESS)
    const { payload } = await push({ 'docs/guide.md': 'Two.' }, { id: 'one' })
    expect(await app.index()).toBe(1)
    expect((await mount()).status).toBe(200)
    app.github.log.clear()
    expect((await tell('push', payload, { id: 'one' })).status).toBe(204)
    expect(await app.index()).toBe(0)
    expect((await mount()).status).toBe(200)
    expect(app.github.log.all).toEqual([])
    // Nobody has signed the id, so under another one it is the same message.
    expect((await tell('push', payload, { id: 'two' })).status).toBe(204)
    // One that tells the same, as another replica hears it, does no harm.
    expect((await tell('push', { ...payload, compare: '' }, { id: 'two' })).status).toBe(202)
    expect(await app.index()).toBe(0)
  })

  test('to a repository that is private by now indexes nothing', async () => {
    await app.open(ADDRESS)
    repository.visibility = 'private'
    await push({ 'docs/guide.md': 'Two.' })
    expect(await app.index()).toBe(0)
  })

  test('to a repository that this deployment refuses indexes nothing', async () => {
    await app.open(ADDRESS)
    app.deps.deny = [({ repository: name }) => name === 'tools']
    await push({ 'docs/guide.md': 'Two.' })
    expect(await app.index()).toBe(0)
  })

  test('to a repository that the host hides indexes nothing, although the message calls it public', async () => {
    await app.open(ADDRESS)
    const before = app.commitOf('acme/tools')
    const after = await app.repository('acme/tools').commit({ 'docs/guide.md': 'Two.' })
    const payload = await pushPayload(app.github.scene, repository, { ref: 'refs/heads/main', before, after }, null)
    repository.visibility = 'private'
    await tell('push', payload)
    expect(await app.index()).toBe(0)
  })

  test('while the host is down is indexed, and known commits are still served', async () => {
    await app.open(ADDRESS)
    app.github.faults.add({ reset: true, times: 99 })
    const { after } = await push({ 'docs/guide.md': 'Two.' })
    const { status, json } = await mount()
    expect([status, json.commit === after, json.index.status]).toEqual([200, false, 'ready'])
    app.github.faults.clear()
    expect(await app.index()).toBe(1)
    app.advanceClock(61)
    expect((await mount()).json).toMatchObject({ commit: after, index: { status: 'ready' } })
  })
})

describe('pushes that arrive out of order', () => {
  const skill = (name: string) => ({
    [`skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: The ${name} one.\n---\nDo it.\n`,
  })
  const listed = async () => (await app.get('/api/v1/owners/gh/acme')).json.indexed[0]?.index.counts.skills

  async function pushTwice() {
    const before = app.commitOf('acme/tools')
    const tools = app.repository('acme/tools')
    const first = await tools.commit(skill('one'))
    const second = await tools.commit(skill('two'))
    const payloadOf = (from: string, to: string) =>
      pushPayload(app.github.scene, repository, { ref: 'refs/heads/main', before: from, after: to }, null)
    return { first, second, older: await payloadOf(before, first), newer: await payloadOf(first, second) }
  }

  test('leave the newer commit on the page of the owner', async () => {
    await app.open(ADDRESS)
    const { first, second, older, newer } = await pushTwice()
    await tell('push', newer)
    await app.index()
    await app.open(`${ADDRESS}@${first}`)
    await app.open(`${ADDRESS}@${second}`)
    expect(await listed()).toBe(2)
    await tell('push', older)
    expect(await app.index()).toBe(0)
    expect(await listed()).toBe(2)
    expect((await mount()).json.commit).toBe(second)
  })

  test('index only the newer commit', async () => {
    await app.open(ADDRESS)
    const { second, older, newer } = await pushTwice()
    await tell('push', newer)
    await tell('push', older)
    expect(await app.index()).toBe(1)
    expect((await mount()).json).toMatchObject({ commit: second, index: { status: 'ready' } })
  })
})

describe('a repository that the host hides is on no route once the message arrives', () => {
  test.each([
    ['privatized', 'repository', () => Object.assign(repository, { visibility: 'private' })],
    ['deleted', 'repository', () => {}],
  ] as const)('%s', async (action, event, hide) => {
    await app.open(ADDRESS)
    const commit = app.commitOf('acme/tools')
    await mount(`${ADDRESS}@${commit}`)
    expect((await app.get('/api/v1/owners/gh/acme')).body).toContain('acme/tools')
    hide()
    const payload = await repositoryPayload(app.github.scene, repository, action, null)
    if (action === 'deleted') app.github.world.remove(repository)
    expect((await tell(event, payload)).status).toBe(202)
    for (const url of [
      `mounts${ADDRESS}`,
      `mounts${ADDRESS}@${commit}`,
      `browse${ADDRESS}@main`,
      `find${ADDRESS}?query=guide`,
      `files${ADDRESS}?path=docs/guide.md`,
    ]) {
      expect((await app.get(`/api/v1/${url}`)).json.error.code, url).toBe('mount.repo_not_found')
    }
    expect((await app.get('/api/v1/owners/gh/acme')).body).not.toContain('acme/tools')
  })

  test('even if the host was being asked at that moment', async () => {
    await app.open(ADDRESS)
    app.advanceClock(61)
    app.github.log.clear()
    app.github.faults.add({ delaySeconds: 0.2, times: 1, match: { host: 'api' } })
    const before = mount()
    while (app.github.log.all.length === 0) await setImmediate()
    const payload = await repositoryPayload(app.github.scene, repository, 'privatized', null)
    repository.visibility = 'private'
    await tell('repository', payload)
    await before
    expect((await mount()).status).toBe(404)
  })

  test('even on a page of its owner that was being fetched from the host at that moment', async () => {
    app.github.faults.add({ delaySeconds: 0.2, times: 1, match: { host: 'api', path: /\/repos\?/ } })
    const before = app.get('/api/v1/owners/gh/acme')
    while (!app.github.log.all.some(({ path }) => path.includes('/repos?'))) await setImmediate()
    const payload = await repositoryPayload(app.github.scene, repository, 'privatized', null)
    await tell('repository', payload)
    await before
    repository.visibility = 'private'
    const { repositories } = (await app.get('/api/v1/owners/gh/acme')).json
    expect(repositories.map(({ name }: { name: string }) => name)).toEqual(['other'])
  })
})

test('a repository that becomes public is found at once, and one that is renamed under its new name', async () => {
  repository.visibility = 'private'
  expect((await mount()).status).toBe(404)
  repository.visibility = 'public'
  await tell('public', await repositoryPayload(app.github.scene, repository, null, null))
  expect((await mount()).status).toBe(200)
  app.github.world.rename(repository, { name: 'Kit' })
  const changes = { changes: { repository: { name: { from: 'tools' } } } }
  await tell('repository', await repositoryPayload(app.github.scene, repository, 'renamed', null, changes))
  for (const address of [ADDRESS, '/gh/acme/kit']) expect((await mount(address)).json.address).toBe('/gh/acme/Kit')
})

test('a repository that becomes public is on the page of its owner at once, also if that had none before', async () => {
  const shown = async () => (await app.get('/api/v1/owners/gh/acme')).json.repositories.map(({ name }: { name: string }) => name)
  for (const name of ['tools', 'other']) await app.github.shown('acme', name, { visibility: 'private' })
  expect(await shown()).toEqual([])
  repository.visibility = 'public'
  await tell('public', await repositoryPayload(app.github.scene, repository, null, null))
  expect(await shown()).toEqual(['tools'])
})

test('an installation that is added, removed or changed has its repositories looked up again', async () => {
  const other = await app.github.shown('acme', 'other')
  const installation = app.github.install(hookApp, app.github.organization('acme'), { selection: 'all' })
  const messages = [
    ['installation', await installationPayload(app.github.scene, installation, 'deleted')],
    ['installation_repositories', selectionPayload(app.github.scene, installation, 'removed', [repository, other])],
  ] as const
  for (const [event, payload] of messages) {
    await mount()
    app.github.log.clear()
    expect((await tell(event, payload)).status).toBe(202)
    await mount()
    expect(app.github.log.lines[0]).toMatch(/^POST \/acme\/tools\.git\/git-upload-pack 200/)
    expect(app.github.log.lines[1]).toMatch(/^GET \/repos\/acme\/tools 200/)
  }
})

test.each(['suspend', 'unsuspend'])(
  'an installation that the owner %ss has the repositories of the account looked up again',
  async action => {
    const installation = app.github.install(hookApp, app.github.organization('acme'), { selection: 'all' })
    await mount()
    app.github.log.clear()
    const payload = { ...(await installationPayload(app.github.scene, installation, action)), repositories: [] }
    expect((await tell('installation', payload)).status).toBe(202)
    await mount()
    expect(app.github.log.lines.some(line => line.startsWith('GET /repos/acme/tools 200'))).toBe(true)
  },
)

test('a collaborator who is added or removed has the repository looked up again', async () => {
  await mount()
  app.github.log.clear()
  const member = app.github.user('ada')
  const payload = await repositoryPayload(app.github.scene, repository, 'removed', null, {
    member: simpleAccount(app.github.scene, member),
  })
  expect((await tell('member', payload)).status).toBe(202)
  await mount()
  expect(app.github.log.lines.some(line => line.startsWith('GET /repos/acme/tools 200'))).toBe(true)
})

test('messages of other kinds are taken and change nothing', async () => {
  await app.open(ADDRESS)
  app.github.log.clear()
  const person = app.github.user('ada')
  expect((await tell('github_app_authorization', authorizationPayload(app.github.scene, person))).status).toBe(202)
  const ping = { headers: { 'x-github-event': 'ping' } }
  const signed = signDelivery(hookApp, 'github_app_authorization', authorizationPayload(app.github.scene, person))
  expect((await post({ ...signed, headers: { ...signed.headers, ...ping.headers } })).status).toBe(204)
  expect((await mount()).status).toBe(200)
  expect(app.github.log.all).toEqual([])
})

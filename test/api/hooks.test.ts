import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  authorizationPayload,
  type Delivery,
  type DeliveryOptions,
  installationPayload,
  pushPayload,
  repositoryPayload,
  selectionPayload,
  signDelivery,
} from '#test/support/fake-github/webhooks.ts'
import type { App, Repository } from '#test/support/fake-github/world.ts'
import { type Answer, type TestApp, testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'

const ADDRESS = '/gh/acme/tools'
const FILES = { 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# Guide\n\nOne.\n' }

let app: TestApp
let hookApp: App
let repository: Repository

beforeEach(async () => {
  app = await testApp({ 'acme/tools': FILES, 'acme/other': FILES }, { github: { withToken: true } })
  hookApp = app.github.app('hooks', { owner: app.github.organization('acme'), webhookSecret: WEBHOOK_SECRET })
  repository = await app.github.shown('acme', 'tools')
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

const mount = (address = ADDRESS): Promise<Answer> => app.get(`/api/v1/mounts${address}`)

function post({ headers, body }: Delivery, more: Record<string, string> = {}): Promise<Answer> {
  return app.get('/hooks/github', { method: 'POST', headers: { ...headers, ...more }, payload: body })
}

async function tell(event: string, payload: object, options: DeliveryOptions = {}): Promise<Answer> {
  return post(signDelivery(hookApp, event, payload as Parameters<typeof signDelivery>[2], options))
}

/** Commits to a branch, and has the host tell of it. */
async function push(files: Record<string, string>, options: { branch?: string; id?: string } = {}) {
  const { branch = 'main', ...delivery } = options
  const before = app.commitOf('acme/tools')
  const after = await app.repository('acme/tools').commit(files, { branch })
  const payload = await pushPayload(app.github.scene, repository, { ref: `refs/heads/${branch}`, before, after }, null)
  const answer = await tell('push', payload, delivery)
  return { after, payload, answer }
}

describe('a push', () => {
  test('of a branch that somebody has opened is indexed at once, and shown to the next visitor', async () => {
    await app.open(ADDRESS)
    const { after, answer } = await push({ 'docs/guide.md': '# Guide\n\nTwo.\n' })
    expect(answer.status).toBe(202)
    app.github.log.clear()
    expect(await app.index()).toBe(1)
    expect(app.github.log.rest).toEqual([])
    expect((await mount()).json).toMatchObject({ commit: after, index: { status: 'ready', indexedAt: expect.any(String) } })
    expect(app.github.log.lines.filter(line => line.includes('/commits/'))).toHaveLength(1)
  })

  test('of the default branch is on the page of its owner, whether its commit had to be indexed or was', async () => {
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

  test('of what nobody has opened indexes nothing', async () => {
    await push({ 'docs/guide.md': 'Two.' })
    expect(await app.index()).toBe(0)
    await app.open(ADDRESS)
    await push({ 'docs/guide.md': 'Three.' }, { branch: 'side' })
    expect(await app.index()).toBe(0)
    expect((await mount(`${ADDRESS}@side`)).json.index.status).toBe('indexing')
  })

  test('that deletes a branch shows it to nobody any more', async () => {
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

  test('that comes twice does nothing the second time', async () => {
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

  test('while the host cannot be asked goes on showing what is known', async () => {
    await app.open(ADDRESS)
    app.github.faults.add({ reset: true, times: 9, match: { host: 'api' } })
    const { after } = await push({ 'docs/guide.md': 'Two.' })
    const { status, json } = await mount()
    expect([status, json.commit === after, json.index.status]).toEqual([200, false, 'ready'])
  })
})

describe('what the host stops to show is on no route from the message on', () => {
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

  test('also when the host was being asked just then', async () => {
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

  test('also of the page of its owner, when the host was being asked for it just then', async () => {
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

test('installations that come, go or reach something else have their repositories looked up anew', async () => {
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
    expect(app.github.log.lines[0]).toMatch(/^GET \/repos\/acme\/tools 200/)
  }
})

test('messages of other kinds are taken and change nothing', async () => {
  await app.open(ADDRESS)
  app.github.log.clear()
  const person = app.github.user('ada')
  expect((await tell('github_app_authorization', authorizationPayload(app.github.scene, person))).status).toBe(204)
  const ping = { headers: { 'x-github-event': 'ping' } }
  const signed = signDelivery(hookApp, 'github_app_authorization', authorizationPayload(app.github.scene, person))
  expect((await post({ ...signed, headers: { ...signed.headers, ...ping.headers } })).status).toBe(204)
  expect((await mount()).status).toBe(200)
  expect(app.github.log.all).toEqual([])
})

describe('a message', () => {
  const signed = async (options: DeliveryOptions = {}) =>
    signDelivery(hookApp, 'public', await repositoryPayload(app.github.scene, repository, null, null), options)

  test.each([
    ['with a signature of another secret', async () => signed({ secret: 'of somebody else' })],
    ['that was changed on the way', async () => ({ ...(await signed()), body: '{}' })],
    [
      'with the old signature alone',
      async () => {
        const delivery = await signed()
        return { ...delivery, headers: { ...delivery.headers, 'x-hub-signature-256': '' } }
      },
    ],
    ['with a signature of no such form', async () => ({ headers: { 'x-hub-signature-256': 'sha256=0' }, body: '{}' })],
    ['without a body', async () => ({ ...(await signed()), body: '' })],
  ] as [string, () => Promise<Delivery>][])('%s is refused', async (_, delivery) => {
    expect(await post(await delivery())).toMatchObject({ status: 401, json: { error: { code: 'hook.forged' } } })
  })

  test('with a right signature that is no such message is refused, and may come again', async () => {
    for (const [event, body] of [
      ['push', '{}'],
      ['push', 'no json'],
      ['repository', '[]'],
      ['installation', '{"repositories":[1]}'],
    ] as const) {
      expect(await post({ headers: headersOf(event, body), body })).toMatchObject({
        status: 400,
        json: { error: { code: 'request.invalid' } },
      })
    }
  })

  test('that is too long is refused before it is read whole', async () => {
    const delivery = await signed()
    const answer = await post({ ...delivery, body: ' '.repeat(5 * 1024 * 1024) })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'request.invalid' } } })
  })

  test('of many bytes waits for others that are being read; a short one does not', async () => {
    const body = JSON.stringify({ repository: { id: 1, full_name: 'acme/tools' }, padding: 'x'.repeat(100_000) })
    const long = { headers: headersOf('public', body), body }
    for (let turn = 0; turn < 20; turn++) expect((await post(long)).status).toBe(turn === 0 ? 202 : 204)

    await app.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.app.server.address() as AddressInfo
    const begun = await Promise.all(Array.from({ length: 16 }, () => beginMessage(port)))
    try {
      expect(await post(long)).toMatchObject({ status: 503, json: { error: { code: 'hook.busy', retryAfter: 1 } } })
      expect((await post(await signed())).status).toBe(202)
      begun.pop()?.destroy()
      await vi.waitFor(async () => expect((await post(long)).status).toBe(204))
    } finally {
      for (const socket of begun) socket.destroy()
    }
  })

  test('has no route where no secret is set, and no other method', async () => {
    const plain = await testApp({ 'acme/tools': FILES })
    expect((await plain.get('/hooks/github', { method: 'POST', headers: {}, payload: '{}' })).status).toBe(404)
    await plain.close()
    expect((await app.get('/hooks/github')).status).toBe(404)
  })
})

function headersOf(event: string, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': 'again',
    'x-hub-signature-256': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
  }
}

/** Says that a long message follows, which never comes. Resolves when the service waits for it. */
async function beginMessage(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  const headers = [
    'host: localhost',
    'content-type: application/json',
    'x-github-event: ping',
    `x-hub-signature-256: sha256=${'0'.repeat(64)}`,
    'content-length: 4000000',
    'expect: 100-continue',
  ]
  socket.write(`POST /hooks/github HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  const [said] = await once(socket, 'data')
  expect(String(said)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  return socket
}

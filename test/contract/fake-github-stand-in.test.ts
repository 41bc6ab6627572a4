import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { simpleAccount } from '#test/support/fake-github/bodies.ts'
import { faultOfAnswer, OPERATIONS } from '#test/support/fake-github/schema.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import {
  authorizationPayload,
  installationPayload,
  pushPayload,
  repositoryPayload,
  selectionPayload,
  signDelivery,
} from '#test/support/fake-github/webhooks.ts'
import { until } from '#test/support/until.ts'
import { openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const {
  github,
  repositories,
  work,
  repository,
  commits,
  ada,
  bob,
  secret,
  app,
  installation,
  tokens,
  ask,
  askJson,
  statusOf,
  gitFailure,
} = scene

afterEach(scene.check)
afterAll(scene.close)

describe('the stand-in itself', () => {
  test('a client that gives up is no mistake of the host', async () => {
    const leaving = new AbortController()
    github.faults.add({ delaySeconds: 60 })
    const asked = fetch(`${github.origins.api}/users/ada`, { signal: leaving.signal })
    await until(() => github.log.lines.length > 0)
    expect(github.log.lines).toEqual(['GET /users/ada 0'])
    leaving.abort()
    await expect(asked).rejects.toThrow('aborted')
  })

  test('the program serves a folder, and prints its usage', async () => {
    const program = fileURLToPath(new URL('../support/fake-github/main.ts', import.meta.url))
    const child = spawn(process.execPath, [program, repositories.root, '--port', '0'])
    let output = ''
    child.stdout.on('data', chunk => (output += chunk))
    const ended = once(child, 'exit')
    await until(() => output.includes('An address to begin with: /gh/'))
    expect(output).toMatch(/^Repositories: .*acme\/Tools/m)
    // What it says to type, with something else to start.
    const command = /^ {2}MOUNTGLASS_GITHUB_URL=(?:.|\n)*? {2}npm start$/m.exec(output)?.[0].replace('npm start', 'env') ?? ''
    const printed = execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { PATH: process.env.PATH } })
    const given = Object.fromEntries(
      printed.split('\n').flatMap(line => (line.startsWith('MOUNTGLASS_') ? [line.split('=')] : [])),
    )
    expect(parseInfraSettings(given).github).toMatchObject({ url: expect.any(String), token: expect.stringMatching(/^ghp_/) })
    expect(Object.keys(given)).toHaveLength(3)
    const api = /^MOUNTGLASS_GITHUB_API_URL=(.+)$/m.exec(printed)?.[1]
    expect(await (await fetch(`${api}/repos/acme/tools`)).json()).toMatchObject({ full_name: 'acme/Tools', private: false })
    await until(() => output.includes('api GET /repos/acme/tools 200'))
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('the program refuses a path that is no folder', async () => {
    const program = fileURLToPath(new URL('../support/fake-github/main.ts', import.meta.url))
    const child = spawn(process.execPath, [program, join(work, 'nothing')])
    let output = ''
    child.stderr.on('data', chunk => (output += chunk))
    expect(await once(child, 'close')).toEqual([1, null])
    expect(output).toContain('is not there\nusage: npm run fake-github')
  })

  test('the log has sender, request and bytes of every answer', async () => {
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

  test('a push is signed with the secret of the app, in the documented form', async () => {
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

  test('a repository added to the folder is served, and a removed one is missing', async () => {
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
      server.world.privateMode = true
      expect(await statusOf(`${server.origins.api}/repos/acme/Tools`)).toBe(401)
      expect(await gitFailure(['ls-remote', `${server.origins.web}/acme/Tools`])).toContain('could not read Username')
      const token = server.personalToken(server.user('dora'))
      expect(await statusOf(`${server.origins.api}/user`, { token })).toBe(200)
      server.world.clear()
      expect(await statusOf(`${server.origins.api}/user`, { token })).toBe(401)
      expect(await statusOf(`${server.origins.api}/repos/acme/Tools`)).toBe(200)
    } finally {
      await server.close()
    }
  })
})

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openS3Stores } from '#infra/s3/open.ts'
import { ACTION_FOLDER, makeAction, type TestAction } from '#test/support/action.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { pushPayload } from '#test/support/fake-github/webhooks.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { type Service, startService } from '#test/support/service.ts'
import { bundleAction } from '../../scripts/build-action.mjs'
import { freePort } from '../../scripts/servers/free-port.mjs'

const BROKEN_MANIFEST = '---\nname: [\n---\n'

let action: TestAction
let repositories: TestRepositories
let tools: TestRepository
let github: FakeGitHub
let repository: Repository
let service: Service
let commit: string

beforeAll(async () => {
  action = await makeAction()
  repositories = await createRepositories()
  tools = await repositories.create('acme', 'tools')
  commit = await tools.commit({
    'package.json': '{"license":"MIT"}\n',
    'docs/guide.md': '# Guide\n',
    'skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files\n---\nRead it.\n',
    'broken/SKILLSET.md': BROKEN_MANIFEST,
  })
  github = await startFakeGitHub({ root: repositories.root })
  const found = await github.world.repository('acme', 'tools')
  if (!found) throw new Error('acme/tools is not there')
  repository = found
  service = await startService(github.settings())
})

afterAll(async () => {
  await service?.stop()
  await github?.close()
  await repositories?.remove()
  await action?.remove()
})

function variables(sha: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    GITHUB_REPOSITORY: 'acme/tools',
    GITHUB_REPOSITORY_ID: String(repository.id),
    GITHUB_SHA: sha,
    GITHUB_REF: 'refs/heads/main',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_API_URL: github.origins.api,
    ...more,
  }
}

const push = (after: string) => pushPayload(github.scene, repository, { ref: 'refs/heads/main', before: after, after }, null)

test('prewarm: the commit of a push is indexed when the step ends, and the workflow is told what agents will find', async () => {
  const ran = await action.run({ inputs: { service: service.baseUrl }, env: variables(commit), event: await push(commit) })
  const address = `/gh/acme/tools@${commit}`
  const page = `${service.baseUrl}${address}`
  expect(ran.log).toContain('the commit is being indexed')
  expect(ran.outputs).toEqual({ address, commit, page, skills: '1', documents: '1' })
  expect(ran.log).toMatch(/^::(error|warning) title=manifest\.\w+,file=broken\/SKILLSET\.md::/m)
  expect(ran.summary).toContain(`<a href="${page}">`)
  expect(ran.summary).toContain('broken/SKILLSET.md')
  expect(ran.code).toBe(0)
  const mount = await fetch(`${service.baseUrl}/api/v1/mounts${address}`)
  expect(await mount.json()).toMatchObject({ pinned: true, commit, index: { status: 'ready' } })
  expect(github.mistakes).toEqual([])
})

test('prewarm: a pull request has the last commit of its own repository indexed', async () => {
  const fork = await repositories.create('visitor', 'tools')
  const head = await fork.commit({ 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# Their guide\n' })
  const ran = await action.run({
    inputs: { service: service.baseUrl },
    env: variables('c'.repeat(40), { GITHUB_EVENT_NAME: 'pull_request', GITHUB_REF: 'refs/pull/1/merge' }),
    event: { pull_request: { head: { sha: head, repo: { full_name: 'visitor/tools' } } } },
  })
  expect(ran.outputs).toMatchObject({ address: `/gh/visitor/tools@${head}`, documents: '1' })
  expect(ran.code).toBe(0)
})

test('prewarm: what the deployment does not see is said with its code, and the step fails', async () => {
  const ran = await action.run({
    inputs: { service: service.baseUrl },
    env: variables(commit, { GITHUB_REPOSITORY: 'acme/nothing' }),
    event: await push(commit),
  })
  expect(ran.log).toMatch(/^::error::mount\.repo_not_found: /m)
  expect(ran).toMatchObject({ code: 1, outputs: {}, summary: '' })
})

test('prewarm: a deployment that is not there fails the step when the time is over', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const ran = await action.run({ inputs: { service: nowhere, timeout: '1' }, env: variables(commit), event: await push(commit) })
  expect(ran.log).toMatch(/^::error::not ready after 1 seconds: the deployment cannot be reached/m)
  expect(ran.code).toBe(1)
})

test('prewarm: what a deployment says is no command to the runner', async () => {
  const message = 'busy\n::set-output name=page::https://evil.example\r::stop-commands::x\u2028 #\u200b#[add-mask]a ##[add-mask]b'
  const error = { code: '::add-mask::c', message }
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise(resolve => server.close(() => resolve())))
  const inputs = { service: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeout: '2' }
  const ran = await action.run({ inputs, env: variables(commit), event: await push(commit) })
  expect(ran.log).toContain('waiting: ::add-mask::c: busy')
  // The runner reads no other breaks of lines.
  const lines = ran.log.split(/[\r\n]/).map(line => line.trim())
  const commands = lines.filter(line => line.startsWith('::'))
  expect(commands.map(line => line.slice(0, 9))).toEqual(['::error::'])
  expect(lines.filter(line => !commands.includes(line)).join('\n')).not.toContain('##[')
})

test('prewarm: what is no deployment is told apart', async () => {
  const ran = await action.run({ inputs: { service: github.origins.web }, env: variables(commit), event: await push(commit) })
  expect(ran.log).toMatch(/^::error::/m)
  expect(ran.code).toBe(1)
})

test('an input that is wrong is named', async () => {
  const ran = await action.run({ inputs: {}, env: variables(commit), event: await push(commit) })
  expect(ran.log).toContain('::error::input service: is needed to prewarm')
  expect(ran.code).toBe(1)
})

describe.runIf(hasServer('s3'))('build', () => {
  /** A store of this test alone, on the gateway, without the credentials. */
  async function bucket(): Promise<{ store: string; env: Record<string, string>; credentials: Record<string, string> }> {
    const { MOUNTGLASS_STORE, AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', ...env } = await testServer('s3')
    const store = `${MOUNTGLASS_STORE}/action-${Math.random().toString(36).slice(2)}`
    return { store, env, credentials: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } }
  }

  /** Starts a service that never indexes: what it shows was built elsewhere. */
  async function readerOf(env: Record<string, string>): Promise<Service> {
    const keys = JSON.stringify([{ kid: '1', key: Buffer.alloc(32, 7).toString('base64url') }])
    const reader = await startService({ ...github.settings(), ...env, MOUNTGLASS_INDEXER: 'none', MOUNTGLASS_KEYS: keys })
    onTestFinished(() => reader.stop())
    return reader
  }

  async function clone(...options: string[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'mountglass-clone-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await promisify(execFile)('git', ['clone', '--quiet', ...options, `file://${tools.gitDir}`, folder])
    return folder
  }

  test('the index that a workflow writes, as a role that its token gives it, is what the deployment would have made', async () => {
    const { store, env, credentials } = await bucket()
    const identity = await startIdentity(credentials)
    const reader = await readerOf({ ...env, ...credentials, MOUNTGLASS_STORE: store })
    const workspace = await clone('--depth=1')
    await writeFile(join(workspace, 'docs', 'guide.md'), '# What the workflow did to it\r\n')
    const options = {
      inputs: { mode: 'build', store, role: 'arn:aws:iam::1:role/build', service: reader.baseUrl },
      env: { ...variables(commit), ...env, ...identity.env },
      event: await push(commit),
      workspace,
    }
    const ran = await action.run(options)
    expect(ran.log).toMatch(/^\d+ objects, \d+ bytes written$/m)
    expect(ran.outputs).toMatchObject({ commit, page: `${reader.baseUrl}/gh/acme/tools@${commit}`, skills: '1', documents: '1' })
    expect(ran.code).toBe(0)
    expect(identity.asked).toEqual([
      { audience: 'sts.amazonaws.com', bearer: 'Bearer of-the-run' },
      { action: 'AssumeRoleWithWebIdentity', role: 'arn:aws:iam::1:role/build', token: IDENTITY_TOKEN },
    ])
    // The one line that may hold the token tells the runner to hide it.
    const shown = ran.log.replace(`::add-mask::${IDENTITY_TOKEN}\n`, '') + ran.summary
    for (const secret of [IDENTITY_TOKEN, ...Object.values(credentials)]) expect(shown).not.toContain(secret)

    for (const path of [
      `mounts/gh/acme/tools@${commit}`,
      'mounts/gh/acme/tools',
      `browse/gh/acme/tools@${commit}`,
      `find/gh/acme/tools@${commit}?query=pdf`,
      `skills/gh/acme/tools@${commit}/skills?path=skills/pdf/SKILL.md`,
      `files/gh/acme/tools@${commit}?path=docs/guide.md`,
    ]) {
      const [built, own] = await Promise.all([reader, service].map(({ baseUrl }) => timeless(`${baseUrl}/api/v1/${path}`)))
      expect(built, path).toEqual(own)
    }

    const again = await action.run(options)
    expect(again.log).toContain('already indexed')
    expect(again).toMatchObject({ code: 0, outputs: ran.outputs })
  })

  test('a role goes before credentials that lie in the environment, and one that is not lent is said', async () => {
    const { store, env, credentials } = await bucket()
    const identity = await startIdentity(credentials)
    const { STRANGER_AWS_ACCESS_KEY_ID = '', STRANGER_AWS_SECRET_ACCESS_KEY = '' } = env
    const run = async (role: string) =>
      action.run({
        inputs: { mode: 'build', store, role },
        env: {
          ...variables(commit),
          ...env,
          ...identity.env,
          AWS_ACCESS_KEY_ID: STRANGER_AWS_ACCESS_KEY_ID,
          AWS_SECRET_ACCESS_KEY: STRANGER_AWS_SECRET_ACCESS_KEY,
        },
        event: await push(commit),
        workspace: await clone('--depth=1'),
      })
    const lent = await run('arn:aws:iam::1:role/build')
    expect(lent.log).toMatch(/^\d+ objects, \d+ bytes written$/m)
    expect(lent.code).toBe(0)
    const refused = await run('arn:aws:iam::1:role/of-others')
    expect(refused.log).toMatch(/^::error::the role arn:aws:iam::1:role\/of-others cannot be taken on: .*AccessDenied/m)
    expect(refused.log.replace(`::add-mask::${IDENTITY_TOKEN}\n`, '')).not.toContain(IDENTITY_TOKEN)
    expect(refused).toMatchObject({ code: 1, outputs: {} })
  })

  /** Every key of a store of `bucket()`. */
  async function keysOf(store: string, env: Record<string, string>, credentials: Record<string, string>): Promise<string[]> {
    const [, name = '', prefix = ''] = /^s3:([^/]+)\/(.+)$/.exec(store) ?? []
    const stores = await openS3Stores({
      bucket: name,
      prefix,
      endpoint: env.AWS_ENDPOINT_URL_S3 ?? null,
      region: env.AWS_REGION ?? null,
      credentials: { accessKeyId: credentials.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY ?? '' },
    })
    try {
      return await stores.blobs.list('')
    } finally {
      await stores.close()
    }
  }

  test('a run that is repeated after the repository became private builds it as a private one', async () => {
    const { store, env, credentials } = await bucket()
    const event = await push(commit)
    expect(event).toMatchObject({ repository: { visibility: 'public' } })
    repository.visibility = 'private'
    onTestFinished(() => {
      repository.visibility = 'public'
    })
    const token = github.installationToken(github.install(github.app('actions'), repository.owner))
    const ran = await action.run({
      inputs: { mode: 'build', store, token },
      env: { ...variables(commit), ...env, ...credentials },
      event,
      workspace: await clone(),
    })
    expect(ran.log).toMatch(/^\d+ objects, \d+ bytes written$/m)
    const keys = await keysOf(store, env, credentials)
    expect(keys.filter(key => key.startsWith('prv/'))).not.toEqual([])
    expect(keys.filter(key => !/^(prv|ctl\/\w+\/prv)\//.test(key))).toEqual([])
    expect(github.mistakes).toEqual([])
  })

  test('while GitHub does not say whether the repository is public, nothing is written', async () => {
    const { store, env, credentials } = await bucket()
    const workspace = await clone()
    const run = async () =>
      action.run({
        inputs: { mode: 'build', store },
        env: { ...variables(commit), ...env, ...credentials },
        event: await push(commit),
        workspace,
      })
    github.faults.add({ match: { host: 'api', path: `/repositories/${repository.id}` }, status: 500, times: 2 })
    const down = await run()
    expect(down.log).toMatch(/^::error::GitHub does not say now whether the repository is public \(unavailable\)/m)
    repository.visibility = 'private'
    onTestFinished(() => {
      repository.visibility = 'public'
    })
    const hidden = await run()
    expect(hidden.log).toMatch(/^::error::GitHub shows no repository \d+ to this workflow: the input token has to see it/m)
    for (const { code, outputs } of [down, hidden]) expect({ code, outputs }).toEqual({ code: 1, outputs: {} })
    expect(await keysOf(store, env, credentials)).toEqual([])
  })

  test('a commit is listed for its owner while it is that of the default branch, whatever the event says', async () => {
    const { store, env, credentials } = await bucket()
    const built = async (sha: string) => {
      const ran = await action.run({
        inputs: { mode: 'build', store },
        env: { ...variables(sha, { GITHUB_EVENT_NAME: 'schedule' }), ...env, ...credentials },
        event: { schedule: '0 0 * * *' },
        workspace: await clone(),
      })
      expect(ran.code).toBe(0)
      return (await keysOf(store, env, credentials)).filter(key => key.startsWith('ctl/owner/'))
    }
    const next = await tools.commit({ 'docs/more.md': '# More\n' })
    expect(await built(commit)).toEqual([])
    expect(await built(next)).toHaveLength(1)
  })

  test('a clone that lacks files builds nothing', async () => {
    const { store, env, credentials } = await bucket()
    await promisify(execFile)('git', ['--git-dir', tools.gitDir, 'config', 'uploadpack.allowFilter', 'true'])
    const workspace = await clone('--filter=blob:none', '--no-checkout')
    const ran = await action.run({
      inputs: { mode: 'build', store },
      env: { ...variables(commit), ...env, ...credentials },
      event: await push(commit),
      workspace,
    })
    expect(ran.log).toMatch(/^::error::the clone lacks files of this commit/m)
    expect(ran).toMatchObject({ code: 1, outputs: {} })
  })

  test('without a clone, a permission, credentials or a bucket one line says what is missing', async () => {
    const { store, env, credentials } = await bucket()
    const run = async (inputs: Record<string, string>, more: Record<string, string>, workspace?: string) =>
      action.run({
        inputs: { mode: 'build', store, ...inputs },
        env: { ...variables(commit), ...env, ...more },
        event: await push(commit),
        ...(workspace === undefined ? {} : { workspace }),
      })
    const workspace = await clone()
    const noClone = await run({}, credentials)
    expect(noClone.log).toMatch(/^::error::.* holds no clone: let actions\/checkout come first$/m)
    const noPermission = await run({ role: 'arn:aws:iam::1:role/build' }, {}, workspace)
    expect(noPermission.log).toMatch(/^::error::GitHub gives no OIDC token: .*id-token: write/m)
    const wrong = await run({}, { ...credentials, AWS_SECRET_ACCESS_KEY: 'wrong-and-secret' }, workspace)
    expect(wrong.log).toMatch(/^::error::MOUNTGLASS_STORE: .*credentials/m)
    expect(wrong.log).not.toContain('wrong-and-secret')
    const noBucket = await run({ store: 's3:nobody-made-this-one' }, credentials, workspace)
    expect(noBucket.log).toMatch(/^::error::MOUNTGLASS_STORE: /m)
    for (const { code, outputs } of [noClone, noPermission, wrong, noBucket])
      expect({ code, outputs }).toEqual({ code: 1, outputs: {} })
  })

  test('a pull request is never built', async () => {
    const { store, env, credentials } = await bucket()
    const ran = await action.run({
      inputs: { mode: 'build', store },
      env: { ...variables(commit, { GITHUB_EVENT_NAME: 'pull_request' }), ...env, ...credentials },
      event: { pull_request: { head: { sha: commit, repo: { full_name: 'acme/tools' } } } },
      workspace: await clone(),
    })
    expect(ran.log).toMatch(/^::error::a pull request is not built/m)
    expect(ran.code).toBe(1)
  })
})

test('what is committed is what the sources give', async () => {
  const dist = join(ACTION_FOLDER, 'dist')
  const made = await bundleAction()
  expect((await readdir(dist)).sort()).toEqual([...made.keys()].sort())
  for (const [name, bytes] of made) {
    const isSame = Buffer.compare(await readFile(join(dist, name)), bytes) === 0
    expect(isSame, `infra/action/dist/${name}: run npm run build:action and commit what it writes`).toBe(true)
  }
})

async function timeless(url: string): Promise<unknown> {
  const answer = await fetch(url)
  const body = await answer.text()
  return JSON.parse(body.replace(/"indexedAt":"[^"]*"/, '"indexedAt":""'))
}

const IDENTITY_TOKEN = 'header.of-this-run.signature'

/** Whom a workflow asks for its token, and a cloud that gives credentials for it. */
async function startIdentity(credentials: Record<string, string>) {
  const asked: Record<string, string | null | undefined>[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'GET') {
      asked.push({ audience: url.searchParams.get('audience'), bearer: request.headers.authorization })
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: IDENTITY_TOKEN }))
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const form = new URLSearchParams(body)
    asked.push({ action: form.get('Action'), role: form.get('RoleArn'), token: form.get('WebIdentityToken') })
    if (form.get('RoleArn') !== 'arn:aws:iam::1:role/build') {
      response
        .writeHead(403, { 'content-type': 'text/xml' })
        .end(`<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error>
        <RequestId>1</RequestId></ErrorResponse>`)
      return
    }
    response
      .setHeader('content-type', 'text/xml')
      .end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult>
        <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/build/mountglass</Arn><AssumedRoleId>A:mountglass</AssumedRoleId></AssumedRoleUser>
        <Credentials>
          <AccessKeyId>${credentials.AWS_ACCESS_KEY_ID}</AccessKeyId>
          <SecretAccessKey>${credentials.AWS_SECRET_ACCESS_KEY}</SecretAccessKey>
          <SessionToken></SessionToken>
          <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
        </Credentials>
      </AssumeRoleWithWebIdentityResult>
      <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
    </AssumeRoleWithWebIdentityResponse>`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-run',
    AWS_ENDPOINT_URL_STS: origin,
  }
  return { asked, env }
}

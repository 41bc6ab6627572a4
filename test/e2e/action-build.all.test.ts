import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openS3Stores } from '#infra/s3/open.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { IDENTITY_TOKEN, startIdentity } from '#test/support/servers/identity.ts'
import { s3SettingsOf } from '#test/support/servers/s3-settings.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { type Service, startService } from '#test/support/service.ts'
import { withoutInstants } from '#test/support/without-instants.ts'
import { openActionScene } from './action-scene.ts'

const scene = await openActionScene()
const { action, github, service } = scene
const { tools, commit, shown, variables, push } = await scene.createTools('tools')

afterAll(scene.close)

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

  async function clone({ gitDir }: TestRepository, ...options: string[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'mountglass-clone-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await promisify(execFile)('git', ['clone', '--quiet', ...options, `file://${gitDir}`, folder])
    return folder
  }

  test('an index written by a workflow, under the role of its token, equals that of the deployment', async () => {
    const { store, env, credentials } = await bucket()
    const identity = await startIdentity(credentials)
    const reader = await readerOf({ ...env, ...credentials, MOUNTGLASS_STORE: store })
    const workspace = await clone(tools, '--depth=1')
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

    await service.get('mounts', `/gh/acme/tools@${commit}`)
    for (const path of [
      `mounts/gh/acme/tools@${commit}`,
      'mounts/gh/acme/tools',
      `browse/gh/acme/tools@${commit}`,
      `find/gh/acme/tools@${commit}?query=pdf`,
      `skills/gh/acme/tools@${commit}/skills?path=skills/pdf/SKILL.md`,
      `files/gh/acme/tools@${commit}?path=docs/guide.md`,
    ]) {
      const [built, own] = await Promise.all([reader, service].map(({ baseUrl }) => answerOf(`${baseUrl}/api/v1/${path}`)))
      expect(built, path).toEqual(own)
    }

    const again = await action.run(options)
    expect(again.log).toContain('already indexed')
    expect(again).toMatchObject({ code: 0, outputs: ran.outputs })
  })

  test('a role precedes credentials of the environment, and a refused role is reported', async () => {
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
        workspace: await clone(tools, '--depth=1'),
      })
    const lent = await run('arn:aws:iam::1:role/build')
    expect(lent.log).toMatch(/^\d+ objects, \d+ bytes written$/m)
    expect(lent.code).toBe(0)
    const refused = await run('arn:aws:iam::1:role/of-others')
    expect(refused.log).toMatch(/^::error::cannot assume the role arn:aws:iam::1:role\/of-others: .*AccessDenied/m)
    expect(refused.log.replace(`::add-mask::${IDENTITY_TOKEN}\n`, '')).not.toContain(IDENTITY_TOKEN)
    expect(refused).toMatchObject({ code: 1, outputs: {} })
  })

  /** Every key of a store of `bucket()`. */
  async function keysOf(store: string, env: Record<string, string>, credentials: Record<string, string>): Promise<string[]> {
    const stores = await openS3Stores(s3SettingsOf({ ...env, ...credentials, MOUNTGLASS_STORE: store }))
    try {
      return await stores.blobs.list('')
    } finally {
      await stores.close()
    }
  }

  test('a run repeated after the repository became private builds a private index', async () => {
    const { store, env, credentials } = await bucket()
    const event = await push(commit)
    expect(event).toMatchObject({ repository: { visibility: 'public' } })
    shown.visibility = 'private'
    onTestFinished(() => {
      shown.visibility = 'public'
    })
    const token = github.installationToken(github.install(github.app('actions'), shown.owner))
    const ran = await action.run({
      inputs: { mode: 'build', store, token },
      env: { ...variables(commit), ...env, ...credentials },
      event,
      workspace: await clone(tools),
    })
    expect(ran.log).toMatch(/^\d+ objects, \d+ bytes written$/m)
    const keys = await keysOf(store, env, credentials)
    expect(keys.filter(key => key.startsWith('prv/'))).not.toEqual([])
    expect(keys.filter(key => !/^(prv|ctl\/\w+\/prv)\//.test(key))).toEqual([])
    expect(github.mistakes).toEqual([])
  })

  test('while the visibility at GitHub is unknown, nothing is written', async () => {
    const { store, env, credentials } = await bucket()
    const workspace = await clone(tools)
    const run = async () =>
      action.run({
        inputs: { mode: 'build', store },
        env: { ...variables(commit), ...env, ...credentials },
        event: await push(commit),
        workspace,
      })
    github.faults.add({ match: { host: 'api', path: `/repositories/${shown.id}` }, status: 500, times: 2 })
    const down = await run()
    expect(down.log).toMatch(/^::error::GitHub did not tell whether the repository is public \(unavailable\)/m)
    shown.visibility = 'private'
    onTestFinished(() => {
      shown.visibility = 'public'
    })
    const hidden = await run()
    expect(hidden.log).toMatch(/^::error::this workflow cannot see the repository \d+: give the input token read access to it/m)
    for (const { code, outputs } of [down, hidden]) expect({ code, outputs }).toEqual({ code: 1, outputs: {} })
    expect(await keysOf(store, env, credentials)).toEqual([])
  })

  test('a commit is listed for its owner while it is that of the default branch, for any event', async () => {
    const { tools, commit, variables } = await scene.createTools('listed')
    const { store, env, credentials } = await bucket()
    const built = async (sha: string) => {
      const ran = await action.run({
        inputs: { mode: 'build', store },
        env: { ...variables(sha, { GITHUB_EVENT_NAME: 'schedule' }), ...env, ...credentials },
        event: { schedule: '0 0 * * *' },
        workspace: await clone(tools),
      })
      expect(ran.code).toBe(0)
      return (await keysOf(store, env, credentials)).filter(key => key.startsWith('ctl/owner/'))
    }
    const next = await tools.commit({ 'docs/more.md': '# More\n' })
    expect(await built(commit)).toEqual([])
    expect(await built(next)).toHaveLength(1)
  })

  test('a clone that lacks files builds nothing', async () => {
    const { tools, commit, variables, push } = await scene.createTools('partial')
    const { store, env, credentials } = await bucket()
    await promisify(execFile)('git', ['--git-dir', tools.gitDir, 'config', 'uploadpack.allowFilter', 'true'])
    const workspace = await clone(tools, '--filter=blob:none', '--no-checkout')
    const ran = await action.run({
      inputs: { mode: 'build', store },
      env: { ...variables(commit), ...env, ...credentials },
      event: await push(commit),
      workspace,
    })
    expect(ran.log).toMatch(/^::error::the clone lacks files of this commit/m)
    expect(ran).toMatchObject({ code: 1, outputs: {} })
  })

  test('without a clone, a permission, credentials or a bucket one line names what is missing', async () => {
    const { store, env, credentials } = await bucket()
    const run = async (inputs: Record<string, string>, more: Record<string, string>, workspace?: string) =>
      action.run({
        inputs: { mode: 'build', store, ...inputs },
        env: { ...variables(commit), ...env, ...more },
        event: await push(commit),
        ...(workspace === undefined ? {} : { workspace }),
      })
    const workspace = await clone(tools)
    const noClone = await run({}, credentials)
    expect(noClone.log).toMatch(/^::error::.* is not a clone: run actions\/checkout in an earlier step$/m)
    const noPermission = await run({ role: 'arn:aws:iam::1:role/build' }, {}, workspace)
    expect(noPermission.log).toMatch(/^::error::GitHub issued no OIDC token: .*id-token: write/m)
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
      workspace: await clone(tools),
    })
    expect(ran.log).toMatch(/^::error::mode build does not run on pull requests/m)
    expect(ran.code).toBe(1)
  })
})

async function answerOf(url: string): Promise<unknown> {
  return JSON.parse(withoutInstants(await (await fetch(url)).text()))
}

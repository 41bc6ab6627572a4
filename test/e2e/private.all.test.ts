import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { App } from '#test/support/fake-github/world.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { appSettings, makeToken, signInAt } from '#test/support/signed-in.ts'
import { until } from '#test/support/until.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\nFill the form.\n'
const ADDRESS = '/gh/acme/closed'
let repositories: TestRepositories
let github: FakeGitHub
let app: App

beforeAll(async () => {
  repositories = await createRepositories()
  await (await repositories.create('acme', 'closed')).commit({ 'SKILL.md': SKILL })
  github = await startFakeGitHub({ root: repositories.root })
  const ada = github.user('ada')
  const acme = github.organization('acme', { members: new Map([[ada, 'member']]) })
  app = github.app('reader', { owner: github.user('maker') })
  github.install(app, acme)
  await github.shown('acme', 'closed', { visibility: 'private' })
})
afterAll(async () => {
  await github.close()
  await repositories.remove()
})

async function readSkill({ baseUrl }: Service, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v1/skills${ADDRESS}?path=SKILL.md`, { headers })
  return await answer.text()
}

async function signedIn(service: Service): Promise<{ cookie: string; token: string }> {
  const ada = await github.world.account('ada')
  if (ada === null) throw new Error('there is no account')
  const cookie = await signInAt(service.baseUrl, github, app, ada)
  return { cookie, token: await makeToken(service.baseUrl, cookie, ADDRESS) }
}

/** What the processes of jobs were started with: arguments and variables, as other programs of the machine can read them. */
async function startedWith(): Promise<string> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const texts = await Promise.all(
    pids.map(async pid => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return command.includes('job-main') ? command + (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')) : ''
    }),
  )
  return texts.join('\n')
}

test('a job process reads a private repository with a token for it, and has neither the key of the App nor another credential', async () => {
  const service = await startService({ ...appSettings(github, app), MOUNTGLASS_LOG: 'info' })
  try {
    const { cookie, token } = await signedIn(service)
    await until(async () => (await readSkill(service, { cookie })).includes('Fill the form.'))
    expect(await readSkill(service, { authorization: `Bearer ${token}` })).toContain('Fill the form.')
    expect(await readSkill(service, {})).toContain('mount.repo_not_found')
    const started = await startedWith()
    expect(started).toContain('job-main')
    expect(started).not.toMatch(/ghs_|ghu_|PRIVATE KEY|MOUNTGLASS_GITHUB_APP/)
    expect(service.output()).not.toMatch(/ghs_|ghu_|ghr_|mg[ps]_|acme\/closed/)
  } finally {
    await service.stop()
  }
})

test('so does mountglass work beside the service', async () => {
  const service = await startService({ ...appSettings(github, app), MOUNTGLASS_INDEXER: 'none', MOUNTGLASS_LOG: 'info' })
  const worker = startWorkerProcess({
    ...appSettings(github, app),
    MOUNTGLASS_GITHUB: 'on',
    MOUNTGLASS_STORE: `disk:${service.store}`,
  })
  try {
    const { cookie } = await signedIn(service)
    await until(async () => (await readSkill(service, { cookie })).includes('Fill the form.'))
  } finally {
    worker.child.kill('SIGTERM')
    await worker.ended
    await service.stop()
  }
})

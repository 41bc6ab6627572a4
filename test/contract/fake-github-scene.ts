import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { Account, App, Installation, Repository } from '#test/support/fake-github/world.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

/** A host with a few accounts and repositories, asked with plain fetch and plain git. No test changes it without changing it back. */
export interface GitHubScene {
  github: FakeGitHub
  repositories: TestRepositories
  /** A folder for whatever a test makes. */
  work: string
  /** `acme/Tools`: public, with the branches `main` and `feature/x` and the annotated tag `v1`. */
  tools: TestRepository
  repository: Repository
  /** `impostor` lies in the fork `bob/tools` alone. */
  commits: { first: string; second: string; side: string; impostor: string }
  /** An organisation whose only member is `ada`; `bob` is a stranger. */
  acme: Account
  ada: Account
  bob: Account
  /** `acme/closed`: private. `acme/within` is internal, `acme/empty` has no commit. */
  secret: Repository
  /** Installed at `acme` for `acme/closed`. */
  app: App
  installation: Installation
  /** By who holds them; `client` is a client id with its secret, as Basic takes it. */
  tokens: { ada: string; bob: string; adaByApp: string; installation: string; jwt: string; client: string }

  ask(path: string, asked?: Asked): Promise<Response>
  /** The fields of the answer's body, with its `status` and `headers` beside them. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of the host are checked against its description, not against types
  askJson(path: string, asked?: Asked): Promise<any>
  statusOf(path: string, asked?: Asked): Promise<number>
  /** What git prints. It has no configuration but what is given. */
  git(args: readonly string[], config?: Record<string, string>): Promise<string>
  /** What git complains of. */
  gitFailure(args: readonly string[], config?: Record<string, string>): Promise<string>

  /** After each test: no answer was other than described, and limits, faults, clock and log are as at the start. */
  check(): void
  close(): Promise<void>
}

export interface Asked {
  token?: string
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

const ATTRIBUTES = 'docs/hidden.md export-ignore\nversion.txt export-subst\n'
const run = promisify(execFile)

export async function openGitHubScene(): Promise<GitHubScene> {
  const repositories = await createRepositories()
  const work = await mkdtemp(join(tmpdir(), 'mountglass-fake-github-'))
  const tools = await repositories.create('acme', 'Tools', { description: 'What we use' })
  const first = await tools.commit({ 'README.md': 'one\n', 'skills/a/SKILL.md': 'a\n', '.gitattributes': ATTRIBUTES })
  const second = await tools.commit({ 'README.md': 'two\n', 'docs/hidden.md': 'hidden', 'version.txt': '$Format:%H$' })
  const side = await tools.commit({ 'side.md': 'side' }, { branch: 'feature/x', parent: first })
  await tools.tag('v1', first, { annotated: true })
  const fork = await repositories.create('bob', 'tools')
  await fork.git('fetch', '--quiet', tools.gitDir, 'refs/heads/main:refs/heads/main')
  const impostor = await fork.commit({ 'evil.md': 'evil' }, { parent: second })
  const commits = { first, second, side, impostor }
  await repositories.create('acme', 'empty')
  const closed = await repositories.create('acme', 'closed')
  await closed.commit({ 'secret.md': 'secret' })
  const within = await repositories.create('acme', 'within')
  await within.commit({ 'within.md': 'within' })

  const github = await startFakeGitHub({ root: repositories.root })
  const ada = github.user('ada', { name: 'Ada', bio: 'Writes' })
  const bob = github.user('bob')
  const acme = github.organization('acme', { description: 'We make things', members: new Map([[ada, 'member']]) })
  const repository = github.repository(tools, { stars: 7 })
  const secret = github.repository(closed, { visibility: 'private' })
  github.repository(within, { visibility: 'internal' })
  github.repository(fork, { forkOf: repository })
  const app = github.app('reader', {
    owner: acme,
    callbackUrls: ['https://reader.example/callback'],
    setupUrl: 'https://reader.example/',
  })
  const installation = github.install(app, acme, { selection: 'selected', repositories: new Set([secret]) })
  github.world.oauthClients.set('Ov23', 'hush')
  const tokens = {
    ada: github.personalToken(ada),
    bob: github.personalToken(bob),
    adaByApp: github.userTokens(app, ada).access_token,
    installation: github.installationToken(installation),
    jwt: github.appJwt(app),
    client: Buffer.from('Ov23:hush').toString('base64'),
  }

  async function ask(path: string, { token, method = 'GET', headers = {}, body }: Asked = {}): Promise<Response> {
    return fetch(path.startsWith('http') ? path : `${github.origins.api}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async function askJson(path: string, asked: Asked = {}): Promise<object> {
    const answer = await ask(path, asked)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([expect.any(Number), 'application/json; charset=utf-8'])
    return { status: answer.status, ...((await answer.json()) as object), headers: answer.headers }
  }

  async function statusOf(path: string, asked: Asked = {}): Promise<number> {
    const answer = await ask(path, asked)
    await answer.arrayBuffer()
    return answer.status
  }

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

  async function gitFailure(args: readonly string[], config: Record<string, string> = {}): Promise<string> {
    return git(args, config).then(
      () => 'no failure',
      (error: { stderr: string }) => error.stderr,
    )
  }

  return {
    github,
    repositories,
    work,
    tools,
    repository,
    commits,
    acme,
    ada,
    bob,
    secret,
    app,
    installation,
    tokens,
    ask,
    askJson,
    statusOf,
    git,
    gitFailure,
    check() {
      const mistakes = [...github.mistakes]
      github.reset()
      expect(mistakes).toEqual([])
    },
    async close() {
      await github.close()
      await repositories.remove()
      await rm(work, { recursive: true, force: true })
    },
  }
}

/** The setting by which git sends a token. */
export function basic(token: string): Record<string, string> {
  return { 'http.extraHeader': `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
}

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Fault } from '#test/support/fake-github/faults.ts'
import { PROBES } from '#test/support/github-contract/probes.ts'
import { type ProbedHost, type ProbeResult, runProbes } from '#test/support/github-contract/run.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { openGitHubScene } from './fake-github-scene.ts'

const MAIN = fileURLToPath(new URL('../support/github-contract/main.ts', import.meta.url))
const SUBJECTS = {
  owner: 'acme',
  repository: 'Tools',
  branch: 'main',
  tag: 'v1',
  file: 'README.md',
  renamed: 'acme/was',
  blocked: 'acme/taken',
  large: 'acme/large',
  sees: '',
} as const

const scene = await openGitHubScene()
const { github, tokens } = scene
const host: ProbedHost = { url: github.origins.web, apiUrl: github.origins.api, token: null }

const { repositories } = scene
const renamed = await repositories.create('acme', 'was')
const taken = await repositories.create('acme', 'taken')
const large = await repositories.create('acme', 'large')
for (const one of [renamed, taken, large]) await one.commit({ a: 'a', b: 'b' })
github.world.rename(github.repository(renamed), { name: 'is' })
github.repository(taken, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
github.repository(large, { treeLimit: 1 })

afterEach(scene.check)
afterAll(scene.close)

test.each([
  ['an anonymous client', null, '', []],
  ['a classic token', tokens.ada, '', ['the scopes of a classic token']],
  [
    'a fine-grained token for public repositories',
    github.fineGrainedToken(scene.ada, 'public'),
    'public',
    ['a fine-grained token without scopes', 'a fine-grained token that sees public repositories only'],
  ],
  [
    'a fine-grained token for private repositories',
    github.fineGrainedToken(scene.ada, 'private'),
    'private',
    ['a fine-grained token without scopes', 'a fine-grained token that sees private repositories'],
  ],
  ['an installation of an App', tokens.installation, '', ['a token of an App']],
  ['a person by an App', tokens.adaByApp, '', ['a token of an App']],
] as const)('the stand-in answers every probe of %s as the product relies on', async (_, token, sees, own) => {
  const results: ProbeResult[] = []
  for await (const result of runProbes({ ...host, token }, { ...SUBJECTS, sees })) results.push(result)
  expect(results.filter(({ differences }) => differences.length > 0)).toEqual([])
  const ofTokens = results.filter(({ probe }) => probe.as === 'token')
  expect(ofTokens.filter(({ asked }) => asked !== null).map(({ probe }) => probe.name)).toEqual(own)
  expect(results.filter(({ asked, probe }) => asked === null && probe.as !== 'token')).toEqual([])
  expect(results).toHaveLength(PROBES.length)
})

/** The program, as somebody starts it. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const settings = { MOUNTGLASS_GITHUB_URL: host.url, MOUNTGLASS_GITHUB_API_URL: host.apiUrl, ...env }
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...programEnvironment(), ...settings } })
  const texts = { output: '', said: '' }
  child.stdout.on('data', chunk => (texts.output += String(chunk)))
  child.stderr.on('data', chunk => (texts.said += String(chunk)))
  const code = await new Promise(resolve => child.once('close', resolve))
  return { code, ...texts }
}

const ARGS = ['--repository', 'acme/Tools', '--branch', 'main', '--tag', 'v1']
const OTHERS = ['--renamed', 'acme/was', '--blocked', 'acme/taken', '--large', 'acme/large']
/** Of tokens. */
const OF_TOKENS = PROBES.filter(({ as }) => as === 'token').length
/** Of other repositories, and of tokens. */
const LEFT_OUT = 5 + OF_TOKENS

test('the program finds no difference between the stand-in and itself', async () => {
  const { code, output } = await run([...ARGS, ...OTHERS])
  expect(output).toMatch(new RegExp(`\\n${PROBES.length - OF_TOKENS} asked, 0 different\\n$`))
  expect(code).toBe(0)
})

test('tags are left out where none is named', async () => {
  const { code, output } = await run(ARGS.slice(0, 4))
  expect(output).toContain('the commit behind a tag: left out\n')
  expect(output).toMatch(new RegExp(`\\n${PROBES.length - 3 - LEFT_OUT} asked, 0 different\\n$`))
  expect(code).toBe(0)
})

test.each<[string, string, Fault, string]>([
  ['status', 'a repository', { status: 410 }, 'status 410, not 200'],
  ['kind of body', 'a repository', { html: true }, 'header content-type: "text/html'],
  ['body', 'a repository', { body: '{"id":1}' }, 'field owner.login: absent, not string'],
  // A host that does not answer the first question is not there.
  ['connection', 'a repository in another case', { reset: true, match: { path: '/repos/ACME/tOOLS' } }, 'no answer: '],
])('a host that differs in one %s is detected', async (_, probe, fault, difference) => {
  github.faults.add({ times: 1, match: { host: 'api' }, ...fault })
  const { code, output } = await run(ARGS)
  expect(output).toContain(`${probe}: DIFFERENT\n`)
  expect(output).toContain(`  ${difference}`)
  expect(code).toBe(1)
})

test.each([
  ['refuses the connection', 'http://127.0.0.1:1'],
  ['has an unknown name', 'http://nowhere.invalid'],
])('a host that %s counts as not reached, and no difference is reported', async (_, url) => {
  const { code, output, said } = await run(ARGS, { MOUNTGLASS_GITHUB_URL: url, MOUNTGLASS_GITHUB_API_URL: url })
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(said).toMatch(new RegExp(`^${url} was not reached, so nothing was compared: no answer: .+\n$`))
})

test('a dry run prints its requests, and sends none', async () => {
  const { code, output } = await run(['--dry-run', ...ARGS], { CI: '' })
  expect(output.split('\n')).toHaveLength(PROBES.length + 1)
  expect(output).toContain(`a repository: GET ${host.apiUrl}/repos/acme/Tools\n`)
  expect(github.log.all).toEqual([])
  expect(code).toBe(0)
})

test('with CI set, no request is sent unless it is requested explicitly', async () => {
  expect(await run(ARGS, { CI: 'true' })).toMatchObject({ code: 2, output: '', said: expect.stringContaining('--in-ci') })
  expect(github.log.all).toEqual([])
  expect((await run(['--in-ci', ...ARGS], { CI: 'true' })).code).toBe(0)
})

test('the token is in nothing that is printed', async () => {
  github.faults.add({ times: 1, match: { host: 'api' }, status: 500 })
  const { output, said } = await run(ARGS, { MOUNTGLASS_GITHUB_TOKEN: tokens.ada })
  expect(`${output}${said}`).not.toContain(tokens.ada)
  expect(github.log.rest.filter(({ credential }) => credential === 'personal').length).toBeGreaterThan(15)
})

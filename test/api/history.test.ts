import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { SkillHistory } from '#core/contract/history.ts'
import { loadAddressPage } from '#site/lib/address-page.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { versionsOfClient } from '#site/lib/versions.ts'
import { openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* The commits that changed what a skill delivers, from both hosts. */

const MIT = '{"license":"MIT"}\n'
const skill = (body: string) => `---\nname: a\ndescription: About a.\ninclude: [../shared.md]\n---\n${body}\n`
const HOSTILE = '\u001b[31mred\u0007 \u202eesrever <script> end \u{e0041}'

let app: TestApp
let repository: TestRepository
const made: string[] = []
beforeAll(async () => {
  app = await testApp({ 'acme/tools': {}, 'acme/bare': {}, 'acme/shy': {} }, { github: { withToken: true } })
  repository = app.repository('acme/tools')
  const commit = async (files: Record<string, string | null>, message: string) =>
    made.push(await repository.commit(files, { message }))
  await commit({ 'package.json': MIT, 'a/SKILL.md': skill('One.'), 'shared.md': 'S1\n', 'b/SKILL.md': skill('B.') }, 'begin')
  await commit({ 'a/SKILL.md': skill('Two.') }, 'body\n\nand more of it')
  await commit({ 'b/SKILL.md': skill('Other.') }, 'another skill')
  await commit({ 'shared.md': 'S2\n' }, 'include')
  await commit({ 'SKILLSET.md': '---\nname: all\nexclude: [a/secret.md]\n---\nBe kind.\n' }, 'rules')
  await commit({ 'a/secret.md': 'Hidden.\n' }, 'secret.md is withheld')
  await commit({ 'a/run.sh': 'echo\n' }, HOSTILE)
  await app.repository('acme/bare').commit({ 'SKILL.md': skill('Nobody may copy this.') }, { message: 'words of the text' })
  const shy = app.repository('acme/shy')
  await shy.commit({ 'package.json': MIT, 'a/SKILL.md': skill('A.') }, { message: 'skill' })
  await shy.commit({ 'SKILLSET.md': '---\nname: all\nexclude: [SKILLSET.md]\n---\nBe kind.\n' }, { message: 'manifest' })
  for (const host of ['local', 'gh']) for (const name of ['tools', 'bare']) await app.open(`/${host}/acme/${name}`)
})
afterEach(() => expect(app.github.mistakes).toEqual([]))
afterAll(() => app.close())

const historyOf = async (address: string, path = 'a/SKILL.md') => (await app.ask('history', address, { path })) as SkillHistory
const questions = () => app.github.log.rest.filter(({ path }) => /\/commits\?/.test(path)).length

test('the history of a folder lists the commits of every delivered file, and of no other file', async () => {
  const { status, path, commits, paths, truncated } = await historyOf('/local/acme/tools')
  expect([status, path, truncated]).toEqual(['ready', 'a/SKILL.md', false])
  expect(paths).toEqual(['a/SKILL.md', 'SKILLSET.md', 'shared.md', 'a/run.sh'])
  expect(commits.map(({ commit }) => commit)).toEqual([made[6], made[4], made[3], made[1], made[0]])
  expect(commits.map(({ parent }) => parent)).toEqual([made[5], made[3], made[2], made[0], null])
  expect(commits.slice(1).map(({ subject }) => subject)).toEqual(['rules', 'include', 'body', 'begin'])
  expect(commits.map(({ committedAt }) => committedAt)).toEqual(
    commits
      .map(({ committedAt }) => committedAt)
      .toSorted()
      .toReversed(),
  )
})

test('the history at an older commit lists the commits behind it', async () => {
  const address = `/local/acme/tools@${made[3]}`
  await app.open(address)
  const { commits } = await historyOf(address)
  expect(commits.map(({ commit }) => commit)).toEqual([made[3], made[1], made[0]])
})

test('GitHub is asked about three files at most, once a commit', async () => {
  const before = questions()
  const { commits, paths, truncated } = await historyOf('/gh/acme/tools')
  expect([paths, truncated]).toEqual([['a/SKILL.md', 'SKILLSET.md', 'shared.md'], true])
  expect(commits.map(({ commit }) => commit)).toEqual([made[4], made[3], made[1], made[0]])
  expect(questions()).toBe(before + 3)
  expect(await historyOf('/gh/acme/tools')).toMatchObject({ commits })
  expect(questions()).toBe(before + 3)
})

test('a subject that a stranger wrote is one line of visible characters', async () => {
  const [latest] = (await historyOf('/local/acme/tools')).commits
  expect(latest?.subject).toMatch(/^\[31mred esrever <script>/)
  expect(latest?.subject).not.toMatch(/[\p{Cc}\p{Cf}\n]/u)
  await repository.branch('long', made[0] as string)
  await repository.commit({ 'a/SKILL.md': skill('Long.') }, { branch: 'long', message: 'é'.repeat(100_000) })
  await app.open('/local/acme/tools@long')
  expect((await historyOf('/local/acme/tools@long')).commits[0]?.subject?.length).toBe(200)
})

test('a subject is withheld where the license permits a description only', async () => {
  for (const host of ['local', 'gh']) {
    const { commits, paths } = await historyOf(`/${host}/acme/bare`, 'SKILL.md')
    expect([commits.map(({ subject }) => subject), paths]).toEqual([[null], ['SKILL.md']])
  }
})

test('the history of a folder lists the commits of its contents, without withheld and described-only files', async () => {
  const told = async (address: string) => {
    const { path, commits, paths, truncated } = (await app.ask('history', address, {})) as SkillHistory
    return { path, paths, truncated, subjects: commits.map(({ subject }) => subject) }
  }
  expect(await told('/local/acme/tools')).toEqual({
    path: '',
    paths: ['SKILLSET.md', 'a/SKILL.md', 'b/SKILL.md', 'shared.md'],
    truncated: true,
    subjects: ['rules', 'include', 'another skill', 'body', 'begin'],
  })
  expect(await told('/local/acme/tools/b')).toEqual({
    path: 'b',
    paths: ['b/SKILL.md'],
    truncated: true,
    subjects: ['another skill', 'begin'],
  })
  expect(await told('/local/acme/bare')).toEqual({ path: '', paths: [], truncated: true, subjects: [] })
})

test('a history that begins with the commit of the address is complete', async () => {
  const address = `/local/acme/tools@${made[0]}`
  await app.open(address)
  for (const query of [{}, { path: 'a/SKILL.md' }]) {
    const { commits, truncated } = (await app.ask('history', address, query)) as SkillHistory
    expect([commits.map(({ commit }) => commit), truncated]).toEqual([[made[0]], false])
  }
})

test('the history of a folder whose manifest excludes itself does not mention the manifest', async () => {
  await app.open('/local/acme/shy')
  const { paths, commits } = (await app.ask('history', '/local/acme/shy', {})) as SkillHistory
  expect([paths, commits.map(({ subject }) => subject)]).toEqual([['a/SKILL.md'], ['skill']])
})

test('nothing but the path of a skill inside the mount has a history', async () => {
  for (const [url, code] of [
    ['/local/acme/tools?path=a', 'skill.not_found'],
    ['/local/acme/tools?path=a/secret.md', 'skill.not_found'],
    ['/local/acme/tools/b?path=a/SKILL.md', 'skill.not_found'],
    ['/local/acme/tools?path=', 'request.invalid'],
    ['/local/acme/none?path=SKILL.md', 'mount.repo_not_found'],
  ] as const)
    expect([url, (await app.get(`/api/v1/history${url}`)).json.error.code]).toEqual([url, code])
})

test('a history of many commits is cut to the latest ones, and says so', async () => {
  await repository.branch('many', made[0] as string)
  for (let turn = 0; turn < 22; turn++) await repository.commit({ 'a/SKILL.md': skill(`${turn}`) }, { branch: 'many' })
  for (const host of ['local', 'gh']) {
    await app.open(`/${host}/acme/tools@many`)
    const { commits, truncated, commit } = await historyOf(`/${host}/acme/tools@many`)
    expect([commits.length, truncated, commits[0]?.commit]).toEqual([20, true, commit])
  }
})

test('while the quota of GitHub is spent the answer is 503, and the page shows versions without an error', async () => {
  await repository.branch('late', made[0] as string)
  await repository.commit({ 'a/SKILL.md': skill('Late.') }, { branch: 'late' })
  const address = '/gh/acme/tools@late'
  app.advanceClock(61)
  await app.open(address)
  const client = createApiClient(async (url, headers) => {
    const { statusCode, body } = await app.app.inject({ url, headers: { ...headers } })
    return { status: statusCode, body }
  })
  const query = new URLSearchParams({ view: 'changes', path: 'a/SKILL.md' })
  const page = () =>
    loadAddressPage(
      client,
      { versions: versionsOfClient(client), allSkills: async () => null },
      ['gh', 'local'],
      address.slice(1),
      query,
    )
  app.github.limits.set('personal', 0)
  try {
    const answer = await app.get(`/api/v1/history${address}?path=a/SKILL.md`)
    expect([answer.status, answer.json.error.code, Number(answer.headers['retry-after']) > 0]).toEqual([
      503,
      'mount.rate_limited',
      true,
    ])
    expect(await page()).toMatchObject({
      status: 200,
      content: { kind: 'versions', history: null },
      refs: { defaultBranch: 'main' },
    })
  } finally {
    app.github.limits.reset()
  }
  app.advanceClock(3_601)
  await app.get(`/api/v1/mounts${address}`)
  expect(await page()).toMatchObject({
    content: { history: { commits: [{ subject: expect.any(String) }, { commit: made[0] }] } },
  })
})

describe('a private repository', () => {
  let scene: PeopleScene
  beforeAll(async () => {
    scene = await openPeopleScene({ contents: { 'acme/closed': { 'skills/pdf/SKILL.md': skill('Ours.') } } })
  })
  afterAll(() => scene.close())

  test('shows its history only to those who may see it', async () => {
    const ada = await scene.signIn(scene.ada)
    await ada.get('/api/v1/mounts/gh/acme/closed')
    await scene.index()
    const url = '/api/v1/history/gh/acme/closed?path=skills/pdf/SKILL.md'
    const seen = await ada.get(url)
    expect([seen.status, seen.json.commits.length]).toEqual([200, 1])
    const asked = scene.github.log.rest.filter(({ path }) => /\/commits\?/.test(path))
    expect(asked.map(({ credential }) => credential)).toEqual(['installation'])
    expect(JSON.stringify((await scene.get(url)).json)).toBe(
      JSON.stringify((await scene.get('/api/v1/history/gh/acme/none?path=skills/pdf/SKILL.md')).json),
    )
  })
})

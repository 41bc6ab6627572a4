import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BlobSelection, GitHost } from '#core/ports/git-host.ts'
import type { PeopleHost, PersonAccess } from '#core/ports/people-host.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/read-tree.ts'
import type { Fault } from '#test/support/fake-github/faults.ts'
import type { TestRepository } from '#test/support/repository.ts'
import description from '../support/fake-github/openapi/github.json' with { type: 'json' }
import { describeAt, readSelected } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'
import { type Question, type Reading, STATUS_ROWS, type StatusRow, statusTable } from './github-statuses.ts'

const scene = await openGitHubHostScene()
const { github, create, open, shownAs } = scene

beforeEach(async () => {
  await scene.begin()
  github.limits.set('anonymous', 1_000_000)
})
afterEach(scene.end)
afterAll(scene.close)

/** A question as the driver comes to ask it. */
interface Asked {
  host: GitHost
  repository: TestRepository
  row: StatusRow
  /** From here on, the host answers as the row says. */
  befall(): void
}

const READINGS: Readonly<Record<string, Reading>> = {
  ok: 'shown',
  missing: 'missing',
  gone: 'missing',
  unavailable: 'unavailable',
  rate_limited: 'rate limited',
  signed_out: 'signed out',
}

/** Where the fault of a row strikes. */
const PLACES: Readonly<Record<Question, NonNullable<Fault['match']>>> = {
  'GET /repos/{owner}/{repo}': { host: 'api', path: /^\/repos\/[^/]+\/[^/]+$/ },
  'GET /repositories/{id}': { host: 'api', path: /^\/repositories\// },
  'GET /repos/{owner}/{repo}/commits/{ref}': { host: 'api', path: /\/commits\// },
  'GET /repos/{owner}/{repo}/commits': { host: 'api', path: /\/commits\?/ },
  'GET /repos/{owner}/{repo}/compare/{basehead}': { host: 'api', path: /\/compare\// },
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': { host: 'api', path: /\/git\/trees\// },
  'GET /users/{username}': { host: 'api', path: /^\/users\/[^/]+$/ },
  'GET /users/{username}/repos': { host: 'api', path: /^\/users\/[^/]+\/repos/ },
  'GET /orgs/{org}': { host: 'api', path: /^\/orgs\// },
  'GET /rate_limit': { host: 'api', path: /^\/rate_limit/ },
  'GET /user/repos': { host: 'api', path: /^\/user\/repos/ },
  'GET /user': { host: 'api', path: '/user' },
  'GET /user/installations': { host: 'api', path: /^\/user\/installations(\?|$)/ },
  'GET /user/installations/{installation_id}/repositories': { host: 'api', path: /^\/user\/installations\/\d+\// },
  'GET /repos/{owner}/{repo}/installation': { host: 'api', path: /^\/repos\/[^/]+\/[^/]+\/installation$/ },
  'POST /app/installations/{installation_id}/access_tokens': { host: 'api', path: /\/access_tokens$/ },
  'POST git-upload-pack': { host: 'web' },
}

const ASK: Readonly<Record<Question, (asked: Asked) => Promise<Reading>>> = {
  async 'GET /repos/{owner}/{repo}'({ host, repository, row, befall }) {
    if (row.situation.startsWith('private')) {
      const shown = await (await fetch(`${github.origins.api}/repos/acme/${repository.name}`)).json()
      const body = JSON.stringify({ ...(shown as object), private: true, visibility: 'private' })
      github.faults.add({ body, match: PLACES[row.question] })
    }
    if (row.status === 304) await passLifetime(() => describeAt(host, repository))
    const { name } = repository
    if (row.status === 301) github.world.rename(await shownAs(repository), { name: `${name}-new` })
    befall()
    return readingOf(await host.repository('acme', name))
  },
  'GET /repositories/{id}': async asked => {
    const { host, repository, befall } = asked
    const described = await describeAt(host, repository)
    const commit = await repository.commit({ 'a.md': 'a' })
    github.world.rename(await shownAs(repository), { name: `${repository.name}-new` })
    befall()
    return await readingOfReader(async () => await (await host.open(described, commit, LIMITS)).close())
  },
  async 'GET /repos/{owner}/{repo}/commits/{ref}'({ host, repository, row, befall }) {
    const described = await describeAt(host, repository)
    if (row.status === 304) await passLifetime(() => host.resolve(described, null))
    befall()
    return readingOf(await host.resolve(described, null))
  },
  async 'GET /repos/{owner}/{repo}/commits'({ host, repository, befall }) {
    const commit = await repository.commit({ 'SKILL.md': 'skill' })
    const described = await describeAt(host, repository)
    befall()
    return readingOf((await host.history?.(described, commit, ['SKILL.md'])) ?? { status: 'none' })
  },
  async 'GET /repos/{owner}/{repo}/compare/{basehead}'({ host, repository, befall }) {
    const commit = await repository.commit({ a: 'behind' })
    await repository.commit({ a: 'b' })
    const described = await describeAt(host, repository)
    befall()
    return readingOf(await host.resolve(described, commit))
  },
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': asked => readFiles(asked, asked.host, OF_NEXT_COMMIT),
  async 'GET /users/{username}'({ host, befall }) {
    github.user('somebody')
    befall()
    return readingOf((await host.accounts?.account('somebody')) ?? { status: 'none' })
  },
  async 'GET /users/{username}/repos'({ host, befall }) {
    const account = await host.accounts?.account('acme')
    if (account?.status !== 'ok') throw new Error('there is no such account')
    befall()
    return readingOf((await host.accounts?.repositories(account.value, 1)) ?? { status: 'none' })
  },
  async 'GET /orgs/{org}'({ host, befall }) {
    github.organization('described', { description: 'What it does.' })
    befall()
    const account = await host.accounts?.account('described')
    if (account?.status === 'ok' && account.value.bio === null) return 'without a description'
    return readingOf(account ?? { status: 'none' })
  },
  'GET /rate_limit': describeToken,
  'GET /user/repos': describeToken,
  'GET /user': asked => askPeople(asked, (people, access) => people.person(access)),
  'GET /user/installations': asked => askPeople(asked, (people, access) => people.installations(access)),
  'GET /user/installations/{installation_id}/repositories': asked =>
    askPeople(asked, (people, access) => people.installations(access)),
  'GET /repos/{owner}/{repo}/installation': resolvePrivate,
  'POST /app/installations/{installation_id}/access_tokens': resolvePrivate,
  async 'POST git-upload-pack'({ host, repository, row, befall }) {
    const described = await describeAt(host, repository)
    if (row.isWithToken === true) await host.resolve(described, null)
    befall()
    return readingOf(await host.tip(described))
  },
}

const LIMITS = { treeEntries: 1_000, treeDepthSegments: 64, seconds: 120 }
const FILES = {
  '.gitattributes': 'id.md ident\n',
  'id.md': '$Id$\n',
  'SKILL.md': 'skill',
  'logo.png': new Uint8Array(2_000),
}

describe('what the driver concludes from an answer', () => {
  test.each(STATUS_ROWS.map(row => [`${row.question} ${row.status}, ${row.situation}`, row] as const))('%s', async (_, row) => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    const token = row.isWithToken === true ? tokenFor(row.question) : null
    const host = await open({ token })
    const befall = () => {
      github.log.clear()
      if (row.answer !== null) github.faults.add({ ...row.answer, match: PLACES[row.question] })
    }
    expect(await ASK[row.question]({ host, repository, row, befall })).toBe(row.reading)
    // The answer came, from the stand-in itself or because it was told to.
    expect(github.log.all.map(({ status }) => status)).toContain(row.status)
    github.faults.clear()
  })
})

describe('the table', () => {
  const used = [...new Set(sourcesOfDriver().flatMap(text => [...text.matchAll(TEMPLATES)].map(([, url]) => `GET ${url}`)))]

  test('covers every question of the driver, and every status that the description lists for it', () => {
    const rows = new Set<string>(STATUS_ROWS.map(({ question, status }) => `${question} ${status}`))
    const operations: Record<string, Record<string, unknown>> = description.operations
    const documented = used.flatMap(question => Object.keys(operations[question] ?? {}).map(status => `${question} ${status}`))
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter(question => !STATUS_ROWS.some(row => row.question === question))).toEqual([])
    expect(documented.filter(row => !rows.has(row))).toEqual([])
  })

  test('is that of docs/github.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/github.md'), 'utf8')
    expect(page).toContain(`\n${statusTable()}\n`)
  })
})

/** Templates of questions in the sources of the driver. */
const TEMPLATES = /'(\/(?:repos|repositories|users?|orgs|rate_limit)\b[^'\s]*)'/g

function sourcesOfDriver(): string[] {
  const folder = join(import.meta.dirname, '../../infra/github')
  return readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
}

function readingOf({ status }: { status: string }): Reading {
  const reading = READINGS[status]
  if (reading === undefined) throw new Error(`no reading of ${status}`)
  return reading
}

async function readingOfReader(read: () => Promise<unknown>): Promise<Reading> {
  return await read().then(
    () => 'read',
    (error: { code?: string }) => {
      if (error.code !== 'index.fetch_failed') throw error
      return 'not read now'
    },
  )
}

/** For the next commit the sizes of the files are asked for. A small first commit is fetched as a whole, without that question. */
const OF_NEXT_COMMIT: BlobSelection = { ...INDEXED_BLOBS, heldAmong: async () => new Set() }

async function readFiles({ repository, befall }: Asked, host: GitHost, selection = INDEXED_BLOBS): Promise<Reading> {
  const commit = await repository.commit(FILES)
  await describeAt(host, repository)
  befall()
  let isWhole = true
  const reading = await readingOfReader(async () => {
    const { blobs } = await readSelected(host, repository, commit, selection)
    isWhole = blobs.every(({ bytes }) => bytes !== null)
  })
  return isWhole ? reading : 'read without this file'
}

const app = github.app('reader', { owner: github.user('maker') })

/** The App, installed at the account of the repository. */
async function openWithApp(repository: TestRepository) {
  const { owner } = await shownAs(repository)
  const isInstalled = [...github.world.installations].some(({ account }) => account === owner)
  if (!isInstalled) github.install(app, owner)
  const host = await open({ app: { ...app, id: String(app.id) } })
  return { host, access: { key: owner.login, accessToken: github.userTokens(app, owner).access_token } }
}

async function askPeople(
  { repository, befall }: Asked,
  ask: (people: PeopleHost, access: PersonAccess) => Promise<{ status: string }>,
): Promise<Reading> {
  const { host, access } = await openWithApp(repository)
  if (host.people === null) throw new Error('nobody signs in')
  befall()
  return readingOf(await ask(host.people, access))
}

async function resolvePrivate({ repository, befall }: Asked): Promise<Reading> {
  const { id } = await shownAs(repository, { visibility: 'private' })
  const { host } = await openWithApp(repository)
  const { owner, name } = repository
  const common = { host: 'gh', owner, name, defaultBranch: 'main', description: null, avatar: null } as const
  befall()
  return readingOf(await host.resolve({ ...common, id: `gh-${id}`, visibility: 'private' }, null))
}

async function describeToken({ host, befall }: Asked): Promise<Reading> {
  befall()
  const said = await host.describeCredential?.()
  if (said === null || said === undefined) return 'not known'
  return said.includes('public repositories only, as') ? 'sees public repositories only' : 'may see private repositories'
}

function tokenFor(question: Question): string {
  const reader = github.user('reader')
  return question === 'GET /user/repos' || question === 'GET /rate_limit'
    ? github.fineGrainedToken(reader, 'public')
    : github.personalToken(reader, [])
}

/** Asks once, and lets the lifetime of the answer pass. */
async function passLifetime(ask: () => Promise<unknown> | unknown): Promise<void> {
  await ask()
  github.clock.advance(301)
}

import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OAuthDeps } from '#api/oauth/oauth.ts'
import { createInProcessRunner } from '#cli/runners.ts'
import { changesKey, isPrivateKey } from '#core/snapshot/store-keys.ts'
import { runLease } from '#indexer/jobs/run-lease.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { message } from '#test/mcp/scene.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { pushPayload, repositoryPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { OTHER_REQUESTS, openAsking, REPOSITORY_REQUESTS } from '#test/support/route-requests.ts'
import { BASE_URL, WEBHOOK_SECRET } from '#test/support/test-app.ts'

/** Too long to occur by chance in a token or a digest. In the name, the description, a branch, a path, the name of a skill and the texts of a private repository. */
const MARKER = 'kxqvzjwmpyhgtrnd'
const CLOSED = `/gh/acme/${MARKER}-closed`
const PATH = `${MARKER}-dir/SKILL.md`
const SKILL = `---\nname: ${MARKER}-skill\ndescription: Says ${MARKER}\n---\n\n# Of ${MARKER}\n\nThe text of ${MARKER}.\n`
const metrics = createPrometheusMetrics()
const lines: string[] = []
/** Everything that somebody without a right to the repository received. */
const received: { from: string; text: string }[] = []
const log = {
  info: (fields: object, text: string) => void lines.push(JSON.stringify([fields, text])),
  warn: (fields: object, text: string) => void lines.push(JSON.stringify([fields, text])),
  error: (fields: object, text: string) => void lines.push(JSON.stringify([fields, text, String(Reflect.get(fields, 'err'))])),
}
let scene: PeopleScene
let member: Browser

beforeAll(async () => {
  await ensureBuilt()
  scene = await openPeopleScene({
    contents: {
      [`acme/${MARKER}-closed`]: { [PATH]: SKILL, 'SKILLSET.md': `---\nname: ${MARKER}\ndescription: ${MARKER}\n---\n` },
      'acme/tools': { 'SKILL.md': '---\nname: open\ndescription: Open\nlicense: MIT\n---\n\nOpen.\n' },
    },
    metrics,
    logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } },
    site: async instance => {
      const baseUrl = 'https://mountglass.test'
      const client = createApiClient(injectTransport(instance))
      await sitePlugin(instance, { client, hosts: ['local', 'gh'], baseUrl, rendering: PATIENT_RENDERING })
    },
  })
  await scene.github.shown('acme', `${MARKER}-closed`, { visibility: 'private', description: `About ${MARKER}` })
  await scene.repository(`acme/${MARKER}-closed`).commit({ 'more.md': `More ${MARKER}` }, { branch: `${MARKER}-branch` })
  member = await scene.signIn(scene.ada)
})
afterAll(() => scene.close())

async function index(): Promise<void> {
  const { blobs, states, deps, queue } = scene
  const runner = createInProcessRunner({ blobs, states, hosts: deps.hosts })
  for (let lease = await queue.take('test'); lease !== null; lease = await queue.take('test'))
    await runLease({ queue, runner, metrics, log }, lease, new AbortController().signal)
}

/** Whoever may reads all of it, in every way, with mistakes among them. */
async function readEverything(): Promise<void> {
  const made = await member.post('/api/v1/me/tokens', { address: CLOSED, label: 'agent', expiresInDays: 1 })
  const authorization = `Bearer ${made.json.token}`
  for (const ref of ['', `@${MARKER}-branch`, `@${MARKER}-none`]) {
    const at = `${CLOSED}${ref}`
    await member.get(`/api/v1/mounts${at}`)
    await index()
    for (const url of [
      `mounts${at}`,
      `browse${at}`,
      `browse${at}?files=all`,
      `browse${at}?files=all&path=${MARKER}-dir`,
      `browse${at}?path=${MARKER}-dir`,
      `find${at}?query=${MARKER}`,
      `skills${at}?path=${PATH}`,
      `files${at}?path=${MARKER}-none`,
      `files${at}?path=SKILLSET.md`,
      `mounts${at}/${MARKER}-dir`,
      `mounts${at}/${MARKER}-none`,
    ])
      for (const headers of [{}, { authorization }]) await member.get(`/api/v1/${url}`, headers)
    const called = message('tools/call', { name: 'load_skill', arguments: { path: PATH } })
    for (const sent of [called, message('server/discover'), message('skills/list')])
      await scene.app.inject({ method: 'POST', url: `/mcp${at}`, ...sent, headers: { ...sent.headers, authorization } })
  }
  expect((await member.get(`/api/v1/skills${CLOSED}?path=${PATH}`)).body).toContain(`The text of ${MARKER}`)
}

async function announceChanges(): Promise<void> {
  const { github, githubApp, installation } = scene
  const closed = await github.shown('acme', `${MARKER}-closed`)
  const after = await scene.repository(`acme/${MARKER}-closed`).commit({ 'new.md': `New ${MARKER}` })
  const push = { ref: 'refs/heads/main', before: null, after }
  for (const [event, payload] of [
    ['push', await pushPayload(github.scene, closed, push, installation)],
    ['repository', await repositoryPayload(github.scene, closed, 'privatized', installation)],
  ] as const) {
    const { headers, body } = signDelivery(githubApp, event, payload, { secret: WEBHOOK_SECRET })
    await scene.app.inject({ method: 'POST', url: '/hooks/github', headers, payload: body })
  }
  await index()
}

/** The host fails while a job reads it, so that the job fails, too. */
async function failJob(): Promise<void> {
  await scene.repository(`acme/${MARKER}-closed`).commit({ 'fail.md': MARKER })
  scene.advanceClock(61)
  await member.get(`/api/v1/mounts${CLOSED}`)
  scene.github.faults.add({ match: { host: 'web', path: new RegExp(MARKER) }, times: 20, status: 500 })
  await index()
  scene.github.faults.clear()
}

/** Strangers ask by every route for whatever is public, and for the private address. */
async function askAsStrangers(): Promise<void> {
  const stranger = await scene.signIn(scene.bob)
  const cookie = [...stranger.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const tools = '/gh/acme/tools'
  await scene.open(tools)
  const asking = await openAsking(scene.deps.oauth as OAuthDeps, BASE_URL, [tools, CLOSED])
  const ofRepositories = [tools, CLOSED].flatMap(at => Object.values(REPOSITORY_REQUESTS).flatMap(asks => asks(at, asking)))
  const others = Object.values(OTHER_REQUESTS).flatMap(asks => asks(asking))
  for (const credential of [{}, { cookie }])
    for (const { method = 'GET', url, headers, payload } of [...ofRepositories, ...others]) {
      const sent = { method, url, headers: { ...headers, ...credential }, ...(payload && { payload }) }
      const answer = await scene.app.inject(sent)
      // What was asked for may be repeated; nothing else of it may.
      const text = `${JSON.stringify(answer.headers)} ${answer.body}`.replaceAll(`${MARKER}-closed`, '')
      received.push({ from: `${method} ${url}`, text })
    }
  const urls = [
    '/',
    '/docs',
    '/robots.txt',
    '/sitemap.xml',
    '/llms.txt',
    '/owners/gh/acme',
    '/api/v1/owners/gh/acme',
    '/api/v1/featured',
    '/api/v1/showcase',
    '/api/v1/me/repositories',
    '/api/v1/me/tokens',
    '/social/owners/gh/acme',
    ...['/badge', '/icon', '/social', '/api/v1/mounts', '/api/v1/browse'].map(prefix => `${prefix}${tools}`),
    tools,
    `${tools}/llms.txt`,
    `${tools}/.well-known/agent-skills/index.json`,
    `/api/v1/find${tools}?query=text`,
  ]
  for (const headers of [{}, { cookie }])
    for (const url of urls) {
      const answer = await scene.app.inject({ url, headers })
      received.push({ from: url, text: `${JSON.stringify(answer.headers)} ${answer.body}` })
    }
}

test('no content of a private repository is outside of the private class, in any answer, log line or metric', async () => {
  await readEverything()
  await announceChanges()
  await failJob()
  await askAsStrangers()
  await scene.deps.hidden.written()
  await scene.deps.people?.close()

  expect(received.filter(({ text }) => text.includes(MARKER)).map(({ from }) => from)).toEqual([])
  // The request log has a keyed hash in place of each name.
  expect(lines.filter(line => /"repo":"h_/.test(line)).length).toBeGreaterThan(20)
  expect(lines.filter(line => line.includes('indexing failed')).length).toBeGreaterThan(0)
  expect(lines.filter(line => line.includes(MARKER))).toEqual([])
  expect(lines.filter(line => line.includes('/gh/acme/tools')).length).toBeGreaterThan(0)
  const read = await metrics.read()
  expect(JSON.stringify(read)).toContain('mountglass_jobs_total')
  expect(JSON.stringify(read)).not.toContain(MARKER)
  expect(scene.github.mistakes).toEqual([])
})

test('in the stores, only private keys hold content of a private repository', async () => {
  const found: string[] = []
  let seen = 0
  for (const key of await scene.states.list('')) {
    const text = `${key} ${JSON.stringify((await scene.states.read(key))?.value)}`
    if (text.includes(MARKER)) isPrivateKey(key) ? seen++ : found.push(key)
  }
  const { id } = await scene.github.shown('acme', `${MARKER}-closed`)
  for (const key of await scene.blobs.list('')) {
    const bytes = Buffer.from((await scene.blobs.read(key))?.bytes ?? [])
    const isOfIt = key.includes(`gh-${id}`) || membersOf(bytes).includes(MARKER)
    if (isOfIt) isPrivateKey(key) ? seen++ : found.push(key)
  }
  expect(found).toEqual([])
  expect(seen).toBeGreaterThan(4)
  // Changes of private repositories are told to other processes, too.
  expect(isPrivateKey(changesKey('gh'))).toBe(true)
})

/** The text of all gzip members of a pack or a header. */
function membersOf(bytes: Buffer): string {
  const texts = [bytes.toString('latin1')]
  for (let at = bytes.indexOf('1f8b08', 0, 'hex'); at >= 0; at = bytes.indexOf('1f8b08', at + 1, 'hex')) {
    try {
      texts.push(gunzipSync(bytes.subarray(at), { finishFlush: 2 }).toString('latin1'))
    } catch {
      // These bytes happen to look like the beginning of a member.
    }
  }
  return texts.join('\n')
}

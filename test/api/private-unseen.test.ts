import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPeopleSite, type PeopleSite } from '#test/site/support/people-site.ts'
import type { Browser } from '#test/support/people-scene.ts'
import { recordedStore } from '#test/support/recorded-store.ts'
import { type Asked, type Asking, OTHER_REQUESTS, openAsking, REPOSITORY_REQUESTS } from '#test/support/route-requests.ts'
import { routesOf } from '#test/support/routes.ts'
import { handClock } from '#test/support/store-values.ts'
import { BASE_URL } from '#test/support/test-app.ts'
import { openTestStores, type TestStores } from '#test/support/test-stores.ts'

/** Of equal length, so that lengths are equal, too. */
const NAMES = { private: 'veiled', missing: 'vacant', blocked: 'vetoed' } as const
const EACH = Object.entries(NAMES)
const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\nFill the form.\n'
const calls: string[] = []
let scene: PeopleSite
let stores: TestStores
let asking: Asking
let stranger: Browser
let member: Browser
let foreignToken: string

beforeAll(async () => {
  const clock = handClock(new Date().toISOString())
  stores = await openTestStores(clock)
  scene = await openPeopleSite({
    baseUrl: BASE_URL,
    contents: { 'acme/veiled': { 'SKILL.md': SKILL }, 'acme/vetoed': { 'SKILL.md': SKILL } },
    blobs: recordedStore(stores.blobs, calls),
    states: recordedStore(stores.states, calls),
  })
  const { github } = scene
  await github.shown('acme', NAMES.private, { visibility: 'private' })
  await github.shown('acme', NAMES.blocked, { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
  member = await scene.signIn(scene.ada)
  stranger = await scene.signIn(scene.bob)
  // Somebody who may reads it: what is known of it must not show.
  await member.get(`/api/v1/mounts/gh/acme/${NAMES.private}`)
  await scene.index()
  expect((await member.get(`/api/v1/mounts/gh/acme/${NAMES.private}`)).json.index.status).toBe('ready')
  const address = '/gh/acme/closed'
  foreignToken = (await member.post('/api/v1/me/tokens', { address, label: 'other', expiresInDays: 1 })).json.token
  const addresses = EACH.map(([, name]) => `/gh/acme/${name}`)
  asking = await openAsking(scene.oauth, BASE_URL, addresses)
  // The first use of a credential is noted, and not the next ones.
  for (const credential of Object.values(ASKERS))
    await scene.app.inject({ url: '/api/v1/mounts/gh/acme/closed', headers: credential() })
  await scene.deps.people?.close()
  await scene.deps.hidden.written()
})
afterAll(async () => {
  await scene.close()
  await stores.close()
})

test('every route of the service is requested below, unless it names no repository', () => {
  const asked = [...Object.keys(REPOSITORY_REQUESTS), ...Object.keys(OTHER_REQUESTS)]
  expect(asked.sort()).toEqual(
    routesOf(scene.app)
      .map(({ path }) => path)
      .sort(),
  )
})

const requestsOf = (name: string) => Object.values(REPOSITORY_REQUESTS).flatMap(asks => asks(`/gh/acme/${name}`, asking))

/** What a client, the host and the stores saw of a request, with the name taken out. */
async function traceOf(name: string, { method = 'GET', url, headers = {}, payload }: Asked, credential: Record<string, string>) {
  scene.github.log.clear()
  calls.length = 0
  const answer = await scene.app.inject({ method, url, headers: { ...headers, ...credential }, ...(payload && { payload }) })
  await scene.deps.hidden.written()
  const { 'x-request-id': id, date: _, ...sent } = answer.headers
  const plain = (text: string) =>
    text
      .replace(new RegExp(name, 'gi'), 'NAME')
      .replaceAll(Buffer.from(name).toString('base64url'), 'NAME')
      .replaceAll(String(id), 'ID')
      .replace(/<style>.*?<\/style>/gs, '<style>')
      // Of what is sealed or random, the length is seen.
      .replace(/eyJ[\w-]+(?:\.[\w-]*)+|(?<=\b(?:state|code_challenge)=)[\w-]{20,}/g, sealed => `SEALED ${sealed.length}`)
  return {
    status: answer.statusCode,
    headers: JSON.parse(plain(JSON.stringify(sent))),
    body: plain(answer.body),
    host: scene.github.log.all.map(({ method, host, path, credential: kind }) => plain(`${method} ${host} ${path} ${kind}`)),
    stores: calls.map(plain),
  }
}

const cookiesOf = ({ cookies }: Browser) => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') })
const ASKERS: Record<string, () => Record<string, string>> = {
  'nobody in particular': () => ({}),
  'a stranger who is signed in': () => cookiesOf(stranger),
  'a token of another repository': () => ({ authorization: `Bearer ${foreignToken}` }),
  'a token that is none': () => ({ authorization: 'Bearer nonsense' }),
  'a session that is none': () => ({ cookie: '__Host-session=nonsense' }),
}

test.each(Object.keys(ASKERS))(
  'v5.0.0-8.2.2: private, missing and blocked are answered alike, and asked about alike: %s',
  async asker => {
    const credential = ASKERS[asker]?.() ?? {}
    scene.advanceClock(61)
    // A token asks once for the name that its own repository has by now, whatever it is used for.
    for (const asked of requestsOf('elsewhere').slice(0, 1)) await traceOf('elsewhere', asked, credential)
    let seen = 0
    for (const round of ['unknown', 'known'])
      for (const [index, asked] of requestsOf(NAMES.missing).entries()) {
        const [first, ...others] = await tracesOf(index, credential)
        expect([round, asked.url, first?.trace.status]).toEqual([round, asked.url, expect.any(Number)])
        for (const { kind, trace } of others)
          expect({ round, url: asked.url, kind, ...trace }).toEqual({ round, url: asked.url, kind, ...first?.trace })
        expect(first?.trace.body).not.toContain('Fill')
        seen += first?.trace.host.length ?? 0
      }
    // A check that sees nothing would pass.
    expect(seen).toBeGreaterThan(0)
  },
)

async function tracesOf(index: number, credential: Record<string, string>) {
  const traces = []
  for (const [kind, name] of EACH) {
    const asked = requestsOf(name)[index]
    if (asked) traces.push({ kind, trace: await traceOf(name, asked, credential) })
  }
  return traces
}

test('no request is made on behalf of a person for a name other than that of the token, whether the person sees it or not', async () => {
  // The token's person sees the first of them.
  for (const name of [NAMES.private, NAMES.missing])
    for (const asked of requestsOf(name)) {
      scene.advanceClock(61)
      const { host } = await traceOf(name, asked, { authorization: `Bearer ${foreignToken}` })
      expect([asked.url, host.filter(line => line.includes('NAME') && line.endsWith(' user'))]).toEqual([asked.url, []])
    }
})

test('a stranger cannot make a token for a private repository, as for one that does not exist', async () => {
  const make = (browser: Browser, name: string) =>
    browser.post('/api/v1/me/tokens', { address: `/gh/acme/${name}`, label: 'x', expiresInDays: 1 })
  const answers = await Promise.all(EACH.map(async ([, name]) => make(stranger, name)))
  expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(EACH.map(() => [404, 'mount.repo_not_found']))
  expect((await make(member, NAMES.private)).status).toBe(201)
})

test('the check detects a difference', async () => {
  const at = (name: string) => ({ url: `/api/v1/mounts/gh/acme/${name}` })
  const seen = await traceOf(NAMES.private, at(NAMES.private), cookiesOf(member))
  const missing = await traceOf(NAMES.missing, at(NAMES.missing), cookiesOf(member))
  expect(seen.status).toBe(200)
  expect(seen).not.toEqual(missing)
})

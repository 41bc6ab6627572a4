import { hash } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { startService } from '#test/support/service.ts'
import { appSettings, decideAt, signInAt } from '#test/support/signed-in.ts'
import { until } from '#test/support/until.ts'
import { median, printTable, type Spread, spread, spreadOf } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const CALLS = 1_000
const ROUNDS = 3
const TURNS = 200
/** That connect at once: of so many people, each with so many installations of one app. */
const CROWD = { people: 40, installations: 5 }
/** Milliseconds that the check of a token may add. */
const TARGET_MS = 1

const REDIRECT = 'http://127.0.0.1:33418/callback'
const VERIFIER = 'a-verifier-of-forty-three-characters-or-more'
const REVISION = '2026-07-28'

/** What a token of an app costs a call, what it takes to be given one, and many apps that connect at once. */
export async function measureOAuth(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const subject = repositories.find(({ name }) => name === 'superpowers') ?? repositories[0]
  if (subject === undefined) throw new Error('there is no repository')
  const github = await startFakeGitHub({ root })
  const people = Array.from({ length: CROWD.people }, (_, index) => github.user(`person-${index}`))
  const owner = github.organization('closed-org', { members: new Map(people.map(person => [person, 'member'])) })
  const app = github.app('reader', { owner: github.user('maker') })
  github.install(app, owner)
  const { gitDir } = await github.shown(subject.owner, subject.name)
  github.repository({ owner: 'closed-org', name: 'copy', gitDir }, { visibility: 'private' })
  for (const kind of ['anonymous', 'user', 'installation', 'app'] as const) github.limits.set(kind, 1_000_000)
  const service = await startService({
    ...appSettings(github, app),
    MOUNTGLASS_STORE: `disk:${join(root, 'oauth-store')}`,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const { baseUrl } = service
    const cookies: string[] = []
    for (const person of people) cookies.push(await signInAt(baseUrl, github, app, person))
    const [cookie = ''] = cookies
    const open = `/gh/${subject.owner}/${subject.name}`
    const closed = '/gh/closed-org/copy'
    await service.get('mounts', open)
    await until(async () => (await read(`${baseUrl}/api/v1/mounts${closed}`, { cookie })).includes('"status":"ready"'))
    await measureCheck({ baseUrl, cookie }, open)
    await measureTokens({ baseUrl, cookie }, closed)
    await measureCrowd(baseUrl, cookies, closed)
  } finally {
    await service.stop()
    await github.close()
  }
}

interface Asker {
  baseUrl: string
  /** Of a person who is signed in. */
  cookie: string
}

/** The same call of a public repository, with a token and without. */
async function measureCheck({ baseUrl, cookie }: Asker, address: string): Promise<void> {
  const { access_token } = await connect({ baseUrl, cookie }, address, 'Checked')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const as = (token: string | null) => () => call(baseUrl, address, token, agent)
  const rounds: { ours: Spread; theirs: Spread; added: number }[] = []
  for (let round = 0; round < ROUNDS + 1; round++) {
    const times: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
    // Alternating, so that whatever else the machine does is in both.
    for (let turn = 0; turn < CALLS; turn++) {
      times.theirs.push(await timeOf(as(null)))
      times.ours.push(await timeOf(as(access_token)))
    }
    const [ours, theirs] = [spread(times.ours), spread(times.theirs)]
    // The first round warms both.
    if (round > 0) rounds.push({ ours, theirs, added: ours.p50 - theirs.p50 })
  }
  agent.destroy()
  const added = median(rounds.map(round => round.added))
  printTable(`browse_repo over MCP with a token beside without (median of ${ROUNDS} rounds of ${CALLS})`, [
    {
      'p50 ms': median(rounds.map(({ ours }) => ours.p50)),
      'p99 ms': median(rounds.map(({ ours }) => ours.p99)),
      'without p50 ms': median(rounds.map(({ theirs }) => theirs.p50)),
      'without p99 ms': median(rounds.map(({ theirs }) => theirs.p99)),
      'added p50 ms': added,
      target: `<= ${TARGET_MS} ms${added > TARGET_MS ? ': MISSED' : ''}`,
    },
  ])
}

/** Each step on the way to tokens, one after another. */
async function measureTokens(asker: Asker, address: string): Promise<void> {
  const { baseUrl, cookie } = asker
  const times: Record<'register' | 'authorize and decide' | 'redeem' | 'refresh', number[]> = {
    register: [],
    'authorize and decide': [],
    redeem: [],
    refresh: [],
  }
  for (let turn = 0; turn < TURNS; turn++) {
    let client = ''
    let code = ''
    let tokens: Tokens | undefined
    times.register.push(await timeOf(async () => (client = await register(baseUrl, `App ${turn % 50}`))))
    times['authorize and decide'].push(await timeOf(async () => (code = await approve(baseUrl, cookie, client, address))))
    times.redeem.push(await timeOf(async () => (tokens = await redeem(baseUrl, client, code))))
    times.refresh.push(await timeOf(() => refresh(baseUrl, client, tokens?.refresh_token ?? '')))
  }
  const { access_token } = await connect(asker, address, 'Grown')
  const rows = Object.entries(times).map(([step, each]) => ({ step, 'p50 ms': spread(each).p50, 'p99 ms': spread(each).p99 }))
  const { p50, p99 } = await spreadOf(TURNS, () => call(baseUrl, address, access_token))
  printTable(`The way to tokens, ${TURNS} times, and a call of the private repository`, [
    ...rows,
    { step: 'call', 'p50 ms': p50, 'p99 ms': p99 },
  ])
}

/** Everything that an app does from the first refusal to the first answer, by many at once. */
async function measureCrowd(baseUrl: string, cookies: readonly string[], address: string): Promise<void> {
  const startedAt = performance.now()
  const connecting = cookies.flatMap(cookie =>
    Array.from({ length: CROWD.installations }, () => timeOf(() => arrive({ baseUrl, cookie }, address))),
  )
  const outcomes = await Promise.allSettled(connecting)
  const failed = outcomes.filter(({ status }) => status === 'rejected')
  for (const outcome of failed.slice(0, 3)) process.stdout.write(`PROBLEM ${(outcome as PromiseRejectedResult).reason}\n`)
  const { p50, p99 } = spread(outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : [])))
  printTable(`${connecting.length} clients of ${CROWD.people} people connect at once`, [
    {
      'all s': (performance.now() - startedAt) / 1_000,
      'one p50 ms': p50,
      'one p99 ms': p99,
      failed: failed.length,
      target: `none fails${failed.length > 0 ? ': MISSED' : ''}`,
    },
  ])
}

/** @throws Error when some answer is not as clients expect it */
async function arrive(asker: Asker, address: string): Promise<void> {
  const { baseUrl } = asker
  const refused = await fetch(`${baseUrl}/mcp${address}`, { method: 'POST', headers: HEADERS, body: BODY })
  const [, described = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const [server = ''] = (JSON.parse(await read(described)) as { authorization_servers: string[] }).authorization_servers
  await read(`${server}/.well-known/oauth-authorization-server`)
  const { access_token } = await connect(asker, address, 'Crowd')
  await call(baseUrl, address, access_token)
}

interface Tokens {
  access_token: string
  refresh_token: string
}

async function connect({ baseUrl, cookie }: Asker, address: string, name: string): Promise<Tokens> {
  const client = await register(baseUrl, name)
  return await redeem(baseUrl, client, await approve(baseUrl, cookie, client, address))
}

async function register(baseUrl: string, name: string): Promise<string> {
  const body = JSON.stringify({ client_name: name, redirect_uris: [REDIRECT] })
  const headers = { 'content-type': 'application/json' }
  const answer = JSON.parse(await read(`${baseUrl}/oauth/register`, headers, body)) as { client_id: string }
  return answer.client_id
}

async function approve(baseUrl: string, cookie: string, client: string, address: string): Promise<string> {
  const location = new URL(`${baseUrl}/oauth/authorize`)
  location.search = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: REDIRECT,
    code_challenge: hash('sha256', VERIFIER, 'base64url'),
    code_challenge_method: 'S256',
    resource: `${baseUrl}/mcp${address}`,
  }).toString()
  return (await decideAt(baseUrl, cookie, location)).searchParams.get('code') ?? ''
}

const redeem = (baseUrl: string, client: string, code: string) =>
  askForTokens(baseUrl, {
    grant_type: 'authorization_code',
    client_id: client,
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT,
  })

const refresh = (baseUrl: string, client: string, token: string) =>
  askForTokens(baseUrl, { grant_type: 'refresh_token', client_id: client, refresh_token: token })

async function askForTokens(baseUrl: string, fields: Record<string, string>): Promise<Tokens> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return JSON.parse(await read(`${baseUrl}/oauth/token`, headers, new URLSearchParams(fields).toString())) as Tokens
}

/** @throws Error when the answer is no success */
async function read(url: string, headers: Record<string, string> = {}, body?: string): Promise<string> {
  const answer = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 200)}`)
  return text
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': REVISION,
  'mcp-method': 'tools/call',
  'mcp-name': 'browse_repo',
}
const CLIENT = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
}
const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'browse_repo', arguments: {}, _meta: CLIENT },
})

/** @throws Error when the answer is no success */
function call(baseUrl: string, address: string, token: string | null, agent?: Agent): Promise<void> {
  const headers = { ...HEADERS, ...(token !== null && { authorization: `Bearer ${token}` }) }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${baseUrl}/mcp${address}`, { method: 'POST', headers, ...(agent && { agent }) }, answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => {
        if (answer.statusCode === 200 && !text.includes('"isError":true')) resolve()
        else reject(new Error(`the call answered ${answer.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    sent.on('error', reject).end(BODY)
  })
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { type Service, startService } from '#test/support/service.ts'
import { median, printTable, type Spread, spread } from './measure.ts'
import { measurePackageCost } from './package-cost.ts'
import type { BenchRepository } from './repositories.ts'

const REVISION = '2026-07-28'
const CALLS = 1_000
/** V8 still compiles during the first thousands. */
const WARMING_CALLS = 3_000
/** Until then, V8 compiles what is called most and finds the size of its heap, once. */
const SETTLING_CALLS = 30_000
const GROWTH_CALLS = 20_000
const CLIENTS = 64
/** A tool against the REST call of the same content; of a loaded skill and of the list of tools in milliseconds. */
const TARGETS = { ratio: 2, skillMs: 5, listMs: 1 } as const

interface Question {
  name: string
  path: string
  /** Of a message to MCP; `null`: a GET of REST. */
  message: { method: string; params: Record<string, unknown> } | null
}

/** Calls of agents beside the REST calls of the same content, in one run; archives, built and kept; memory over many calls. */
export async function measureAgents(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const subject = repositories.find(({ name }) => name === 'superpowers') ?? repositories[0]
  if (subject === undefined) throw new Error('there is no repository')
  const store = join(root, 'agents-store')
  const service = await startService({
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${store}`,
    MOUNTGLASS_LOG: 'warn',
  })
  const address = `/local/${subject.owner}/${subject.name}`
  try {
    await service.get('mounts', address)
    const path = await firstSkill(service, address)
    await measureCalls(service, address, path)
    await measureMany(service, address, path)
    await measureArchives(service, address)
    const real = repositories.filter(({ owner }) => owner !== 'generated')
    await measurePackageCost(service, root, store, real)
  } finally {
    await service.stop()
  }
}

async function firstSkill({ baseUrl }: Service, address: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v1/mounts${address}`)
  const { index } = (await answer.json()) as { index: { skills: { path: string }[] } }
  const path = index.skills[0]?.path
  if (path === undefined) throw new Error(`${address} has no skills`)
  return path
}

async function measureCalls({ baseUrl }: Service, address: string, path: string): Promise<void> {
  const tool = (name: string, given: object): Question => ({
    name,
    path: `/mcp${address}`,
    message: { method: 'tools/call', params: { name, arguments: given } },
  })
  const rest = (name: string, query: Record<string, string>): Question => {
    return { name, path: `/api/v1/${name}${address}?${new URLSearchParams(query)}`, message: null }
  }
  const pairs: [Question, Question][] = [
    [tool('load_skill', { path }), rest('skills', { path })],
    [tool('browse_repo', {}), rest('browse', {})],
    [tool('search_repo', { query: 'test' }), rest('find', { query: 'test' })],
    [tool('read_repo_file', { path }), rest('files', { path })],
  ]
  const rows: Record<string, string | number>[] = []
  for (const [asked, peer] of pairs) {
    const [ours, theirs] = await timesOf(baseUrl, [asked, peer])
    const ratio = ours.p50 / theirs.p50
    const isSlow = asked.name === 'load_skill' && ours.p50 > TARGETS.skillMs
    rows.push({
      call: asked.name,
      'p50 ms': ours.p50,
      'p99 ms': ours.p99,
      'REST p50 ms': theirs.p50,
      'REST p99 ms': theirs.p99,
      ratio,
      target: `<= ${TARGETS.ratio}x${ratio > TARGETS.ratio ? ': MISSED' : ''}${isSlow ? `, <= ${TARGETS.skillMs} ms: MISSED` : ''}`,
    })
  }
  const [list] = await timesOf(baseUrl, [
    { name: 'tools/list', path: `/mcp${address}`, message: { method: 'tools/list', params: {} } },
  ])
  const isSlow = list.p50 > TARGETS.listMs
  rows.push({
    call: 'tools/list',
    'p50 ms': list.p50,
    'p99 ms': list.p99,
    target: `<= ${TARGETS.listMs} ms${isSlow ? ': MISSED' : ''}`,
  })
  printTable(`Calls of an agent, one after another, beside REST (${CALLS} of each)`, rows)
}

async function measureMany({ baseUrl, process }: Service, address: string, path: string): Promise<void> {
  const question: Question = {
    name: 'load_skill',
    path: `/mcp${address}`,
    message: { method: 'tools/call', params: { name: 'load_skill', arguments: { path } } },
  }
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const askMany = async (calls: number) => {
    let left = calls
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (left-- > 0) await ask(baseUrl, question, agent)
      }),
    )
    return residentMegabytes(process.pid ?? 0)
  }
  const begun = residentMegabytes(process.pid ?? 0)
  const settled = await askMany(SETTLING_CALLS)
  const startedAt = performance.now()
  const ended = await askMany(GROWTH_CALLS)
  agent.destroy()
  printTable(`${CLIENTS} clients at once, ${GROWTH_CALLS} calls of load_skill`, [
    {
      'calls/s': Math.round(GROWTH_CALLS / ((performance.now() - startedAt) / 1000)),
      'MB before': begun,
      [`MB after ${SETTLING_CALLS} calls`]: settled,
      'MB at the end': ended,
      'MB more': ended - settled,
    },
  ])
}

async function measureArchives({ baseUrl }: Service, address: string): Promise<void> {
  const index = await fetch(`${baseUrl}${address}/.well-known/agent-skills/index.json`)
  const { skills } = (await index.json()) as { skills: { url: string }[] }
  const [built, kept]: [number[], number[]] = [[], []]
  let bytes = 0
  for (const times of [built, kept]) {
    for (const { url } of skills) {
      const startedAt = performance.now()
      bytes += (await (await fetch(baseUrl + url)).arrayBuffer()).byteLength
      times.push(performance.now() - startedAt)
    }
  }
  printTable(`Archives of ${skills.length} skills`, [
    { 'built, p50 ms': median(built), 'kept, p50 ms': median(kept), 'mean kB': Math.round(bytes / 2 / skills.length / 1000) },
  ])
}

/** Of warm calls. The questions are asked in turn, so that whatever else the machine does is part of each. */
async function timesOf<const Questions extends readonly Question[]>(
  baseUrl: string,
  questions: Questions,
): Promise<{ [Index in keyof Questions]: Spread }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times = questions.map((): number[] => [])
  for (let call = -WARMING_CALLS; call < CALLS; call++) {
    for (const [index, question] of questions.entries()) {
      const startedAt = performance.now()
      await ask(baseUrl, question, agent)
      if (call >= 0) times[index]?.push(performance.now() - startedAt)
    }
  }
  agent.destroy()
  return times.map(spread) as { [Index in keyof Questions]: Spread }
}

/** @throws Error when the answer is no success */
function ask(baseUrl: string, { path, message }: Question, agent: Agent): Promise<void> {
  const name = message?.params.name
  const headers =
    message === null
      ? {}
      : {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': message.method,
          ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
        }
  return new Promise((resolve, reject) => {
    const request = httpRequest(baseUrl + path, { agent, method: message === null ? 'GET' : 'POST', headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200 && !text.includes('"isError":true')) resolve()
        else reject(new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    request.on('error', reject)
    request.end(message === null ? undefined : JSON.stringify(bodyOf(message)))
  })
}

function bodyOf({ method, params }: NonNullable<Question['message']>) {
  const client = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: client } }
}

function residentMegabytes(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

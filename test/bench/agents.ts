import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { type Service, startService } from '#test/support/service.ts'
import { median, printTable } from './measure.ts'
import { ask, type Question, restQuestion, timesOf, toolQuestion } from './one-caller.ts'
import { measurePackageCost } from './package-cost.ts'
import type { BenchRepository } from './repositories.ts'

/** Until then, V8 compiles what is called most and finds the size of its heap, once. */
const SETTLING_CALLS = 30_000
const GROWTH_CALLS = 20_000
const CLIENTS = 64
/** Milliseconds, p50. */
const TARGET_MS = 3

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
  const pairs: [Question, Question | null][] = [
    [toolQuestion(address, 'load_skill', { path }), restQuestion(address, 'skills', { path })],
    [toolQuestion(address, 'browse_repo', {}), restQuestion(address, 'browse', {})],
    [toolQuestion(address, 'search_repo', { query: 'test' }), restQuestion(address, 'find', { query: 'test' })],
    [toolQuestion(address, 'read_repo_file', { path }), restQuestion(address, 'files', { path })],
    [{ name: 'tools/list', path: `/mcp${address}`, message: { method: 'tools/list', params: {} } }, null],
  ]
  const rows: Record<string, string | number>[] = []
  for (const [asked, peer] of pairs) {
    const [ours, theirs] = await timesOf(baseUrl, peer === null ? [asked] : [asked, peer])
    rows.push({
      call: asked.name,
      'p50 ms': ours?.p50 ?? Number.NaN,
      'p99 ms': ours?.p99 ?? Number.NaN,
      target: `<= ${TARGET_MS} ms${(ours?.p50 ?? 0) > TARGET_MS ? ': MISSED' : ''}`,
      ...(theirs && { 'REST p50 ms': theirs.p50, 'REST p99 ms': theirs.p99 }),
    })
  }
  printTable('Calls of an agent, one after another, beside REST', rows)
}

async function measureMany({ baseUrl, process }: Service, address: string, path: string): Promise<void> {
  const question = toolQuestion(address, 'load_skill', { path })
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

function residentMegabytes(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

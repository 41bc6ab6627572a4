import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { askAtOnce } from './ask-at-once.ts'
import { median, printTable } from './measure.ts'
import { allThreadsRan } from './processor-time.ts'
import { makeRepositories } from './repositories.ts'

/** A generated repository, and a real one. */
const NAMES = ['files-1000', 'superpowers']
const CONNECTIONS = 32
/** Some tenths of a second: both servers meet the same machine, also where others work on it. */
const REQUESTS = 4_000
const ROUNDS = 24
/** Until both are compiled. */
const WARM_ROUNDS = 4
const TARGET = 0.6

/**
 * Mounts that one process answers a second, beside Fastify that sends the same bytes with the same headers from memory.
 *
 * The client works on the same machine and may be the slower of the two, which favours us: the time of the processor does not depend on it.
 */
export async function measureMounts(root: string): Promise<void> {
  const repositories = await makeRepositories(root, NAMES)
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    for (const host of ['gh', 'local']) {
      for (const { owner, name } of repositories) {
        const address = `/${host}/${owner}/${name}`
        await service.get('mounts', address)
        const row = await measureMount(service, `/api/v1/mounts${address}`)
        printTable(`Mounts of ${address} a second, one process, ${CONNECTIONS} connections (median of ${ROUNDS})`, [row])
      }
    }
  } finally {
    await service.stop()
    await github.close()
  }
}

async function measureMount(service: Service, path: string): Promise<Record<string, string | number>> {
  const answer = await fetch(service.baseUrl + path)
  const peer = await startPeer({ body: await answer.text(), headers: Object.fromEntries(answer.headers) })
  const servers = {
    ours: { origin: service.baseUrl, pid: service.process.pid ?? 0 },
    bare: { origin: peer.url, pid: peer.process.pid ?? 0 },
  }
  try {
    const rounds: Record<keyof typeof servers, Rate>[] = []
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      // Whoever comes second finds the machine as the first one left it, so each is it as often.
      const [first, second] = round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)
      const rates = { [first]: await rateOf(servers[first], path), [second]: await rateOf(servers[second], path) }
      if (round >= WARM_ROUNDS) rounds.push(rates as (typeof rounds)[number])
    }
    const ratios = rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond).sort((left, right) => left - right)
    const ratio = median(ratios)
    const [low = 0, high = 0] = [ratios[ROUNDS / 4], ratios[(ROUNDS * 3) / 4]]
    return {
      'mounts/s': Math.round(median(rounds.map(({ ours }) => ours.perSecond))),
      'bare Fastify/s': Math.round(median(rounds.map(({ bare }) => bare.perSecond))),
      'CPU us': median(rounds.map(({ ours }) => ours.cpuMicroseconds)),
      'bare CPU us': median(rounds.map(({ bare }) => bare.cpuMicroseconds)),
      'CPU ratio': median(rounds.map(({ ours, bare }) => bare.cpuMicroseconds / ours.cpuMicroseconds)),
      ratio,
      'half of the rounds': `${low.toFixed(2)} to ${high.toFixed(2)}`,
      target: `>= ${TARGET}${ratio < TARGET ? ': MISSED' : ''}`,
    }
  } finally {
    peer.process.kill()
  }
}

interface Rate {
  perSecond: number
  /** Time of the processor for one request, in all threads of the process that answers. */
  cpuMicroseconds: number
}

async function rateOf({ origin, pid }: { origin: string; pid: number }, path: string): Promise<Rate> {
  const startedRun = allThreadsRan(pid)
  const milliseconds = await askAtOnce(origin, path, { connections: CONNECTIONS, requests: REQUESTS })
  return {
    perSecond: REQUESTS / (milliseconds / 1000),
    cpuMicroseconds: ((allThreadsRan(pid) - startedRun) / REQUESTS) * 1000,
  }
}

/** Fastify in a process of its own. */
async function startPeer(sent: {
  body: string
  headers: Record<string, string>
}): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-fastify.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(sent))
  const [line] = await once(child.stdout, 'data')
  return { url: String(line).trim(), process: child }
}

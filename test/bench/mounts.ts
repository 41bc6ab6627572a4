import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { cpuSecondsOf, runLoad } from './load.ts'
import { median, printTable } from './measure.ts'
import { makeRepositories } from './repositories.ts'

/** A generated repository, and a real one. */
const NAMES = ['files-1000', 'superpowers']
const ROUNDS = 5
const SECONDS = 1
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
        printTable(`Mounts of ${address} a second, one process, 32 connections (median of ${ROUNDS})`, [row])
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
  try {
    const rounds: { ours: Rate; bare: Rate }[] = []
    for (let round = 0; round < ROUNDS + 1; round++) {
      const ours = await rateOf(service.baseUrl, service.process, path)
      const bare = await rateOf(peer.url, peer.process, path)
      // The first round warms both.
      if (round > 0) rounds.push({ ours, bare })
    }
    const ratio = median(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond))
    return {
      'mounts/s': Math.round(median(rounds.map(({ ours }) => ours.perSecond))),
      'bare Fastify/s': Math.round(median(rounds.map(({ bare }) => bare.perSecond))),
      'CPU us': Math.round(median(rounds.map(({ ours }) => ours.cpuMicroseconds))),
      'bare CPU us': Math.round(median(rounds.map(({ bare }) => bare.cpuMicroseconds))),
      ratio,
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

async function rateOf(origin: string, { pid = 0 }: ChildProcess, path: string): Promise<Rate> {
  const startedCpu = await cpuSecondsOf(pid)
  const { requests, errors } = await runLoad(origin, [path], null, SECONDS)
  if (errors > 0) throw new Error(`${errors} errors at ${origin}${path}`)
  const cpuSeconds = (await cpuSecondsOf(pid)) - startedCpu
  return { perSecond: requests / SECONDS, cpuMicroseconds: (cpuSeconds / requests) * 1e6 }
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

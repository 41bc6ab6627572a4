import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { startService } from '#test/support/service.ts'
import { runLoad } from './load.ts'
import { median, printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const ROUNDS = 3
const SECONDS = 4
const TARGET = 0.6

/** Mounts that one process answers a second, beside Fastify that sends the same bytes from memory. */
export async function measureMounts(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'mounts-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  const subjects = repositories.filter(({ name }) => ['superpowers', 'files-1000'].includes(name))
  const rows: Record<string, string | number>[] = []
  try {
    for (const host of ['gh', 'local']) {
      for (const { owner, name } of subjects) {
        const address = `/${host}/${owner}/${name}`
        await service.get('mounts', address)
        rows.push(await measureMount(service.baseUrl, `/api/v1/mounts${address}`))
      }
    }
    printTable(`Mounts a second of one process, 32 connections (median of ${ROUNDS})`, rows)
  } finally {
    await service.stop()
    await github.close()
  }
}

async function measureMount(baseUrl: string, path: string): Promise<Record<string, string | number>> {
  const answer = await fetch(baseUrl + path)
  const peer = await startPeer({ body: await answer.text(), headers: Object.fromEntries(answer.headers) })
  try {
    const rounds: { ours: number; bare: number }[] = []
    for (let round = 0; round < ROUNDS + 1; round++) {
      const [ours, bare] = [await rateOf(baseUrl, path), await rateOf(peer.url, path)]
      // The first round warms both.
      if (round > 0) rounds.push({ ours, bare })
    }
    const ratio = median(rounds.map(({ ours, bare }) => ours / bare))
    return {
      path,
      'mounts/s': Math.round(median(rounds.map(({ ours }) => ours))),
      'bare Fastify/s': Math.round(median(rounds.map(({ bare }) => bare))),
      ratio,
      target: `>= ${TARGET}${ratio < TARGET ? ': MISSED' : ''}`,
    }
  } finally {
    peer.process.kill()
  }
}

async function rateOf(origin: string, path: string): Promise<number> {
  const { requests, errors } = await runLoad(origin, [path], null, SECONDS)
  if (errors > 0) throw new Error(`${errors} errors at ${origin}${path}`)
  return requests / SECONDS
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

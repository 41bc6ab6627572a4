import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import type { Loaded } from './load-once.ts'
import { printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

/** What one API process bears: mounts at a fixed rate, and all other reads beside them. The generator works on the same machine. */
const MOUNTS_A_SECOND = 3_000
const READS_A_SECOND = 300
const SECONDS = 30
const WARM_SECONDS = 40

export async function measureLoad(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_STORE: `disk:${join(root, 'load-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const addresses = repositories.map(({ owner, name }) => `/gh/${owner}/${name}`)
    const reads = (await Promise.all(addresses.map(address => callPaths(service, address)))).flat()
    const mounts = addresses.map(address => `/api/v1/mounts${address}`)
    // Caches fill and the heap takes its size: what is measured is bearing it, not coming to it.
    await Promise.all([
      runLoad(service.baseUrl, mounts, MOUNTS_A_SECOND, WARM_SECONDS),
      runLoad(service.baseUrl, reads, READS_A_SECOND, WARM_SECONDS),
    ])
    const memory = watchMemory(service.process.pid ?? 0)
    const [ofMounts, ofReads] = await Promise.all([
      runLoad(service.baseUrl, mounts, MOUNTS_A_SECOND, SECONDS),
      runLoad(service.baseUrl, reads, READS_A_SECOND, SECONDS),
    ])
    const { early, late, cpuSeconds } = await memory.stop()
    printTable(`Load on one process: ${SECONDS} s, ${addresses.length} repositories, from two other processes on this machine`, [
      { what: 'mounts', 'asked/s': MOUNTS_A_SECOND, 'answered/s': ofMounts.requests / SECONDS, ...ofLoad(ofMounts) },
      {
        what: 'browse, find, skills, files',
        'asked/s': READS_A_SECOND,
        'answered/s': ofReads.requests / SECONDS,
        ...ofLoad(ofReads),
      },
    ])
    printTable('The process under it', [
      {
        'MB at its start': early,
        'MB at the end': late,
        'growth, %': ((late - early) / early) * 100,
        'target, %': '<= 10',
        'CPU s': cpuSeconds,
        'of a core, %': (cpuSeconds / SECONDS) * 100,
      },
    ])
  } finally {
    await service.stop()
    await github.close()
  }
}

function ofLoad({ errors, p50, p99, max }: Loaded): Record<string, string | number> {
  return {
    errors: errorText(errors),
    'p50 ms': p50,
    'p99 ms': p99,
    target: p99 < 50 && errorText(errors) === '' ? '< 50, no error' : '< 50, no error: MISSED',
    'max ms': max,
  }
}

/** What went wrong, in words; empty if nothing did. */
export function errorText(errors: Loaded['errors']): string {
  return Object.entries(errors)
    .map(([kind, count]) => `${count} × ${kind}`)
    .join(', ')
}

/** @param rate requests a second; `null`: as many as there can be */
export async function runLoad(origin: string, paths: readonly string[], rate: number | null, seconds: number): Promise<Loaded> {
  const script = join(import.meta.dirname, 'load-once.ts')
  const child = spawn(process.execPath, [script, origin, String(rate ?? ''), String(seconds)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(paths))
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  return JSON.parse(output) as Loaded
}

/** Resident memory and processor time of a process, from now on. */
function watchMemory(pid: number): { stop(): Promise<{ early: number; late: number; cpuSeconds: number }> } {
  const startedCpu = cpuSecondsOf(pid)
  const early = residentOf(pid)
  return {
    async stop() {
      return { early: await early, late: await residentOf(pid), cpuSeconds: (await cpuSecondsOf(pid)) - (await startedCpu) }
    },
  }
}

const MEGABYTE = 1024

async function residentOf(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / MEGABYTE
}

const TICKS_A_SECOND = 100

/** Seconds of processor time that a process has taken. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

import { readFile } from 'node:fs/promises'
import type { CommitSha } from '#core/commit-sha.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import { warmUp } from '#indexer/jobs/warm-up.ts'
import { buildSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'
import { lastIndexedOf } from '#indexer/snapshot/earlier-snapshot.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { jobAt } from '#test/support/answered.ts'
import type { Cost } from './cost.ts'

/** What a job took, with the git processes that it started. */
export interface JobCost extends Cost {
  peakMegabytes: number
  /** Bytes that it stored. */
  bytes: number
}

/** A busy machine may take longer than a job may. */
const SECONDS = 900
const TICKS_A_SECOND = 100

// As a process for jobs does: at its start, and once no job came within seconds.
const searchThreads = createSearchThreads()
const signal = new AbortController().signal
await warmUp(searchThreads, signal)

/** One job in a process of its own: `job-once.ts <root> <owner> <name> <commit> <store>` prints its cost as JSON. */
const [root, owner, name, commit, store] = process.argv.slice(2) as [string, string, string, CommitSha, string]
const host = await openLocalHost({ root, baseUrl: 'http://127.0.0.1' })
const { repository } = await jobAt(host, owner, name)
const blobs = await openDiskBlobStore(`${store}/blobs`)
const states = await openDiskStateStore(`${store}/states`)
const lastIndexed = lastIndexedOf(states, repository)

const startedAt = performance.now()
const before = await processorSeconds()
const deps = {
  blobs,
  lastIndexed,
  host,
  seconds: SECONDS,
  isRepair: false,
  fallbacks: NO_FALLBACKS,
  searchThreads,
}
const written = await buildSnapshot(deps, { repository, commit }, await lastIndexed.read(), { signal })
const seconds = (performance.now() - startedAt) / 1000
await lastIndexed.write(commit)
await host.close()
const cost: JobCost = {
  seconds,
  processorSeconds: (await processorSeconds()) - before,
  peakMegabytes: process.resourceUsage().maxRSS / 1000,
  bytes: written.bytes,
}
await Promise.all([blobs.close(), states.close()])
process.stdout.write(JSON.stringify(cost))

/** Of this process, and of those of its children that have ended. */
async function processorSeconds(): Promise<number> {
  const { user, system } = process.cpuUsage()
  const fields = (await readFile('/proc/self/stat', 'utf8')).replace(/^.*\) /, '').split(' ')
  return (user + system) / 1e6 + (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND
}

/**
 * A worker as `mountglass work` puts it together, over the stores and the queue of the settings, with jobs that take as long as told.
 * It prints each step once that is acknowledged, until it is killed:
 *
 *   ready
 *   taken <commit> <fence>
 *   header <commit> created|exists
 *   counted, or unsure where the store does not say whether it did
 *   ending <commit> <fence>
 *   ended <commit> <fence> finished|released|late|lost      late: when it came to its end somebody else had the job
 *   problem <text>
 *
 * `race-program.ts <name> <milliseconds of a job>`
 */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { JobEntry } from '#core/snapshot/index-state.ts'
import { headerKey, jobKey } from '#core/snapshot/store-keys.ts'
import type { JobEnd, JobRunner } from '#indexer/jobs/job-runner.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openInfra } from '#infra/open.ts'
import { makeSnapshot } from '../support/small-snapshots.ts'
import { count } from './counter.ts'
import { textOf } from './job-text.ts'

const [name = '', jobMs = ''] = process.argv.slice(2)
process.stdin.resume().once('close', () => process.exit())

const infra = await openInfra(parseSharedInfraSettings(process.env))
let current: Lease | null = null

const blobs: typeof infra.blobs = {
  ...infra.blobs,
  async create(key, bytes) {
    const outcome = await infra.blobs.create(key, bytes)
    if (current && key === headerKey(current.job.repository, current.job.commit)) print(`header ${current.job.commit} ${outcome}`)
    return outcome
  },
}

const queue: JobQueue = {
  ...infra.queue,
  async take(worker) {
    const lease = await infra.queue.take(worker)
    if (lease === null) return null
    print(`taken ${lease.job.commit} ${lease.fence}`)
    current = lease
    return lease
  },
  finish: lease => tellEnd(lease, 'finished', infra.queue.finish),
  release: lease => tellEnd(lease, 'released', infra.queue.release),
}

const runner: JobRunner = {
  async ready() {},
  async run({ repository, commit }, { signal }): Promise<JobEnd> {
    try {
      const part = () => sleep((Math.random() * Number(jobMs)) / 1.5, undefined, { signal })
      const snapshot = await makeSnapshot(repository, commit, [textOf(commit)])
      await part()
      await snapshot.writePacks(blobs)
      await part()
      await snapshot.publish(blobs)
      await count(infra.states, name).catch(error => {
        print('unsure')
        throw error
      })
      print('counted')
      await part()
      return { status: 'indexed', objects: 2, bytes: 0 }
    } catch (error) {
      if (signal.aborted) return { status: 'stopped' }
      throw error
    }
  },
  async close() {},
}

const log = {
  info() {},
  warn({ commit }: { commit?: string }, message: string) {
    if (current && commit === current.job.commit && message === 'lease lost: another worker has taken the job over')
      end(current, 'lost')
    else print(`problem ${message}`)
  },
  error({ err, reason }: { err?: Error; reason?: string }, message: string) {
    print(`problem ${message}: ${reason ?? err?.stack ?? err}`.replaceAll('\n', ' '))
  },
}

startWorker({ queue, runner, metrics: NO_METRICS, log }, { concurrency: 1, signal: new AbortController().signal })
print('ready')

/** Goes to the descriptor at once: a line that waits would be lost with a process that is killed. */
function print(line: string): void {
  writeSync(1, `${line}\n`)
}

type End = 'finished' | 'released' | 'late' | 'lost'

async function tellEnd(lease: Lease, how: End, tell: (lease: Lease) => Promise<void>): Promise<void> {
  print(`ending ${lease.job.commit} ${lease.fence}`)
  const isOwn = await holds(infra.states, lease)
  await tell(lease)
  end(lease, isOwn ? how : 'late')
}

function end(lease: Lease, how: End): void {
  print(`ended ${lease.job.commit} ${lease.fence} ${how}`)
  current = null
}

async function holds(states: StateStore, { job, worker, fence }: Lease): Promise<boolean> {
  const record = JobEntry.safeParse((await states.read(keyOf(job)))?.value).data
  return record?.state === 'leased' && record.worker === worker && record.fence === fence
}

function keyOf({ repository, commit }: IndexJob): string {
  return jobKey(repository, commit)
}

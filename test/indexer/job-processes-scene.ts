import { getPriority } from 'node:os'
import { join } from 'node:path'
import { JOB_PROGRAM } from '#cli/runners.ts'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { createJobProcesses, type JobProcessesSettings } from '#indexer/jobs/job-processes.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { jobAt } from '#test/support/answered.ts'
import { NO_HANDOVER } from '#test/support/no-handover.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { createRepositories } from '#test/support/repository.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

/** A program that plays tricks on the jobs of some repositories. */
export const HOSTILE = new URL('../support/hostile-jobs.ts', import.meta.url).href

export interface ProcessesOptions {
  settings?: Partial<JobProcessesSettings>
  env?: Record<string, string>
}

/** Small repositories, some with a name that is a trick of `hostile-jobs.ts`, and real processes for their jobs. */
export async function openProcessesScene() {
  const repositories = await createRepositories()
  for (const name of ['one', 'two', 'three', 'hangs', 'dawdles', 'lingers', 'eats-elsewhere']) {
    await (await repositories.create('acme', name)).commit({ 'a.md': `# ${name}\n` })
  }
  const host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
  return {
    jobOf: (name: string): Promise<IndexJob> => jobAt(host, 'acme', name),
    open: (options: ProcessesOptions) => openProcesses(repositories.root, options),
    async close() {
      await host.close()
      await repositories.remove()
    },
  }
}

/** Real processes for jobs over a folder, and what they log. */
async function openProcesses(root: string, { settings = {}, env = {} }: ProcessesOptions) {
  const folder = await temporaryFolder()
  const blobs = await openDiskBlobStore(folder)
  const states = await openDiskStateStore(join(folder, 'documents.sqlite'))
  const metrics = createPrometheusMetrics()
  const log: { message: string; [field: string]: unknown }[] = []
  const note = (fields: object, message: string) => log.push({ ...fields, message })
  const processes = createJobProcesses(
    {
      program: JOB_PROGRAM,
      env: {
        ...programEnvironment(),
        MOUNTGLASS_STORE: `disk:${folder}`,
        MOUNTGLASS_LOCAL_REPOSITORIES: root,
        MOUNTGLASS_GITHUB: 'off',
        NODE_OPTIONS: `--import ${HOSTILE}`,
        ...env,
      },
      handover: () => NO_HANDOVER,
      memoryMegabytes: 1_024,
      metrics,
      concurrency: 2,
      ...settings,
    },
    { info: note, warn: note, error: note },
  )
  return {
    blobs,
    states,
    metrics,
    log,
    note,
    processes,
    /** Ids of the processes in log lines with this message, in the order of the lines. */
    logged: (message: string) => log.filter(one => one.message === message).map(({ process }) => Number(process)),
    async close() {
      await processes.close()
      await states.close()
      await blobs.close()
    },
  }
}

/** Whether the process yields to other jobs; `false` when it ended. */
export function yields(pid: number): boolean {
  try {
    return getPriority(pid) === Math.max(getPriority(), YIELDING_NICENESS)
  } catch {
    return false
  }
}

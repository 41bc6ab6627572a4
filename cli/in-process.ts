import type { Deps } from '#api/deps.ts'
import { createFindLikeCommits } from '#api/mount/like-commits.ts'
import { type AddressHandlers, addressHandlers } from '#api/routes/address-endpoints.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import type { AnswersInContext } from './answers.ts'
import { ownAnswers } from './own-answers.ts'
import { assembleDeps, LOG, type OwnInfra } from './own-deps.ts'
import { createInProcessRunner } from './runners.ts'

/** What a process without a port reads from, and the runner of its jobs. Both are closed with the service. */
export interface InProcessSource {
  infra: OwnInfra & Pick<Infra, 'queue' | 'close'>
  runner: JobRunner
}

/** The use cases and an indexer in this process, for the person who started it. */
export interface InProcessService {
  deps: Deps
  handlers: AddressHandlers
  /** Host segments. */
  hosts: readonly string[]
  close(): Promise<void>
}

/** Puts the service of one process together, without a port. */
export function startInProcess({ infra, runner }: InProcessSource): InProcessService {
  const stopping = new AbortController()
  const metrics = NO_METRICS
  const worker = startWorker({ queue: infra.queue, runner, metrics, log: LOG }, { concurrency: 1, signal: stopping.signal })
  const deps = assembleDeps(infra, worker.wake)
  return {
    deps,
    handlers: addressHandlers(deps),
    hosts: infra.hosts.map(host => host.segment),
    async close() {
      stopping.abort()
      await worker.stopped
      await runner.close()
      await infra.close()
    },
  }
}

/** Opens a service in this process, without a port, to ask it. @throws SettingsError */
export async function openInProcessAnswers(env: NodeJS.ProcessEnv): Promise<AnswersInContext & { close(): Promise<void> }> {
  const settings = parseInfraSettings({ MOUNTGLASS_STORE: 'memory:', ...env })
  const infra = await openInfra(settings)
  const { deps, handlers, hosts, close } = startInProcess({ infra, runner: createInProcessRunner(infra) })
  const knowsLocal = settings.localRepositories !== null
  const answers = ownAnswers(handlers, { hosts, knowsLocal, findLikeCommits: createFindLikeCommits(deps) })
  return { answers, context: { hosts, baseUrl: settings.baseUrl }, close }
}

import { rememberListings } from '#api/cards/list-on-visit.ts'
import type { Deps } from '#api/deps.ts'
import { requestRepair } from '#api/mount/request-indexing.ts'
import { NO_CONTENT } from '#api/operator/operator-content.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import { deriveKeys, formatNewKeys, parseSealingKeys } from '#api/purpose-keys.ts'
import { type AddressHandlers, addressHandlers } from '#api/routes/address-endpoints.ts'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { ServiceError } from '#core/errors.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import type { AnswersInContext } from './answers.ts'
import { ownAnswers } from './own-answers.ts'
import { createInProcessRunner } from './runners.ts'
import { say } from './say.ts'

/** What a process without a port reads from, and the runner of its jobs. Both are closed with the service. */
export interface InProcessSource {
  infra: Pick<Infra, 'blobs' | 'states' | 'queue' | 'hosts' | 'clock' | 'random' | 'close'>
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

function assembleDeps(
  { blobs, states, queue, hosts, clock, random }: InProcessSource['infra'],
  onOffered: Deps['onOffered'],
): Deps {
  const keys = parseSealingKeys(formatNewKeys('1', random.bytes(32)))
  if (keys === null) throw new Error('new keys cannot be read')
  const damages = createDamageReports(states)
  const log = { error: LOG.error, warn: LOG.warn }
  return {
    hosts: hosts as readonly GitHost[],
    snapshots: createSnapshotReader(blobs, {
      onDamage: damage => requestRepair({ damages, queue, clock, onOffered, log }, damage),
    }),
    queue,
    listings: rememberListings(createOwnerListings(states, NO_FALLBACKS), clock),
    hidden: createHiddenNotes({ blobs, states }, clock),
    operator: NO_CONTENT,
    clock,
    // Cursors live as long as the process.
    cursorKeys: deriveKeys(keys, 'cursor'),
    names: createLogRedaction(deriveKeys(keys, 'log')[0]),
    people: null,
    oauth: null,
    allow: null,
    deny: [],
    localSource: 'withheld',
    onOffered,
    readRawFile: null,
    checkReady: async () => {},
  }
}

export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  say((thrown as Error).stack ?? String(thrown))
  return new ServiceError('service.internal', { cause: thrown })
}

const LOG = {
  info() {},
  warn: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
  error: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
}

function reasonOf({ err }: { err?: unknown }): string {
  return err instanceof Error ? `: ${err.message}` : ''
}

/** Opens a service in this process, without a port, to ask it. @throws SettingsError */
export async function openInProcessAnswers(env: NodeJS.ProcessEnv): Promise<AnswersInContext & { close(): Promise<void> }> {
  const settings = parseInfraSettings({ MOUNTGLASS_STORE: 'memory:', ...env })
  const infra = await openInfra(settings)
  const { handlers, hosts, close } = startInProcess({ infra, runner: createInProcessRunner(infra) })
  const knowsLocal = settings.localRepositories !== null
  return { answers: ownAnswers(handlers, { hosts, knowsLocal }), context: { hosts, baseUrl: settings.baseUrl }, close }
}

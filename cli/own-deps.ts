import { rememberListings } from '#api/cards/list-on-visit.ts'
import type { Deps } from '#api/deps.ts'
import { requestRepair } from '#api/mount/request-indexing.ts'
import { NO_CONTENT } from '#api/operator/operator-content.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import { deriveKeys, formatNewKeys, parseSealingKeys } from '#api/purpose-keys.ts'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { ServiceError } from '#core/errors.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { Infra } from '#infra/open.ts'
import { say } from './say.ts'

/** What a process without a port reads from. */
export interface OwnInfra extends Pick<Infra, 'blobs' | 'states' | 'hosts' | 'clock' | 'random'> {
  queue: Deps['queue']
}

/** The dependencies of the use cases in a process without a port. @param onOffered told of each job that is offered to the queue */
export function assembleDeps({ blobs, states, queue, hosts, clock, random }: OwnInfra, onOffered: Deps['onOffered']): Deps {
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

/** Says what goes wrong on stderr. */
export const LOG = {
  info() {},
  warn: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
  error: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
}

function reasonOf({ err }: { err?: unknown }): string {
  return err instanceof Error ? `: ${err.message}` : ''
}

import { stat } from 'node:fs/promises'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type Address, parseAddress } from '#core/address.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { ServiceError } from '#core/errors.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import { SettingsError } from '#core/settings.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import { createInProcessRunner, type JobRunner, openLastStateRunner, startWorker } from '#indexer/main.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openMemoryInfra } from '#infra/memory-infra.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { openWorktreeHost } from '#infra/worktree/host.ts'
import { WorktreeError } from '#infra/worktree/place.ts'
import { rememberListings } from './cards/list-on-visit.ts'
import type { Deps } from './deps.ts'
import { introduce } from './mcp/instructions.ts'
import { createServer } from './mcp/server.ts'
import { createSkillSource } from './mcp/skill-source.ts'
import { whenIndexed } from './mcp/when-indexed.ts'
import { requestRepair } from './mount/request-repair.ts'
import { NO_CONTENT } from './operator/operator-content.ts'
import { createLoggedNames } from './people/logged-names.ts'
import { OWN_PROCESS } from './people/viewer.ts'
import { deriveKeys, formatNewKeys, parseSealingKeys } from './purpose-keys.ts'
import { addressHandlers } from './routes/address-endpoints.ts'
import { parseSettings } from './service-settings.ts'
import { createSnapshotReader } from './snapshot/snapshot-reader.ts'
import { createUses } from './snapshot/uses.ts'

export interface StdioOptions {
  /** Read a folder as a private repository, which serves every file whatever its license. */
  private?: boolean
}

/** What a process reads: its drivers, the runner of their jobs, and the address. */
interface Source {
  infra: Pick<Infra, 'blobs' | 'states' | 'queue' | 'hosts' | 'clock' | 'random' | 'close'>
  runner: JobRunner
  address: Address
}

/**
 * `mountglass mcp [<folder or address>]`: an MCP server over stdin and stdout, without a port. A folder is read as it is now, whatever is
 * committed; each call sees the changes made before it. Ends when stdin ends. Exit code 2: there is no such folder or address.
 */
export async function serveOverStdio(target: string, options: StdioOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const source = await openSource(target, options, env)
    await serveSource(source, parseSettings(env).toolBytes)
    return 0
  } catch (error) {
    if (!(error instanceof WorktreeError || error instanceof SettingsError || error instanceof ServiceError)) throw error
    say(error.message)
    return 2
  }
}

async function openSource(target: string, options: StdioOptions, env: NodeJS.ProcessEnv): Promise<Source> {
  const isFolder = await stat(target).then(
    found => found.isDirectory(),
    () => false,
  )
  if (isFolder || /^\.{0,2}(?:\/|$)/.test(target)) return await openFolder(target, options)
  const settings = parseInfraSettings({ MOUNTGLASS_STORE: 'memory:', ...env })
  const infra = await openInfra(settings)
  const hosts = infra.hosts.map(host => host.segment)
  const typed = readTypedAddress(target, { hosts, baseUrl: settings.baseUrl })
  if (typed.kind !== 'address') {
    await infra.close()
    throw new ServiceError('address.incomplete', { message: `${target} is neither a folder nor the address of a repository` })
  }
  return { infra, runner: await createInProcessRunner(infra), address: typed.address }
}

async function openFolder(folder: string, options: StdioOptions): Promise<Source> {
  const host = await openWorktreeHost(folder, options.private ? 'private' : 'public')
  const infra = openMemoryInfra([host])
  const { owner, name } = host.repositoryName
  const address: Address = { host: host.segment, owner, repository: name, ref: null, path: host.folder }
  const runner = await openLastStateRunner(infra)
  return { infra, runner, address }
}

/** Serves until stdin ends. */
async function serveSource({ infra, runner, address }: Source, maxBytes: number): Promise<void> {
  const stopping = new AbortController()
  const metrics = NO_METRICS
  const worker = startWorker({ queue: infra.queue, runner, metrics, log: LOG }, { concurrency: 1, signal: stopping.signal })
  const deps = assembleDeps(infra, worker.wake)
  const handlers = whenIndexed(addressHandlers(deps))
  const hosts = infra.hosts.map(host => host.segment)
  const ended = Promise.withResolvers<void>()
  const connection = serveStdio(
    async () => {
      const { instructions } = await introduce(handlers, address, OWN_PROCESS, { method: 'initialize' })
      return createServer(
        {
          handlers,
          maxBytes,
          readAddress: text => parseAddress(text, hosts),
          openSkills: of => createSkillSource(deps, of),
          toServiceError,
        },
        { address, viewer: OWN_PROCESS, instructions, withSkills: true },
      )
    },
    { onerror: error => say(error.message) },
  )
  process.stdin.once('end', () => ended.resolve())
  process.stdin.once('close', () => ended.resolve())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.resolve())
  await ended.promise
  stopping.abort()
  await connection.close()
  await worker.stopped
  await runner.close()
  await infra.close()
}

function assembleDeps({ blobs, states, queue, hosts, clock, random }: Source['infra'], onOffered: () => void): Deps {
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
    uses: createUses(states, clock),
    operator: NO_CONTENT,
    clock,
    // Cursors live as long as the process.
    cursorKeys: deriveKeys(keys, 'cursor'),
    names: createLoggedNames(deriveKeys(keys, 'log')[0]),
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

function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  say((thrown as Error).stack ?? String(thrown))
  return new ServiceError('service.internal', { cause: thrown })
}

/** Only messages of the protocol may be written to stdout. */
function say(message: string): void {
  process.stderr.write(`mountglass: ${message}\n`)
}

const LOG = {
  info() {},
  warn: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
  error: (fields: { err?: unknown }, message: string) => say(`${message}${reasonOf(fields)}`),
}

function reasonOf({ err }: { err?: unknown }): string {
  return err instanceof Error ? `: ${err.message}` : ''
}

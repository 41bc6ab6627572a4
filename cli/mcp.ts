import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type ToolHandlers, whenIndexed } from '#api/mcp/call-tool.ts'
import { introduce } from '#api/mcp/instructions.ts'
import { createServer } from '#api/mcp/server.ts'
import { createSkillSource } from '#api/mcp/skill-source.ts'
import { createStdioTransport } from '#api/mcp/stdio-transport.ts'
import { OWN_PROCESS } from '#api/people/viewer.ts'
import { isSourceServed } from '#api/reading/file-page.ts'
import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import { closeAndThrow } from '#core/concurrency/timeout.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openMemoryInfra } from '#infra/memory-infra.ts'
import { openWorktreeHost } from '#infra/worktree/host.ts'
import { messageIn, SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { type InProcessSource, startInProcess } from './in-process.ts'
import { toServiceError } from './own-deps.ts'
import { saidOfOwnReading } from './own-reading.ts'
import { createInProcessRunner, openWorktreeRunner } from './runners.ts'
import { say } from './say.ts'
import { parseSettings } from './service-settings.ts'

export interface StdioOptions {
  /** Read a folder as a private repository, which serves every file whatever its license. */
  private?: boolean
}

/** What a process reads, and the address that it serves. */
interface Source extends InProcessSource {
  address: Address
  isWorkingFolder: boolean
}

/**
 * `mountglass mcp [<folder or address>]`: an MCP server over stdin and stdout, without a port. A folder is read as it is now, whatever is
 * committed; each call sees the changes made before it. Ends when stdin ends and its
 * requests are answered. Exit code 2: the folder or address does not exist.
 */
export async function serveOverStdio(target: string, options: StdioOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const source = await openSource(target, options, env)
    await serveSource(source, parseSettings(env).toolBytes)
    return 0
  } catch (error) {
    if (!(error instanceof SentenceError || error instanceof ServiceError)) throw error
    say(messageIn(error))
    return 2
  }
}

async function openSource(target: string, options: StdioOptions, env: NodeJS.ProcessEnv): Promise<Source> {
  const isFolder = await stat(target).then(
    found => found.isDirectory(),
    () => false,
  )
  if (isFolder || /^\.{0,2}(?:\/|$)/.test(target)) return await openFolder(target, options)
  // The drivers of all hosts and stores: a quarter of the modules, which a folder does not need.
  const [{ openInfra }, { useProxies }] = await Promise.all([import('#infra/open.ts'), import('#infra/system/proxies.ts')])
  useProxies(env)
  const settings = parseInfraSettings({ MOUNTGLASS_STORE: 'memory:', ...env })
  const infra = await openInfra(settings)
  const hosts = infra.hosts.map(host => host.segment)
  const typed = readTypedAddress(target, { hosts, baseUrl: settings.baseUrl })
  if (typed.kind !== 'address')
    return await closeAndThrow(new SentenceError(t('problem.neitherFolderNorAddress', { target })), infra.close)
  return { infra, runner: createInProcessRunner(infra), address: typed.address, isWorkingFolder: false }
}

async function openFolder(folder: string, options: StdioOptions): Promise<Source> {
  const host = await openWorktreeHost(folder, options.private ? 'private' : 'public')
  const infra = openMemoryInfra([host])
  const { owner, name } = host.repositoryName
  const address: Address = { host: host.segment, owner, repository: name, ref: null, path: host.folder }
  const runner = await openWorktreeRunner(infra)
  return { infra, runner, address, isWorkingFolder: true }
}

/** Serves until stdin ends and what it asked is answered. */
async function serveSource({ address, isWorkingFolder, ...source }: Source, maxBytes: number): Promise<void> {
  const service = startInProcess(source)
  const { deps, hosts } = service
  const handlers = whenIndexed(service.handlers)
  await requireMount(handlers, address).catch(error => closeAndThrow(error, service.close))
  const { transport, closed } = createStdioTransport(process.stdin, process.stdout)
  const connection = serveStdio(
    async () => {
      const { instructions } = await introduce(handlers, address, OWN_PROCESS, { method: 'initialize' }, isWorkingFolder)
      return createServer(
        {
          handlers,
          isWorkingFolder,
          maxBytes,
          readAddress: text => parseAddress(text, hosts),
          isSourceServed: of => isSourceServed(deps, of),
          openSkills: of => createSkillSource(deps, of),
          toServiceError,
        },
        { address, viewer: OWN_PROCESS, instructions, withSkills: true },
      )
    },
    { transport, onerror: error => say(error.message) },
  )
  const stopped = (['SIGINT', 'SIGTERM'] as const).map(signal => once(process, signal))
  await Promise.race([closed, ...stopped])
  await connection.close()
  await service.close()
}

/** What is wrong with the address itself, and will be at every call. */
const OF_ADDRESS: ReadonlySet<ErrorCode> = new Set([
  'mount.repo_not_found',
  'mount.ref_not_found',
  'mount.path_not_found',
  'mount.not_allowed',
])

/**
 * The address is read once before the first message: a client shows its user why a server ended, and not what a call of it said. Where the host
 * cannot be asked now, calls say so.
 *
 * @throws SentenceError
 */
async function requireMount({ mounts }: Pick<ToolHandlers, 'mounts'>, address: Address): Promise<void> {
  try {
    await mounts({ subject: address, query: {}, body: null, viewer: OWN_PROCESS })
  } catch (error) {
    if (error instanceof ServiceError && OF_ADDRESS.has(error.code))
      throw new SentenceError(t('problem.ofText', { text: formatAddress(address), problem: saidOfOwnReading(error, address) }), {
        cause: error,
      })
  }
}

import { stat } from 'node:fs/promises'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type Address, parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { SettingsError } from '#core/settings.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import { createInProcessRunner, openLastStateRunner } from '#indexer/main.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openMemoryInfra } from '#infra/memory-infra.ts'
import { openInfra } from '#infra/open.ts'
import { openWorktreeHost } from '#infra/worktree/host.ts'
import { WorktreeError } from '#infra/worktree/place.ts'
import { type InProcessSource, say, startInProcess, toServiceError } from './in-process.ts'
import { introduce } from './mcp/instructions.ts'
import { createServer } from './mcp/server.ts'
import { createSkillSource } from './mcp/skill-source.ts'
import { whenIndexed } from './mcp/when-indexed.ts'
import { OWN_PROCESS } from './people/viewer.ts'
import { parseSettings } from './service-settings.ts'

export interface StdioOptions {
  /** Read a folder as a private repository, which serves every file whatever its license. */
  private?: boolean
}

/** What a process reads, and the address that it serves. */
interface Source extends InProcessSource {
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
async function serveSource({ address, ...source }: Source, maxBytes: number): Promise<void> {
  const service = startInProcess(source)
  const { deps, hosts } = service
  const handlers = whenIndexed(service.handlers)
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
  await connection.close()
  await service.close()
}

import { type CallToolRequest, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { Address } from '#core/address.ts'
import type { ServiceError } from '#core/errors.ts'
import type { Viewer } from '../people/viewer.ts'
import { callTool, failedCall, parseArguments, type ToolHandlers } from './call-tool.ts'
import { AddressArguments, describeTool, TOOLS } from './tools.ts'

export interface ServerDeps {
  handlers: ToolHandlers
  /** Bound of the text of a result. */
  maxBytes: number
  /** Reads the argument `address`. @throws ServiceError `address.*` */
  readAddress(text: string): Address
  /** Makes an error of the interface of whatever was thrown, and logs what the operator has to know. */
  toServiceError(thrown: unknown): ServiceError
}

export interface ServerOptions {
  /** What the server reads; `null`: what each call names. */
  address: Address | null
  viewer: Viewer
  /** What a client tells its model before the first call. */
  instructions: string
}

/** How long a client may keep the list of tools, which is the same for everybody. */
const LIST_TTL_MS = 300_000
const LISTED = [false, true].map(needsAddress => TOOLS.map(tool => describeTool(tool, needsAddress)))
const PUBLIC = { ttlMs: LIST_TTL_MS, cacheScope: 'public' } as const

/** An MCP server for one request. It speaks every revision that the SDK knows. */
export function createServer(deps: ServerDeps, { address, viewer, instructions }: ServerOptions): Server {
  const server = new Server(
    { name: 'mountglass', title: 'Mountglass', version: '0.1.0' },
    {
      capabilities: { tools: {} },
      instructions,
      cacheHints: { 'tools/list': PUBLIC, 'server/discover': PUBLIC },
    },
  )
  server.setRequestHandler('tools/list', async () => ({ tools: LISTED[address === null ? 1 : 0] ?? [] }))
  server.setRequestHandler('tools/call', async ({ params }) => await answerCall(deps, params, { address, viewer }))
  return server
}

async function answerCall(
  deps: ServerDeps,
  { name, arguments: given = {} }: CallToolRequest['params'],
  { address, viewer }: Pick<ServerOptions, 'address' | 'viewer'>,
) {
  const tool = TOOLS.find(one => one.name === name)
  if (tool === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${JSON.stringify(name.slice(0, 100))}`)
  const { handlers, maxBytes } = deps
  try {
    const { named, own } = address === null ? withoutAddress(given) : { named: null, own: given }
    const target = address ?? (await findRepository(deps, named, viewer))
    return await callTool(handlers, { tool, arguments: own, repeated: given, address: target, viewer, maxBytes })
  } catch (error) {
    return failedCall(deps.toServiceError(error))
  }
}

function withoutAddress({ address: named, ...own }: Readonly<Record<string, unknown>>) {
  return { named, own }
}

/** @throws ServiceError `address.*`, `mount.*` */
async function findRepository({ handlers, readAddress }: ServerDeps, named: unknown, viewer: Viewer): Promise<Address> {
  const { address: text } = parseArguments(AddressArguments, named === undefined ? {} : { address: named })
  const mount = await handlers.mounts({ subject: readAddress(text), query: {}, body: null, viewer })
  return readAddress(mount.address)
}

import { type CallToolRequest, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { Address } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Viewer } from '../people/viewer.ts'
import { callTool, failedCall, parseArguments, type ToolHandlers } from './call-tool.ts'
import { callWithPath, tidyArguments } from './model-arguments.ts'
import type { PagedSkillSource, SkillSourceOptions } from './skill-source.ts'
import { AddressArguments, describeTool, TOOLS } from './tools.ts'

export interface ServerDeps {
  handlers: ToolHandlers
  /** The server reads one working folder, as it is now. */
  isWorkingFolder?: boolean
  /** Whether the host of an address shows files that no license permits to copy. */
  isSourceServed(address: Address): boolean
  /** Bound of the text of a result. */
  maxBytes: number
  /** Reads the argument `address`. @throws ServiceError `address.*` */
  readAddress(text: string): Address
  /** The skills of an address. */
  openSkills(options: SkillSourceOptions): PagedSkillSource
  /** Makes an error of the interface of whatever was thrown, and logs what the operator has to know. */
  toServiceError(thrown: unknown): ServiceError
}

export interface ServerOptions {
  /** What the server reads; `null`: what each call names. */
  address: Address | null
  viewer: Viewer
  /** What a client tells its model before the first call. */
  instructions: string
  /** Whether it has to know the skills extension, which takes longer to set up than a tool to answer. */
  withSkills: boolean
}

/** How long a client may keep the list of tools, which is the same for everybody. */
const LIST_TTL_MS = 300_000
const LISTED = {
  plain: TOOLS.map(tool => describeTool(tool, false)),
  withAddress: TOOLS.map(tool => describeTool(tool, true)),
}
/** The first of the numbers that JSON-RPC leaves to servers. */
const SERVER_ERROR = -32_000
/** Skills change with the branch of an address. */
const SKILLS_TTL_MS = 60_000

/** An MCP server for one request. It speaks every revision that the SDK knows. */
export function createServer(deps: ServerDeps, { address, viewer, instructions, withSkills }: ServerOptions): McpServer {
  // What a token reads is kept for its client alone, whether the repository is private or not.
  const cacheScope = viewer.kind === 'token' ? 'private' : 'public'
  const listed = { ttlMs: LIST_TTL_MS, cacheScope } as const
  const shortly = { ttlMs: SKILLS_TTL_MS, cacheScope } as const
  const mcp = new McpServer(
    { name: 'mountglass', title: 'Mountglass', version: '0.1.0' },
    {
      // Nobody is told of changes: every answer is made from the address as it is when it is asked for.
      capabilities: { tools: { listChanged: false }, ...(address === null ? {} : { resources: { listChanged: false } }) },
      instructions,
      cacheHints: {
        'tools/list': listed,
        'server/discover': listed,
        'resources/list': shortly,
        'resources/templates/list': listed,
      },
    },
  )
  const { server } = mcp
  const tools = LISTED[address === null ? 'withAddress' : 'plain']
  server.setRequestHandler('tools/list', async () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    return await answerCall(deps, params, { address, viewer, signal })
  })
  if (address !== null && withSkills) {
    const toProtocolError = (thrown: unknown) => protocolError(deps.toServiceError(thrown))
    const source = deps.openSkills({ address, viewer, toProtocolError })
    new SkillsExtension({ source, cacheHint: shortly, strict: true }).attach(mcp)
    // In place of the handler of the SDK, which knows no pages.
    server.setRequestHandler('resources/list', async ({ params }) => await source.listResourcePage(params?.cursor))
  }
  return mcp
}

/** For methods that are no tools: the code of the interface, and when to ask again, are in the data. */
function protocolError({ code, message, details }: ServiceError): ProtocolError {
  const number = code === 'request.invalid' ? ProtocolErrorCode.InvalidParams : SERVER_ERROR
  return new ProtocolError(number, message, { code, ...details })
}

async function answerCall(
  deps: ServerDeps,
  { name, arguments: given = {} }: CallToolRequest['params'],
  { address, viewer, signal }: Pick<ServerOptions, 'address' | 'viewer'> & { signal: AbortSignal },
) {
  const tool = TOOLS.find(one => one.name === name)
  if (tool === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${JSON.stringify(name.slice(0, 100))}`)
  const { handlers, isWorkingFolder = false, maxBytes } = deps
  try {
    const { named, own } = address === null ? withoutAddress(given) : { named: undefined, own: given }
    const target = address ?? (await findRepository(deps, named, viewer))
    const isSourceServed = isWorkingFolder || deps.isSourceServed(target)
    const common = { tool, address: target, viewer, isWorkingFolder, isSourceServed, maxBytes, signal }
    return await callWithPath(tidyArguments(own, tool), async tidied => {
      const repeated = named === undefined ? tidied : { address: named, ...tidied }
      return await callTool(handlers, { ...common, arguments: tidied, repeated })
    })
  } catch (error) {
    // Nobody reads the answer, and nothing is wrong.
    if (signal.aborted) return failedCall(new ServiceError('request.invalid', { message: 'the client went away' }))
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

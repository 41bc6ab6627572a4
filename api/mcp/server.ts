import { type CallToolRequest, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { Address } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import type { Viewer } from '../people/viewer.ts'
import { callTool, failedCall, parseArguments, type ToolHandlers } from './call-tool.ts'
import type { PagedSkillSource, SkillSourceOptions } from './skill-source.ts'
import { AddressArguments, describeTool, TOOLS, type ToolDefinition, type ToolEndpoint } from './tools.ts'

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
        'resources/read': shortly,
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
    // In place of the handlers of the SDK: one knows no pages, the other takes half a second to encode a picture of 4 MiB.
    server.setRequestHandler('resources/list', async ({ params }) => await source.listResourcePage(params?.cursor))
    server.setRequestHandler('resources/read', async ({ params }) => await source.readResource(params.uri))
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

/** Arguments of a tool, by name. */
type Given = Readonly<Record<string, unknown>>

/** What a model means by a value, where it is not the canonical one. Each gives `undefined` for an argument that counts as absent. */
const MEANINGS: Readonly<Record<string, (value: string) => unknown>> = {
  path: canonicalPath,
  cursor: value => (value === '' ? undefined : value),
  limit: integerOf,
  offset: integerOf,
}

/**
 * Arguments as models write them, in the form that the tools take: paths in any spelling of a file system, numbers in quotes, and an empty cursor for
 * the first page. What cannot be read stays as it is, for the schema to refuse. The REST interface takes the canonical form alone.
 */
function tidyArguments(given: Given, { endpoint }: Pick<ToolDefinition, 'endpoint'>): Given {
  const tidied = Object.entries(given).map(([name, value]) => {
    const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined
    return [name, meaning && typeof value === 'string' ? meaning(value) : value]
  })
  // The root of what a model sees is the folder of the address, which may be one of the repository's.
  const isDefault = (name: unknown, value: unknown) => name === 'path' && value === ROOT && TAKES_FOLDER.has(endpoint)
  return Object.fromEntries(tidied.filter(([name, value]) => value !== undefined && !isDefault(name, value)))
}

/** Their path is a folder, and that of the address by default. */
const TAKES_FOLDER: ReadonlySet<ToolEndpoint> = new Set(['browse', 'find'])

/** `/skills/`, `./skills`, `skills\a` and `a/../skills` as a canonical path; `/` and `.` are the root. A path that leaves the root stays as it is. */
function canonicalPath(written: string): string {
  const segments: string[] = []
  for (const segment of written.split(/[\\/]/)) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return written
  }
  return segments.join('/')
}

function integerOf(written: string): unknown {
  return written === '' ? undefined : /^\d{1,15}$/.test(written.trim()) ? Number(written) : written
}

const NOT_FOUND: ReadonlySet<string> = new Set(['mount.path_not_found', 'skill.not_found', 'file.not_found'])

/**
 * Calls with the arguments, and where nothing is at their path, with the path that it spells with escapes of URLs. Names of files may contain `%`, so
 * the path as it is written comes first, and its error is the one that is told.
 */
async function callWithPath<Result>(given: Given, call: (given: Given) => Promise<Result>): Promise<Result> {
  const decoded = typeof given.path === 'string' ? decodedPath(given.path) : null
  if (decoded === null) return await call(given)
  return await call(given).catch(async (error: unknown) => {
    if (!(error instanceof ServiceError && NOT_FOUND.has(error.code))) throw error
    return await call({ ...given, path: decoded }).catch(() => {
      throw error
    })
  })
}

/** `null` where the path has no escapes, or they spell no path. */
function decodedPath(path: string): string | null {
  if (!/%[0-9a-f]{2}/i.test(path)) return null
  try {
    return parseRepoPath(canonicalPath(decodeURIComponent(path)))
  } catch {
    return null
  }
}

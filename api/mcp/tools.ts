import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AnswerOf, QueryOf } from '#core/contract/endpoints.ts'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { CursorParameter, ErrorAnswer } from '#core/contract/shared.ts'
import {
  ADDRESS_BYTES,
  BROWSE_LIMIT,
  FILE_LIMIT_CHARACTERS,
  FIND_LIMIT,
  READABLE_FILE_BYTES,
  SKILL_PAGE_MIN_BYTES,
} from '#core/limits.ts'
import type { TextOf } from './answer-text.ts'
import { browseText, fileText, findText, skillText } from './answer-text.ts'

/** The endpoints that are tools. */
export type ToolEndpoint = 'browse' | 'find' | 'skills' | 'files'

/** A tool: an endpoint of the REST interface, called by a model. */
export interface ToolDefinition<Name extends ToolEndpoint = ToolEndpoint> {
  name: string
  title: string
  description: string
  endpoint: Name
  /** As the query of the endpoint, with numbers in place of digits. */
  arguments: z.ZodType<QueryOf<Name>>
  /** What makes a page shorter: the argument `limit`, or its bytes, which only tools may ask for. */
  page: { by: 'limit' | 'pageBytes'; min: number }
  toText: TextOf<AnswerOf<Name>>
}

function integer({ min, max, default: usual }: { min: number; max: number; default: number }) {
  const error = `must be an integer from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`
  return z.int(error).min(min, error).max(max, error).default(usual)
}

const { browse, find, skills, files } = {
  browse: ENDPOINTS.browse.query.shape,
  find: ENDPOINTS.find.query.shape,
  skills: ENDPOINTS.skills.query.shape,
  files: ENDPOINTS.files.query.shape,
}
const describe = <Schema extends z.ZodType>(schema: Schema, description: string): Schema => schema.meta({ description })

const PAGE = 'To go on, call it again with `cursor`, and the other arguments as they were.'

function define<Name extends ToolEndpoint>(definition: ToolDefinition<Name>): ToolDefinition {
  return definition as unknown as ToolDefinition
}

/** The tools of every server, in the order in which they are listed. */
export const TOOLS: readonly ToolDefinition[] = [
  define({
    name: 'browse_repo',
    title: 'Browse a folder',
    description: `Lists one folder of the repository, entry by entry: folders with how many skills and documents are below them, skills with their descriptions, and files. ${PAGE}`,
    endpoint: 'browse',
    arguments: z.strictObject({
      path: describe(browse.path, 'Folder, such as `docs/api`. Default: the folder of the address.'),
      cursor: CursorParameter,
      limit: describe(integer(BROWSE_LIMIT), 'Entries on a page at most.'),
    }),
    page: { by: 'limit', min: BROWSE_LIMIT.min },
    toText: browseText,
  }),
  define({
    name: 'search_repo',
    title: 'Search skills and documents',
    description: `Searches the skills and documents of the repository by words of their names, descriptions and texts; the best match comes first. ${PAGE}`,
    endpoint: 'find',
    arguments: z.strictObject({
      query: find.query,
      path: describe(find.path, 'Folder to search. Default: the folder of the address.'),
      cursor: CursorParameter,
      limit: describe(integer(FIND_LIMIT), 'Results on a page at most.'),
    }),
    page: { by: 'limit', min: FIND_LIMIT.min },
    toText: findText,
  }),
  define({
    name: 'load_skill',
    title: 'Load a skill',
    description: `Reads a skill whole, page by page: the rules that apply to it, its text, and the files that it includes, in the order in which they are to be read. Read every page before you use the skill. ${PAGE}`,
    endpoint: 'skills',
    arguments: z.strictObject({
      path: describe(skills.path, 'Path of a `SKILL.md`, as `browse_repo` and `search_repo` list it.'),
      cursor: CursorParameter,
    }),
    page: { by: 'pageBytes', min: SKILL_PAGE_MIN_BYTES },
    toText: skillText,
  }),
  define({
    name: 'read_repo_file',
    title: 'Read a file',
    description:
      'Reads a text file of the repository, page by page: a document, or a supporting file or reference of a skill. To go on, call it again with the `offset` that the answer names.',
    endpoint: 'files',
    arguments: z.strictObject({
      path: describe(files.path, 'Path of a file, as the other tools list it.'),
      offset: describe(
        integer({ min: 0, max: READABLE_FILE_BYTES, default: 0 }),
        'Characters (Unicode code points) before the page.',
      ),
      limit: describe(integer(FILE_LIMIT_CHARACTERS), 'Characters on the page at most.'),
    }),
    page: { by: 'limit', min: FILE_LIMIT_CHARACTERS.min },
    toText: fileText,
  }),
]

/** What the tools of a server without an address take besides. */
export const AddressArguments = z.strictObject({
  address: z
    .string()
    .min(1, 'is empty; name a repository')
    .max(4 * ADDRESS_BYTES, 'is too long for an address')
    .meta({
      description:
        'Repository to read: `gh/<owner>/<repository>`, with `@<branch, tag or commit>` and a folder behind it where needed, or its URL at GitHub.',
    }),
})

/** The entry of a tool in the list. @param needsAddress whether the tool has the argument `address` */
export function describeTool(
  { name, title, description, endpoint, arguments: schema }: ToolDefinition,
  needsAddress: boolean,
): Tool {
  const input = needsAddress ? AddressArguments.extend((schema as unknown as z.ZodObject).shape) : schema
  return {
    name,
    title,
    description,
    inputSchema: z.toJSONSchema(input, { io: 'input' }) as Tool['inputSchema'],
    outputSchema: outputSchema(endpoint),
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  }
}

/** Some clients hold errors against the schema, too, and clients of older revisions want to read at its top that it is an object. */
function outputSchema(endpoint: ToolEndpoint): NonNullable<Tool['outputSchema']> {
  const schema = z.toJSONSchema(z.union([ENDPOINTS[endpoint].answer, ErrorAnswer]), { io: 'output' })
  return { type: 'object', ...schema } as NonNullable<Tool['outputSchema']>
}

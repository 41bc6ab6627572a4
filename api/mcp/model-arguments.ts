import { ServiceError } from '#core/errors.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import type { ToolDefinition, ToolEndpoint } from './tools.ts'

/** Arguments of a tool, by name. */
export type Given = Readonly<Record<string, unknown>>

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
export function tidyArguments(given: Given, { endpoint }: Pick<ToolDefinition, 'endpoint'>): Given {
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
export async function callWithPath<Result>(given: Given, call: (given: Given) => Promise<Result>): Promise<Result> {
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

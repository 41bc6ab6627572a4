import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import {
  DIRECTORY_MIME_TYPE,
  type Skill,
  type SkillFrontmatter,
  type SkillReadResult,
  type SkillSource,
} from '@modelcontextprotocol/server/ext/skills'
import { z } from 'zod'
import { type Address, formatAddress } from '#core/address.ts'
import { nextSlot } from '#core/concurrency/fair-gate.ts'
import { ServiceError } from '#core/errors.ts'
import {
  baseNameOf,
  encodePath,
  isInside,
  joinPath,
  parentOf,
  parseRepoPath,
  type RepoPath,
  SKILL_FILE,
} from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { answerFromMount, type ReadyMount } from '../mount/open-mount.ts'
import type { Viewer } from '../people/viewer.ts'
import { type CursorBinding, readCursor, sealCursor } from '../reading/cursor.ts'
import { requireReady } from '../reading/file-page.ts'
import { findFile, findPackage, listFiles, listPackages, packageAround, type SkillPackage } from '../reading/packages.ts'

/** Skills on a page, and files of skills: a page ends behind the skill that reaches the second number. */
const PAGE_SKILLS = 100
const PAGE_FILES = 2_000
/** Skills on a page of the resources of a server. */
const LISTED_SKILLS = 100
/** Of a file as a resource: an answer in JSON takes several times its bytes, of one message and for all who wait. */
const RESOURCE_BYTES = 4 * 1024 * 1024
const Position = z.string()

/** The skills of an address, and the pages of `resources/list`: the SDK has a hook for the whole list alone. */
export interface PagedSkillSource extends Omit<SkillSource, 'listResources'> {
  listResourcePage(cursor: string | undefined): Promise<ListResourcesResult>
  /** @throws ProtocolError */
  readResource(uri: string): Promise<ReadResourceResult>
}

/** What a source needs to read an address. */
export interface SkillSourceOptions {
  /** In the host's spelling. */
  address: Address
  viewer: Viewer
  /** Makes an error of the protocol of whatever was thrown. */
  toProtocolError(thrown: unknown): Error
}

/**
 * The skills of an address for clients of the skills extension (SEP-2640): those that such clients take, each with all of its files and their
 * digests. Rules and includes from outside its folder are no part of a skill here; the tool `load_skill` delivers them.
 */
export function createSkillSource(deps: Deps, { address, viewer, toProtocolError }: SkillSourceOptions): PagedSkillSource {
  const base = `skill:/${formatAddress({ ...address, ref: null, path: '' as RepoPath })}`

  async function read<Answer>(answer: (mount: ReadyMount) => Promise<Answer>): Promise<Answer> {
    try {
      return await answerFromMount(deps, { viewer, subject: address }, mount => answer(requireReady(mount, deps.clock.now())))
    } catch (error) {
      throw toProtocolError(error)
    }
  }

  const readFile = (uri: string): Promise<SkillReadResult | undefined> =>
    read(async ({ snapshot, address: { path: mounted } }) => {
      const path = pathOf(uri, base)
      const one = path === null ? null : await packageAround(snapshot, mounted, parentOf(path))
      const file = one && path !== null ? await findFile(snapshot, one, nameIn(one, path)) : null
      if (file === null) return undefined
      if (file.sizeBytes > RESOURCE_BYTES) throw tooLarge(file.name)
      const bytes = await snapshot.record(file.record)
      // What follows, up to the bytes of the answer, takes a tenth of a second for the largest files.
      await nextSlot('resource')
      const text = decodeText(bytes)
      const mimeType = mimeTypeOf(file.name)
      return (text === null ? { bytes, mimeType } : { text, mimeType }) satisfies SkillReadResult
    })

  return {
    list: ({ cursor }, { mcpReq: { signal } }) => read(mount => listPage(deps, mount, base, { cursor, signal })),

    get: uri =>
      read(async mount => {
        const path = pathOf(uri, base)
        const one = path !== null && baseNameOf(path) === SKILL_FILE ? await packageIn(mount, parentOf(path)) : null
        return one === null ? undefined : await entryOf(mount, one, base)
      }),

    read: readFile,

    async readResource(named) {
      const uri = URL.parse(named)?.href
      if (uri === undefined) {
        const data = { uri: named, reason: 'invalid_uri' }
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource URI ${named} is invalid`, data)
      }
      const found = await readFile(uri)
      if (found === undefined) throw new ResourceNotFoundError(uri)
      const { mimeType } = found
      const content = 'text' in found ? { text: found.text } : { blob: Buffer.from(found.bytes).toString('base64') }
      return { contents: [{ uri, ...(mimeType !== undefined && { mimeType }), ...content }] }
    },

    readDirectory: uri =>
      read(async mount => {
        const path = pathOf(uri, base)
        const one = path === null ? null : await packageAround(mount.snapshot, mount.address.path, path)
        return one === null || path === null ? undefined : await listDirectory(mount, one, path, base)
      }),

    listResourcePage: cursor => read(mount => listResources(deps, mount, base, cursor)),
  }
}

function tooLarge(name: string): ServiceError {
  const message = `${name} is larger than ${RESOURCE_BYTES} bytes, and no resource of MCP; install the skill with npx skills or git`
  return new ServiceError('file.too_large', { message })
}

async function listResources(
  { cursorKeys }: Pick<Deps, 'cursorKeys'>,
  mount: ReadyMount,
  base: string,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const binding = bindingOf(mount, 'resources/list')
  const from = cursor === undefined ? '' : readCursor(cursorKeys, binding, cursor, Position)
  const packages = await listPackages(mount.snapshot, mount.address.path, { wanted: isForMcp, from, limit: LISTED_SKILLS + 1 })
  const resources = packages.slice(0, LISTED_SKILLS).map(one => {
    const { name, description } = one.frontMatter
    return { uri: uriOf(base, one.path), name, description, mimeType: mimeTypeOf(SKILL_FILE) }
  })
  const next = packages[LISTED_SKILLS]
  return { resources, ...(next ? { nextCursor: sealCursor(cursorKeys, binding, next.path) } : {}) }
}

function bindingOf({ repository, commit, address }: ReadyMount, route: string): CursorBinding {
  return { route, repositoryId: repository.id, commit, parameters: { mount: address.path } }
}

async function listPage(
  { cursorKeys }: Pick<Deps, 'cursorKeys'>,
  mount: ReadyMount,
  base: string,
  { cursor, signal }: { cursor: string | undefined; signal: AbortSignal },
) {
  const { snapshot, address } = mount
  const binding = bindingOf(mount, 'skills/list')
  const from = cursor === undefined ? '' : readCursor(cursorKeys, binding, cursor, Position)
  const packages = await listPackages(snapshot, address.path, { wanted: isForMcp, from, limit: PAGE_SKILLS + 1 })
  const skills: Skill[] = []
  let files = 0
  for (const one of packages.slice(0, PAGE_SKILLS)) {
    if (signal.aborted) return { skills: [] }
    const entry = await entryOf(mount, one, base)
    skills.push(entry)
    files += entry.resources.length
    if (files >= PAGE_FILES) break
  }
  const next = packages[skills.length]
  return { skills, ...(next ? { nextCursor: sealCursor(cursorKeys, binding, next.path) } : {}) }
}

async function entryOf({ snapshot, address, commit }: ReadyMount, one: SkillPackage, base: string): Promise<Skill> {
  const files = await listFiles(snapshot, one)
  const resources = files.map(({ name, sha256, sizeBytes }) => {
    return { uri: uriOf(base, pathIn(one, name)), digest: `sha256:${sha256}`, size: sizeBytes }
  })
  const source = { address: formatAddress(address), commit, path: one.path, trust: 'untrusted' }
  const excluded = one.excluded > 0 ? { excludedFiles: one.excluded } : {}
  return {
    uri: uriOf(base, one.path),
    frontmatter: one.frontMatter as SkillFrontmatter,
    resources: resources.sort((left, right) => (left.uri < right.uri ? -1 : 1)),
    _meta: { 'dev.mountglass/source': { ...source, ...excluded } },
  }
}

/** The files and folders right below a folder of a package. */
async function listDirectory({ snapshot }: ReadyMount, one: SkillPackage, folder: RepoPath, base: string) {
  const below = folder === one.directory ? '' : `${nameIn(one, folder)}/`
  const files = (await listFiles(snapshot, one)).filter(file => file.name.startsWith(below))
  if (files.length === 0) return undefined
  const children = Map.groupBy(files, file => file.name.slice(below.length).split('/', 1)[0] ?? '')
  const resources = [...children].map(([name, [first]]) => {
    const uri = uriOf(base, pathIn(one, below + name))
    return first?.name === below + name
      ? { uri, name, mimeType: mimeTypeOf(name), size: first.sizeBytes }
      : { uri, name, mimeType: DIRECTORY_MIME_TYPE }
  })
  return { resources: resources.sort((left, right) => (left.uri < right.uri ? -1 : 1)) }
}

/** Clients refuse the others. */
const isForMcp = (one: SkillPackage) => one.isForMcp

/** The package of a folder that lies in the mount. */
async function packageIn({ snapshot, address }: ReadyMount, directory: RepoPath): Promise<SkillPackage | null> {
  const found = isInside(address.path, directory) ? await findPackage(snapshot, directory) : null
  return found?.isForMcp ? found : null
}

function uriOf(base: string, path: RepoPath): string {
  return `${base}/${encodePath(path)}`
}

/** The canonical path that a URI of this server names; `null` when it names none. */
function pathOf(uri: string, base: string): RepoPath | null {
  if (!uri.startsWith(`${base}/`)) return null
  try {
    return parseRepoPath(decodeURIComponent(uri.slice(base.length + 1)))
  } catch {
    return null
  }
}

function nameIn({ directory }: SkillPackage, path: RepoPath): string {
  return directory === '' ? path : path.slice(directory.length + 1)
}

function pathIn({ directory }: SkillPackage, name: string): RepoPath {
  return joinPath(directory, name)
}

/** Types by which clients choose how to show a file. What is text comes as text, whatever its type. */
const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  mdx: 'text/markdown',
  markdown: 'text/markdown',
  txt: 'text/plain',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  py: 'text/x-python',
  sh: 'application/x-sh',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/typescript',
  html: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
}

/** The type of a file by the extension of its name. */
function mimeTypeOf(name: string): string {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] as string) : 'application/octet-stream'
}

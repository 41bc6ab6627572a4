import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { createFairGate, type FairGateLimits, GateFull } from '#core/concurrency/fair-gate.ts'
import { ServiceError } from '#core/errors.ts'
import { SKILLS } from '#core/limits.ts'
import { baseNameOf, isInside, joinPath, parentOf, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { packageEntries } from '#core/skill-package.ts'
import type { FileRow, Location, PackageRow } from '#core/snapshot/format.ts'
import { ArchiveWriter } from '#core/tar-archive.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'

type Json = z.infer<ReturnType<typeof z.json>>

/** A skill that clients can install. */
export interface SkillPackage {
  /** Of its `SKILL.md`. */
  path: RepoPath
  directory: RepoPath
  frontMatter: Readonly<Record<string, Json>> & { name: string; description: string }
  archive: { sha256: string; sizeBytes: number }
  /** Number of its files that manifests exclude. */
  excluded: number
  notices: readonly RepoPath[]
  /** `SKILL.md` path of the skill that it is a byte-identical copy of. */
  copyOf: RepoPath | null
  /** Clients of the skills extension of MCP take it. */
  isForMcp: boolean
}

/** A file of a package. */
export interface PackagedFile {
  /** Path below the folder of the skill. */
  name: string
  sizeBytes: number
  sha256: string
  isExecutable: boolean
  /** Its bytes. */
  record: Location
}

/** Which packages of a folder are wanted, and from which path on. */
export interface PackageQuery {
  wanted?: (one: SkillPackage) => boolean
  from?: string
  limit?: number
}

/** The packages of a folder, in byte order of their paths. Without copies of skills that lie in the folder, too. */
export async function listPackages(
  snapshot: Snapshot,
  folder: RepoPath,
  { wanted = () => true, from = '', limit = Number.POSITIVE_INFINITY }: PackageQuery = {},
): Promise<SkillPackage[]> {
  const isListed = (one: SkillPackage) => !(one.copyOf !== null && isInside(folder, one.copyOf)) && wanted(one)
  const prefix = folder === '' ? '' : `${folder}/`
  const found: SkillPackage[] = []
  for (let next: string | undefined = from; next !== undefined && found.length < limit; ) {
    const rows: (readonly [string, PackageRow])[] = await snapshot.range('packages', { prefix, from: next, limit: ROWS + 1 })
    next = rows[ROWS]?.[0]
    found.push(
      ...rows
        .slice(0, ROWS)
        .flatMap(([path, row]) => packageOf(path as RepoPath, row) ?? [])
        .filter(isListed),
    )
  }
  return found.slice(0, limit)
}

/** Rows that are read at once. */
const ROWS = 256

/** The package of the skill in a folder, if clients can install it. */
export async function findPackage(snapshot: Snapshot, directory: RepoPath): Promise<SkillPackage | null> {
  const path = joinPath(directory, SKILL_FILE)
  const row = await snapshot.get('packages', path)
  return row === null ? null : packageOf(path, row)
}

/** The files of a package in the order of its archive. */
export async function listFiles(snapshot: Snapshot, one: SkillPackage): Promise<PackagedFile[]> {
  const prefix = one.directory === '' ? '' : `${one.directory}/`
  const [rows, notices] = await Promise.all([
    snapshot.range('files', { prefix }),
    Promise.all(one.notices.map(async path => [path, await snapshot.get('files', path)] as const)),
  ])
  const held = new Map([...rows, ...notices].flatMap(([path, row]) => (row?.record ? [[path as RepoPath, row] as const] : [])))
  const files = rows.flatMap(([path, row]) => (row.record ? [path as RepoPath] : []))
  return packageEntries({ ...one, files }).flatMap(({ name, source }) => {
    const file = fileOf(name, held.get(source))
    return file === null ? [] : [file]
  })
}

/** A file of a package by its name; `null` when there is none. */
export async function findFile(snapshot: Snapshot, one: SkillPackage, name: string): Promise<PackagedFile | null> {
  const path = (one.directory === '' ? name : `${one.directory}/${name}`) as RepoPath
  const source = one.notices.find(notice => baseNameOf(notice) === name) ?? path
  return fileOf(name, (await snapshot.get('files', source)) ?? undefined)
}

/** The innermost package of a mounted folder that has what lies at a path. */
export async function packageAround(snapshot: Snapshot, mounted: RepoPath, path: RepoPath): Promise<SkillPackage | null> {
  for (let folder = path; isInside(mounted, folder); folder = parentOf(folder)) {
    const found = await findPackage(snapshot, folder)
    if (found !== null) return found
    if (folder === '') return null
  }
  return null
}

function packageOf(path: RepoPath, row: PackageRow): SkillPackage | null {
  if ('refusal' in row) return null
  const { frontMatter, archive, notices = [], excluded = 0, copyOf, mcpRefusal } = row
  return {
    path,
    directory: parentOf(path),
    frontMatter: frontMatter as SkillPackage['frontMatter'],
    archive,
    excluded,
    notices: notices.map(notice => notice as RepoPath),
    copyOf: copyOf === undefined ? null : (copyOf as RepoPath),
    isForMcp: mcpRefusal === undefined,
  }
}

function fileOf(name: string, row: FileRow | undefined): PackagedFile | null {
  if (row?.record === undefined || row.sha256 === undefined) return null
  const { sizeBytes, sha256, record, executable = false } = row
  return { name, sizeBytes, sha256, record, isExecutable: executable }
}

/** An archive, and its bytes once more compressed for the way: it is not compressed itself, so that its digest follows from its files. */
interface Archive {
  bytes: Uint8Array
  compressed: Uint8Array
}

/** Archives of packages. Nothing is stored: the last ones are kept in memory. */
export interface Archives {
  /**
   * @param turn whose turn it takes, and when it leaves its line
   * @throws ServiceError `skill.unavailable` when the stored files do not give the archive that the index promised; `mount.unavailable` when the
   *   client waits for too many; or the reason of the signal
   */
  build(snapshot: Snapshot, one: SkillPackage, turn: { client: string; signal: AbortSignal }): Promise<Archive>
}

const CACHE_BYTES = 48 * 1024 * 1024
/** An archive that is made takes up to three times its size. Clients take turns; `npx skills` asks for all archives of an index at once. */
const MAKING: FairGateLimits = { limit: 2, limitEach: 1, maxWaitingEach: SKILLS }

export function createArchives(): Archives {
  const inTurn = createFairGate(MAKING)
  const cache = new LRUCache<string, Archive, Parameters<typeof makeArchive>>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes, compressed }) => bytes.length + compressed.length,
    // Callers that wait get their archive, also if others evict it first.
    ignoreFetchAbort: true,
    fetchMethod: (_sha256, _stale, { context }) => makeArchive(...context),
  })
  return {
    async build(snapshot, one, { client, signal }) {
      const { sha256 } = one.archive
      const make = () => cache.forceFetch(sha256, { context: [snapshot, one] })
      return cache.get(sha256) ?? (await inTurn(client, make, signal).catch(busyIfFull))
    },
  }
}

function busyIfFull(error: unknown): never {
  if (!(error instanceof GateFull)) throw error
  throw new ServiceError('mount.unavailable', { message: BUSY, retryAfter: BUSY_RETRY_SECONDS, cause: error })
}

const BUSY_RETRY_SECONDS = 5
const BUSY = `too many archives are being made; try again after ${BUSY_RETRY_SECONDS} seconds`

const compress = promisify(gzip)

async function makeArchive(snapshot: Snapshot, one: SkillPackage): Promise<Archive> {
  const parts: Uint8Array[] = []
  const writer = new ArchiveWriter(crc32, bytes => parts.push(bytes))
  for (const file of await listFiles(snapshot, one)) {
    const bytes = await snapshot.record(file.record)
    if (bytes.length !== file.sizeBytes) throw notAsPromised(one)
    writer.add(file, bytes)
  }
  writer.end()
  const bytes = Buffer.concat(parts)
  if (hash('sha256', bytes, 'hex') !== one.archive.sha256) throw notAsPromised(one)
  return { bytes, compressed: await compress(bytes) }
}

function notAsPromised({ path }: SkillPackage): ServiceError {
  return new ServiceError('skill.unavailable', { cause: new Error(`the files of ${path} do not give its archive`) })
}

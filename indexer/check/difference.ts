import { z } from 'zod'
import { compareSides } from '#core/changes/compare.ts'
import { type DeliveredItems, type DeliveredReads, itemsOfRows } from '#core/changes/items.ts'
import { deliveredTexts, type SkillTexts } from '#core/changes/skill-difference.ts'
import { ChangeCount, ChangeItem } from '#core/contract/changes.ts'
import { Commit, Counts, Diagnostic, IndexErrorCode, Path } from '#core/contract/shared.ts'
import { withMessage } from '#core/finding-messages.ts'
import { concerning } from '#core/folder-findings.ts'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { pathOfKey } from '#core/snapshot/delivered.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import type { Location } from '#core/snapshot/format.ts'
import { decodeText } from '#core/text.ts'
import { indexRepository } from '../pipeline/index-repository.ts'
import type { Progress } from '../pipeline/progress.ts'
import { readTree } from '../pipeline/read-tree.ts'
import { createMemorySnapshot, type MemorySnapshot } from './memory-snapshot.ts'
import { keyOf } from './report.ts'

/** A new error: the old side does not have it. */
const NewError = z.object({
  ...Diagnostic.shape,
  /** The skills that it keeps from agents, in full or in part. */
  skills: z.array(Path),
})
export type NewError = z.infer<typeof NewError>

const Compared = z.object({
  format: z.literal(1),
  status: z.literal('compared'),
  from: z.object({ ref: z.string(), commit: Commit }),
  /** `null`: the files of the working folder, which no commit has. */
  to: z.object({ commit: Commit.nullable() }),
  /** The folder that was compared, as a path of its repository. */
  path: Path,
  counts: z.object({ skills: ChangeCount, documents: ChangeCount, manifests: ChangeCount }),
  /** Of the new side: skills and documents whose license permits only a description. */
  notCompared: Counts,
  /** As `GET /api/v1/changes` lists them. */
  items: z.array(ChangeItem),
  errors: z.array(NewError),
  /** Of the new side. */
  diagnostics: z.array(Diagnostic),
  /** A limit was reached on one of the sides: part of it is not compared. */
  truncated: z.boolean(),
})
export type Compared = z.infer<typeof Compared>

const Failed = z.object({ format: z.literal(1), status: z.literal('failed'), errorCode: IndexErrorCode, message: z.string() })

/** What `mountglass diff --json` prints. */
export const DiffReport = z.discriminatedUnion('status', [Compared, Failed])
export type DiffReport = z.infer<typeof DiffReport>

type FoundError = DiagnosticRow & Pick<NewError, 'skills'>

/** What agents receive from one state of a repository. */
export interface ReadSide extends MemorySide {
  diagnostics: DiagnosticRow[]
  /** Those that concern the folder, each with the listed skills that lack something because of it. */
  errors: FoundError[]
  truncated: boolean
}

/**
 * Indexes a state of a repository in memory.
 *
 * @throws IndexError, ReadError
 */
export async function readSide(
  reader: RepositoryReader,
  repository: { name: string; visibility: 'public' | 'private' },
  folder: RepoPath,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ReadSide> {
  const tree = await readTree(reader, onProgress)
  const snapshot = await indexRepository(createMemorySnapshot(), tree, repository, { onProgress })
  const diagnostics = snapshot.root.diagnostics.filter(({ path }) => isInside(folder, path as RepoPath))
  const side = memorySideOf(snapshot, folder)
  return { ...side, diagnostics, errors: errorsOf(snapshot, folder, side), truncated: snapshot.truncated }
}

function errorsOf(snapshot: MemorySnapshot, folder: RepoPath, { items }: MemorySide): FoundError[] {
  const isConcerned = concerning(folder)
  const told = [...items.skills.keys()].flatMap(path => {
    const diagnostics = snapshot.rows('contexts').get(path)?.diagnostics ?? []
    return [...new Set(diagnostics.map(keyOf))].map(key => ({ key, path }))
  })
  const skillsByError = Map.groupBy(told, ({ key }) => key)
  return [...snapshot.rows('diagnostics').values()]
    .filter(({ severity, path }) => severity === 'error' && isConcerned(path as RepoPath))
    .map(diagnostic => ({ ...diagnostic, skills: (skillsByError.get(keyOf(diagnostic)) ?? []).map(one => one.path) }))
}

/** Compares two sides. */
export async function compareRead(
  before: ReadSide,
  after: ReadSide,
  subject: Pick<Compared, 'from' | 'to' | 'path'>,
): Promise<Compared> {
  const { items, counts } = await compareSides(before, after)
  const known = new Set(before.errors.map(keyOf))
  const errors = after.errors.filter(error => !known.has(keyOf(error))).map(error => withClosed(error, before))
  const truncated = before.truncated || after.truncated
  const { notCompared } = after
  const told = { errors: errors.map(withMessage), diagnostics: after.diagnostics.map(withMessage) }
  return { format: 1, status: 'compared', ...subject, counts, notCompared, items, ...told, truncated }
}

/** A folder that an error closes has no skills any more: they are those of the old side. */
function withClosed(error: FoundError, { items }: ReadSide): FoundError {
  const { boundary } = error
  if (boundary === undefined) return error
  return { ...error, skills: [...items.skills.keys()].filter(path => isInside(boundary as RepoPath, path as RepoPath)) }
}

/** One side of a comparison, in memory. */
interface MemorySide {
  items: DeliveredItems
  reads: DeliveredReads
  /** Skills and documents whose texts are not compared, since they are described only. */
  notCompared: Counts
  /** What a listed skill delivers; `null` where the folder lists none. */
  skillTexts(path: string): Promise<SkillTexts | null>
  /** The path of a file's own bytes, if a symlink gives it this one. */
  placeOf(path: string): string
}

/** What a snapshot in memory delivers below a folder: a mount of the folder. */
function memorySideOf(snapshot: MemorySnapshot, folder: RepoPath): MemorySide {
  const rows = snapshot.rows('delivered')
  const isMountInsideSkill = snapshot.rows('folders').get(folder)?.pages !== undefined
  const items = itemsOfRows(
    [...rows].filter(([key]) => {
      const isShown = key.startsWith('item\0') || (isMountInsideSkill && key.startsWith('page\0'))
      return isShown && isInside(folder, pathOfKey(key) as RepoPath)
    }),
  )
  const read = async (location: Location) => snapshot.record(location)
  const fileText = (path: string): string => {
    const record = snapshot.rows('files').get(path)?.record
    return (record && decodeText(snapshot.record(record))) ?? ''
  }
  return {
    items,
    notCompared: snapshot.rows('folders').get(folder)?.described ?? { skills: 0, documents: 0 },
    reads: {
      async textOf(kind, path) {
        return kind === 'document' ? fileText(path) : (snapshot.rows('contexts').get(path)?.full?.body ?? '')
      },
      async factsOf(keys) {
        const found = keys.map(key => [key, rows.get(key)] as const)
        return new Map(found.flatMap(([key, row]) => (row?.kind === 'text' ? [[key, row.facts] as const] : [])))
      },
      async knownHosts(hosts) {
        const known = snapshot.rows('hosts')
        return new Set(hosts.filter(host => known.has(host)))
      },
    },
    async skillTexts(path) {
      const context = items.skills.has(path) ? snapshot.rows('contexts').get(path) : undefined
      return context === undefined ? null : await deliveredTexts(path, context, read)
    },
    placeOf: path => snapshot.rows('files').get(path)?.target ?? path,
  }
}

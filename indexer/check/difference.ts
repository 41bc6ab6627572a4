import { z } from 'zod'
import { compareSides } from '#core/changes/compare.ts'
import { ChangeCount, ChangeItem } from '#core/contract/changes.ts'
import { Commit, Diagnostic, IndexErrorCode, Path } from '#core/contract/shared.ts'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { indexRepository } from '../pipeline/index-repository.ts'
import { readTree } from '../pipeline/read-tree.ts'
import { type KeptSide, keptSideOf } from './kept-side.ts'
import { createKeptSnapshot } from './kept-snapshot.ts'

const Compared = z.object({
  format: z.literal(1),
  status: z.literal('compared'),
  from: z.object({ ref: z.string(), commit: Commit }),
  /** `null`: the files of the working folder, which no commit has. */
  to: z.object({ commit: Commit.nullable() }),
  /** The folder that was compared, as a path of its repository. */
  path: Path,
  counts: z.object({ skills: ChangeCount, documents: ChangeCount, manifests: ChangeCount }),
  /** As `GET /api/v1/changes` lists them. */
  items: z.array(ChangeItem),
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

/** What agents receive from one state of a repository. */
export interface ReadSide extends KeptSide {
  diagnostics: Diagnostic[]
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
): Promise<ReadSide> {
  const snapshot = await indexRepository(createKeptSnapshot(), await readTree(reader), repository, {})
  const diagnostics = snapshot.root.diagnostics.filter(({ path }) => isInside(folder, path as RepoPath))
  return { ...keptSideOf(snapshot, folder), diagnostics, truncated: snapshot.truncated }
}

/** Compares two sides. */
export async function compareRead(
  before: ReadSide,
  after: ReadSide,
  subject: Pick<Compared, 'from' | 'to' | 'path'>,
): Promise<Compared> {
  const { items, counts } = await compareSides(before, after)
  const truncated = before.truncated || after.truncated
  return { format: 1, status: 'compared', ...subject, counts, items, diagnostics: after.diagnostics, truncated }
}

import type { Address } from '#core/address.ts'
import type { Diagnostic } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { DIAGNOSTICS_PER_ANSWER } from '#core/limits.ts'
import { ancestorsOf, isInside, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import type { FolderRow } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'

/**
 * The folder that a request means: its `path` parameter, or the mounted folder.
 *
 * @throws ServiceError `request.invalid` when the text spells no canonical path
 */
export function folderOf(mounted: RepoPath, path: string | undefined): RepoPath {
  if (path === undefined) return mounted
  const folder = parseRepoPath(path)
  if (folder === null) throw new ServiceError('request.invalid', { message: 'path is not a canonical path of a repository' })
  return folder
}

/** What the snapshot knows of a folder; `null` when it is not in the tree or withheld. */
export async function readFolder(snapshot: Snapshot, folder: RepoPath): Promise<FolderRow | null> {
  return folder === '' ? snapshot.header.root.folder : await snapshot.get('folders', folder)
}

/** What of a ready mount decides which folders it shows. */
interface FolderMount {
  address: Pick<Address, 'path'>
  snapshot: Snapshot
  /** The mounted folder. */
  folder: FolderRow
}

/** @throws ServiceError `mount.path_not_found` when the mount shows no such folder */
export async function requireFolder(mount: FolderMount, folder: RepoPath): Promise<FolderRow> {
  if (folder === mount.address.path) return mount.folder
  const row = isInside(mount.address.path, folder) ? await readFolder(mount.snapshot, folder) : null
  if (!row) throw new ServiceError('mount.path_not_found')
  return row
}

/** Diagnostics that concern a folder: of the manifests that apply to it, and of everything below it. By path, bounded. */
export async function diagnosticsOf(snapshot: Snapshot, folder: RepoPath): Promise<Diagnostic[]> {
  if (folder === '') return bounded(snapshot.header.root.diagnostics, folder)
  if (snapshot.header.tables.diagnostics.rows === 0) return []
  const limit = DIAGNOSTICS_PER_ANSWER + 1
  const above = ancestorsOf(folder).map(ancestor => `${ancestor === '' ? '' : `${ancestor}/`}${MANIFEST_NAME}\0`)
  const found = await Promise.all(
    [...above, `${folder}\0`, `${folder}/`].map(prefix => snapshot.range('diagnostics', { prefix, limit })),
  )
  const all = found.flat().sort(([left], [right]) => compareBytes(left, right))
  return bounded(
    all.map(([, row]) => row),
    folder,
  )
}

function bounded(diagnostics: readonly Diagnostic[], folder: RepoPath): Diagnostic[] {
  const listed = diagnostics.slice(0, DIAGNOSTICS_PER_ANSWER)
  return diagnostics.length > listed.length ? [...listed, truncated(folder)] : listed
}

const MANIFEST_NAME = 'SKILLSET.md'

function truncated(path: RepoPath): Diagnostic {
  return {
    code: 'diagnostics.truncated',
    severity: 'info',
    path,
    message: `there are more diagnostics than the ${DIAGNOSTICS_PER_ANSWER} that are listed`,
  }
}

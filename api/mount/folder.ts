import type { Address } from '#core/address.ts'
import type { Diagnostic, Warning } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { withLevel, withLevelAlone, withMessage } from '#core/finding-messages.ts'
import { DIAGNOSTICS_PER_ANSWER } from '#core/limits.ts'
import { ancestorsOf, isInside, joinPath, MANIFEST_FILE, type RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import type { FolderRow } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'

/** The folder that a request refers to: its parameter `path`, which its contract has checked, or the mounted folder. */
export function folderOf(mounted: RepoPath, path: string | undefined): RepoPath {
  return path === undefined ? mounted : (path as RepoPath)
}

/** The row of a folder; `null` when the folder is not in the tree or is withheld. */
export async function readFolder(snapshot: Snapshot, folder: RepoPath): Promise<FolderRow | null> {
  return folder === '' ? snapshot.header.root.folder : await snapshot.get('folders', folder)
}

/** The part of a ready mount that decides which folders it shows. */
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

/**
 * Diagnostics of a folder: those of the manifests that apply to it and of everything below it, in path order, bounded.
 *
 * @param own diagnostics that are not stored
 */
export async function diagnosticsOf(
  snapshot: Snapshot,
  folder: RepoPath,
  own: readonly DiagnosticRow[] = [],
): Promise<Diagnostic[]> {
  const stored = await storedDiagnostics(snapshot, folder)
  const all = own.length === 0 ? stored : [...own, ...stored].sort((left, right) => compareBytes(left.path, right.path))
  const listed = all.slice(0, DIAGNOSTICS_PER_ANSWER)
  return (all.length > listed.length ? [...listed, truncated(folder)] : listed).map(withMessage)
}

/** In path order, and one more than an answer lists. */
async function storedDiagnostics(snapshot: Snapshot, folder: RepoPath): Promise<readonly DiagnosticRow[]> {
  if (folder === '') return snapshot.header.root.diagnostics
  if (snapshot.header.tables.diagnostics.rows === 0) return []
  const limit = DIAGNOSTICS_PER_ANSWER + 1
  const above = ancestorsOf(folder).map(ancestor => `${joinPath(ancestor, MANIFEST_FILE)}\0`)
  const found = await Promise.all(
    [...above, `${folder}\0`, `${folder}/`].map(prefix => snapshot.range('diagnostics', { prefix, limit })),
  )
  const all = found.flat().sort(([left], [right]) => compareBytes(left, right))
  return all.map(([, row]) => row)
}

function truncated(path: RepoPath): DiagnosticRow {
  return { ...finding('diagnostics.truncated', { limit: DIAGNOSTICS_PER_ANSWER }), severity: 'info', path }
}

/**
 * The warnings of a skill as a mount tells them: none names another skill that lies outside of it.
 *
 * @param isDescribed its text is not sent, and no warning quotes it
 */
export function warningsInMount(mounted: RepoPath, warnings: readonly WarningRow[], isDescribed: boolean): Warning[] {
  if (isDescribed) return warnings.map(withLevelAlone)
  return warnings.map(warning => {
    const { code, field, values } = warning
    const isOutside = code === 'name.duplicate' && !isInside(mounted, String(values?.path) as RepoPath)
    return withLevel(isOutside ? { ...finding('name.duplicate:outside'), ...(field !== undefined && { field }) } : warning)
  })
}

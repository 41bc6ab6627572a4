import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import { isBinaryName, isProse } from './content-kind.ts'
import type { TreeFile } from './tree.ts'

/** The part of a planned file that decides its place in the budget. */
interface Budgeted {
  kind: 'skill' | 'manifest' | 'supporting' | 'document' | 'overview' | 'community'
  file: TreeFile
}

/**
 * Drops each file for which `INDEXED_TEXT_BYTES` have no room, in the order of `rankOf`, and by path within a rank. Files that are never read,
 * because they are too large or their name says that they are binary, are kept and do not count. The bytes of equal files count once.
 */
export function withinBudget<File extends Budgeted>(files: readonly File[]): { files: File[]; dropped: number } {
  let leftBytes = INDEXED_TEXT_BYTES
  const dropped = new Set<File>()
  const counted = new Set<string>()
  for (const planned of RANKS.flatMap(rank => files.filter(planned => rankOf(planned) === rank))) {
    const { path, oid, sizeBytes } = planned.file
    if (sizeBytes === null || sizeBytes > READABLE_FILE_BYTES || isBinaryName(path) || counted.has(oid)) continue
    if (sizeBytes > leftBytes) dropped.add(planned)
    else {
      leftBytes -= sizeBytes
      counted.add(oid)
    }
  }
  return { files: files.filter(planned => !dropped.has(planned)), dropped: dropped.size }
}

const RANKS = [0, 1, 2, 3, 4] as const

/**
 * Skills and manifests, then the prose of skills, then documents and other files outside skills, then the code and data of skills. The paths that symlinks
 * give to files come last.
 */
function rankOf({ kind, file }: Budgeted): (typeof RANKS)[number] {
  if (kind === 'skill' || kind === 'manifest') return 0
  if (file.target !== undefined) return 4
  if (kind !== 'supporting') return 2
  return isProse(file.path) ? 1 : 3
}

import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import { isBinaryName } from '../rules/content-kind.ts'
import { sumDistinctBytes, type TreeFile } from '../rules/tree.ts'
import type { WantedFile } from './content-store.ts'

/** A file that only links lead to. */
interface LinkedFile {
  file: TreeFile
  served: boolean
}

/**
 * Selects linked files that are served and readable, up to the text of one snapshot. Each blob is read, and counts, once.
 *
 * @param before the files that were wanted already
 * @param isHeld whether the bytes of a blob are in the snapshot
 * @returns `overBudget`: how many exceed that text
 */
export function selectLinked(
  linked: readonly LinkedFile[],
  before: readonly WantedFile[],
  isHeld: (oid: string) => boolean,
): { selected: WantedFile[]; overBudget: number } {
  const texts = before.map(({ file }) => file).filter(({ path }) => !isBinaryName(path))
  const counted = new Set(texts.map(({ oid }) => oid))
  const selected = new Map<string, WantedFile>()
  let leftBytes = INDEXED_TEXT_BYTES - sumDistinctBytes(texts)
  let overBudget = 0
  for (const { file, served } of linked) {
    if (!served || !isReadable(file) || selected.has(file.oid) || isHeld(file.oid)) continue
    const bytes = counted.has(file.oid) ? 0 : file.sizeBytes
    if (bytes > leftBytes) overBudget++
    else {
      leftBytes -= bytes
      selected.set(file.oid, { file, keep: true, packaged: false, described: false, mayCopy: true, followed: false })
    }
  }
  return { selected: [...selected.values()], overBudget }
}

export function isReadable(file: TreeFile): file is TreeFile & { sizeBytes: number } {
  return file.sizeBytes !== null && file.sizeBytes <= READABLE_FILE_BYTES && !isBinaryName(file.path)
}

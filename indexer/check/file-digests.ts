import type { DeliveredItems } from '#core/changes/items.ts'
import type { DeliveredFile, DeliveredSkill } from '#core/snapshot/delivered.ts'
import { digestOfBlob, digestOfBytes } from '../rules/delivered-rows.ts'

/** Reads a file of the working folder; `null` when it is not there any more. */
export type ReadDigests = (path: string, sizeBytes: number) => Promise<{ blob: string; sha256: string } | null>

/**
 * Gives the files of a working folder the digests by which they are told from those of a commit. A working folder names no blobs, so without
 * them a large or binary file that was edited, and kept its size, counts as unchanged. A file is read only if the commit has one of the same
 * size: others differ anyway.
 */
export async function withDigestsLike(before: DeliveredItems, after: DeliveredItems, read: ReadDigests): Promise<DeliveredItems> {
  const known = knownFiles(before)
  const found = new Map<string, DeliveredFile>()
  const skills = new Map<string, DeliveredSkill>()
  for (const [path, skill] of after.skills) {
    if (skill.full === undefined) skills.set(path, skill)
    else {
      const files: DeliveredFile[] = []
      for (const file of skill.full.files) {
        const digested = found.get(file[0]) ?? (await withDigestLike(known, file, read))
        found.set(file[0], digested)
        files.push(digested)
      }
      skills.set(path, { ...skill, full: { ...skill.full, files } })
    }
  }
  return { ...after, skills }
}

type Kind = 'blob' | 'bytes'

/** Files of a commit. */
interface KnownFiles {
  byPath: ReadonlyMap<string, DeliveredFile>
  /** Sizes of those that are told by their blobs. */
  blobSizes: ReadonlySet<number>
}

function knownFiles({ skills }: DeliveredItems): KnownFiles {
  const files = [...skills.values()].flatMap(({ full }) => full?.files ?? [])
  return {
    byPath: new Map(files.map(file => [file[0], file])),
    blobSizes: new Set(files.filter(([, , digest]) => kindOf(digest) === 'blob').map(([, size]) => size)),
  }
}

async function withDigestLike(known: KnownFiles, file: DeliveredFile, read: ReadDigests): Promise<DeliveredFile> {
  const [path, size, digest, executable] = file
  const wanted = wantedKind(known, file)
  if (wanted === null || wanted === kindOf(digest)) return file
  const digests = await read(path, size)
  if (digests === null) return file
  return [path, size, wanted === 'blob' ? digestOfBlob(digests.blob) : digestOfBytes(digests.sha256), executable]
}

/** The kind of digest that can tell the file from the one that it is compared with: at its path, or, where its skill moved, at another one. */
function wantedKind({ byPath, blobSizes }: KnownFiles, [path, size, digest]: DeliveredFile): Kind | null {
  const earlier = byPath.get(path)
  if (earlier !== undefined) return earlier[1] === size ? kindOf(earlier[2]) : null
  return digest === null && blobSizes.has(size) ? 'blob' : null
}

function kindOf(digest: string | null): Kind | null {
  return digest === null ? null : digest.startsWith('git:') ? 'blob' : 'bytes'
}

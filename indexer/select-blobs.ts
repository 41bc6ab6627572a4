import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { BlobSelection, BlobUse } from '#core/ports/git-host.ts'
import { isBinaryName } from './build/content-kind.ts'
import { MANIFEST_FILE } from './build/manifest.ts'
import { SKILL_FILE } from './build/skill.ts'

/**
 * What indexing will ask of the blobs. Any text may be asked for, since a skill or a document may link to it. Of what is no text
 * by its name the size is told, where there are skills or manifests to list it.
 */
export const INDEXED_BLOBS: BlobSelection = {
  maxBytes: READABLE_FILE_BYTES,
  usesOf(files) {
    const hasListings = files.some(({ path }) => path !== null && LISTERS.has(path.slice(path.lastIndexOf('/') + 1)))
    return files.map(({ path, mode }): BlobUse => {
      if (path === null || mode === '160000') return 'nothing'
      return mode === '120000' || !isBinaryName(path) ? 'bytes' : hasListings ? 'size' : 'nothing'
    })
  },
}

const LISTERS = new Set([SKILL_FILE, MANIFEST_FILE])

import { MANIFEST_FILE, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'
import type { RepositoryTree } from '../reuse/repository-tree.ts'
import { isSkillPlace } from '../rules/content-kind.ts'

/** A tree that caches the skills and manifests read from it: a snapshot holds only what is served, findings name lines of any of them. */
export interface TreeWithTexts extends RepositoryTree {
  /** The text of a skill or manifest; `null` when no file has this path, or its bytes were not read or are not text. */
  textOf(path: string): string | null
  /** Every `SKILL.md` in the tree. */
  skillPaths: readonly string[]
}

export function rememberTexts(tree: RepositoryTree): TreeWithTexts {
  const oids = new Map(
    tree.entries.flatMap(({ path, mode, oid }) =>
      path !== null && mode !== '120000' && isWanted(path) ? [[path, oid] as const] : [],
    ),
  )
  const wantedIds = new Set(oids.values())
  const bytesById = new Map<string, Uint8Array>()
  return {
    entries: tree.entries,
    skillPaths: [...oids.keys()].filter(path => isSkillPlace(path as RepoPath)),
    async *read(wanted, maxBytes) {
      for await (const blob of tree.read(wanted, maxBytes)) {
        if (blob.bytes !== null && wantedIds.has(blob.oid)) bytesById.set(blob.oid, blob.bytes)
        yield blob
      }
    },
    textOf(path) {
      const bytes = bytesById.get(oids.get(path) ?? '')
      return bytes ? decodeText(bytes) : null
    },
  }
}

function isWanted(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name === SKILL_FILE || name === MANIFEST_FILE
}

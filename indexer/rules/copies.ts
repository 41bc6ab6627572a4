import { createHash, type Hash } from 'node:crypto'
import { isInside, joinPath, type RepoPath } from '#core/repo-path.ts'
import { comparePlaces } from '#core/skill-places.ts'
import { resolveDeclaredPath } from './references.ts'
import { manifestsAbove } from './rule-chain.ts'
import type { ParsedSkill } from './skill.ts'
import type { Tree, TreeFile } from './tree.ts'
import type { Policy } from './withheld.ts'

/** A skill, and whether it is served in full. */
interface Copyable {
  skill: Pick<ParsedSkill, 'path' | 'directory' | 'name' | 'include'>
  file: TreeFile
  full: boolean
}

/** Where the skills are. */
interface Place {
  tree: Tree
  policy: Policy
}

/**
 * The skills that are copies of another one, and that one. Copies have one name and deliver and install the same: their folders have the same
 * files, byte for byte, less those that manifests exclude; the same manifests are above them; and their licenses permit both, or none.
 */
export function findCopies<Skill extends Copyable>(skills: readonly Skill[], place: Place): Map<Skill, Skill> {
  const copies = new Map<Skill, Skill>()
  const digestOf = createFolderDigest(place)
  for (const sameText of groupsBy(skills, ({ file }) => file.oid)) {
    for (const same of groupsBy(sameText, skill => keyOf(skill, place.policy, digestOf))) {
      const first = same.reduce((best, other) => (comparePlaces(other.skill.path, best.skill.path) < 0 ? other : best))
      for (const skill of same) if (skill !== first) copies.set(skill, first)
    }
  }
  return copies
}

/** Groups of two or more; what has no key is in none. */
function groupsBy<Skill>(skills: readonly Skill[], keyOf: (skill: Skill) => string | null): Skill[][] {
  return [...Map.groupBy(skills, keyOf)].flatMap(([key, same]) => (key === null || same.length < 2 ? [] : [same]))
}

function keyOf(
  { skill: { directory, name, include }, full }: Copyable,
  { manifests }: Policy,
  digestOf: (folder: RepoPath) => string | null,
): string | null {
  const digest = digestOf(directory)
  const above = manifestsAbove(manifests, directory).filter(({ folder }) => !isInside(directory, folder))
  // The same words lead elsewhere from another folder.
  const outside = (include ?? [])
    .map(declared => resolveDeclaredPath(declared, directory))
    .filter(path => path !== null && !isInside(directory, path))
  return digest === null ? null : JSON.stringify([digest, name, full, above.map(({ path }) => path), outside])
}

/** Digests what lies in a folder and below it, each folder once; `null` where that is not wholly known. */
function createFolderDigest({ tree, policy }: Place): (folder: RepoPath) => string | null {
  const known = new Map<RepoPath, string | null>()

  function digestOf(path: RepoPath): string | null {
    const found = known.get(path)
    if (found !== undefined) return found
    const hash = createHash('sha256')
    const digest = addFolder(hash, path) ? hash.digest('hex') : null
    known.set(path, digest)
    return digest
  }

  function addFolder(hash: Hash, path: RepoPath): boolean {
    const folder = tree.folders.get(path)
    if (folder === undefined || policy.withheld.get(path) === 'closed' || tree.isPartial(path)) return false
    for (const [name, { mode, oid, path: file }] of folder.files)
      if (!policy.withheld.has(file)) hash.update(`${mode} ${oid} ${name}\0`)
    return folder.folders.every(name => {
      const below = joinPath(path, name)
      if (policy.withheld.get(below) === 'excluded') return true
      const digest = digestOf(below)
      if (digest !== null) hash.update(`40000 ${digest} ${name}\0`)
      return digest !== null
    })
  }

  return digestOf
}

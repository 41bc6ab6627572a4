import { createHash, type Hash } from 'node:crypto'
import { TITLE_CHARACTERS } from '#core/limits.ts'
import { ancestorsOf, isInside, joinPath, type RepoPath } from '#core/repo-path.ts'
import { comparePlaces } from '#core/skill-places.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import { finding } from '#words/findings.ts'
import { includedPaths } from './includes.ts'
import { byPath, type Plan, type PlannedFile, type PlannedSkill } from './plan.ts'
import { manifestsAbove } from './rule-chain.ts'
import { shortLine } from './short-line.ts'
import type { ParsedSkill } from './skill.ts'
import type { Tree } from './tree.ts'
import type { Policy } from './withheld.ts'

/** Where the skills are. */
interface Place {
  tree: Tree
  policy: Policy
  files: ReadonlyMap<RepoPath, PlannedFile>
}

/**
 * Names the originals of copies, and warns of different skills that have one name. It is done once, when it is known which files were left out: whether
 * skills are copies depends on the repository, which of them stands for the others on what an agent receives of them.
 *
 * @param whole with the files that were left out
 * @param late files of it for which the time of the job did not suffice
 */
export function foldCopies(whole: Plan, late: ReadonlySet<RepoPath>): void {
  const skills = whole.skills.filter(({ file }) => !late.has(file.path))
  const incomplete = new Set([...late].flatMap(ancestorsOf))
  for (const same of findCopies(skills, whole)) {
    const complete = same.filter(({ skill }) => !incomplete.has(skill.directory))
    const original = firstPlace(complete.length > 0 ? complete : same)
    for (const planned of same) if (planned !== original) planned.copyOf = original
  }
  warnOfDuplicates(skills)
}

/** The skill in the place where its author edits it. */
function firstPlace(skills: readonly PlannedSkill[]): PlannedSkill {
  return skills.reduce((best, other) => (comparePlaces(other.skill.path, best.skill.path) < 0 ? other : best))
}

/**
 * Sets of listed skills that are copies of each other: they have one name, and deliver and install the same. Their folders have the same files, byte for
 * byte, less those that manifests exclude; the same manifests are above them; they include the same; and they have one license. Its text may lie in another file for each
 * of them, since plugins come with their own.
 */
function findCopies(skills: readonly PlannedSkill[], { tree, policy, files }: Plan): PlannedSkill[][] {
  const listed = skills.filter(({ skill }) => !skill.internal)
  const planned = byPath(files)
  const place: Place = { tree, policy, files: planned }
  const digestOf = createFolderDigest(place)
  return groupsBy(listed, ({ file }) => file.oid).flatMap(sameText => groupsBy(sameText, skill => keyOf(skill, place, digestOf)))
}

/** Groups of two or more; what has no key is in none. */
function groupsBy<Skill>(skills: readonly Skill[], keyOf: (skill: Skill) => string | null): Skill[][] {
  return [...Map.groupBy(skills, keyOf)].flatMap(([key, same]) => (key === null || same.length < 2 ? [] : [same]))
}

function keyOf(planned: PlannedSkill, { policy }: Place, digestOf: (folder: RepoPath) => string | null): string | null {
  const { skill, full, license } = planned
  const { directory, name } = skill
  const digest = digestOf(directory)
  if (digest === null) return null
  const chain = manifestsAbove(policy.manifests, directory)
  // One of its own folder counts by its bytes, also where it is excluded and has no part in the digest.
  const manifests = chain.map(({ path, oid, folder }) => (isInside(directory, folder) ? { oid } : path))
  // The same words lead elsewhere from another folder.
  const includes = includedPaths(chain, skill).map(target =>
    typeof target === 'string' && isInside(directory, target) ? { below: target.slice(directory.length) } : target,
  )
  return JSON.stringify([digest, name, full, manifests, includes, license.license.kind, license.license.name])
}

/** Digests what lies in a folder and below it, each folder once; `null` where that is not wholly known. */
function createFolderDigest({ tree, policy, files }: Place): (folder: RepoPath) => string | null {
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
      if (!policy.withheld.has(file)) hash.update(`${mode} ${oid} ${files.get(file)?.served ?? 'unplanned'} ${name}\0`)
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

/** The part of a planned skill that its name is compared by. */
interface Named<Skill> {
  skill: Pick<ParsedSkill, 'path' | 'name' | 'internal'>
  copyOf: Skill | null
  warnings: WarningRow[]
}

/** Warns of different skills that have one name. Copies are one skill: it has no conflict with itself. */
function warnOfDuplicates<Skill extends Named<Skill>>(skills: readonly Skill[]): void {
  const listed = skills.filter(planned => !planned.skill.internal)
  for (const same of Map.groupBy(listed, planned => planned.skill.name).values()) {
    const originals = same.filter(({ copyOf }) => copyOf === null)
    if (originals.length < 2) continue
    originals.sort((left, right) => comparePlaces(left.skill.path, right.skill.path))
    for (const planned of same) {
      const [first, ...more] = originals.filter(other => other !== (planned.copyOf ?? planned))
      if (first) planned.warnings.push(duplicate(first, more.length))
    }
  }
}

function duplicate({ skill }: Pick<Named<unknown>, 'skill'>, n: number): WarningRow {
  const path = shortLine(skill.path, TITLE_CHARACTERS)
  const found = n === 0 ? finding('name.duplicate', { path }) : finding('name.duplicate:more', { path, n })
  return { ...found, field: 'name' }
}

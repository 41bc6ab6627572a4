import { hash } from 'node:crypto'
import { DESCRIPTION_CHARACTERS, SKILL_NAME_CHARACTERS } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { SkillPackage } from './packages.ts'

/** A skill under the name by which an index knows it. */
export interface NamedPackage {
  name: string
  package: SkillPackage
}

/** Version 0.2.0 of the discovery format. */
export interface DiscoveryIndex {
  $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
  skills: { name: string; description: string; type: 'archive'; url: string; digest: string }[]
}

/** The format before it. Paths of files are below the folder of the skill. */
export interface OlderIndex {
  skills: { name: string; description: string; files: string[] }[]
}

/**
 * Gives each skill a name of its own: that of its front matter, or where several have it, one made of its folder.
 * Names consist of `[a-z0-9-]`, at most 64 characters, without two hyphens in a row.
 */
export function nameUniquely(packages: readonly SkillPackage[]): NamedPackage[] {
  const byName = Map.groupBy(packages, one => one.frontMatter.name)
  const isAlone = ({ frontMatter: { name } }: SkillPackage) => byName.get(name)?.length === 1
  const taken = new Set(packages.filter(isAlone).map(one => one.frontMatter.name))
  return packages.map(one => {
    if (isAlone(one)) return { name: one.frontMatter.name, package: one }
    const readable = nameOfFolder(one.directory)
    const isUsable = readable !== '' && readable.length <= SKILL_NAME_CHARACTERS && !taken.has(readable)
    // A folder may be the root, or have no letter that a name may have.
    const name = isUsable ? readable : withHash(readable || one.frontMatter.name, one.directory)
    taken.add(name)
    return { name, package: one }
  })
}

/** @param urlOf the archive of a skill */
export function discoveryIndex(named: readonly NamedPackage[], urlOf: (one: SkillPackage) => string): DiscoveryIndex {
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: named.map(({ name, package: one }) => ({
      name,
      description: shortDescription(one.frontMatter.description),
      type: 'archive',
      url: urlOf(one),
      digest: `sha256:${one.archive.sha256}`,
    })),
  }
}

/**
 * The index in the older format. Leaves out skills with file names that clients of this format misread: they reject the whole index for one such name.
 *
 * @param filesOf names of the files of a skill
 */
export async function olderIndex(
  named: readonly NamedPackage[],
  filesOf: (one: SkillPackage) => Promise<readonly string[]>,
): Promise<OlderIndex> {
  const skills: OlderIndex['skills'] = []
  for (const { name, package: one } of named) {
    const files = [...(await filesOf(one))]
    if (!files.every(isPlainName)) continue
    skills.push({ name, description: shortDescription(one.frontMatter.description), files })
  }
  return { skills }
}

/** Clients make a URL of the name without encoding it, and take two dots for a way out. */
function isPlainName(name: string): boolean {
  return !name.includes('..') && !/[#?%\\]/.test(name)
}

function nameOfFolder(directory: RepoPath): string {
  return directory
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

const HASH_DIGITS = 6

function withHash(name: string, directory: RepoPath): string {
  const cut = name.slice(0, SKILL_NAME_CHARACTERS - HASH_DIGITS - 1).replace(/-$/, '')
  return `${cut}-${hash('sha256', directory, 'hex').slice(0, HASH_DIGITS)}`
}

/** Clients count UTF-16 units. */
function shortDescription(description: string): string {
  if (description.length <= DESCRIPTION_CHARACTERS) return description
  return `${description.slice(0, DESCRIPTION_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

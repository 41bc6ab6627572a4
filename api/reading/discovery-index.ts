import { hash } from 'node:crypto'
import { DESCRIPTION_CHARACTERS, SKILL_NAME_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import { comparePlaces } from '#core/skill-places.ts'
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
 * Gives each skill a name of its own: the one that its author declares, in the letters that clients accept. Of several skills with one name, the
 * one in the place where authors edit skills has it (from a clone, a client takes the first one in the order of the plugins of a marketplace file); the others have one made of their folders. Of copies,
 * the first one stands for all. Names consist of `[a-z0-9-]`, at most 64 characters, without two hyphens in a row.
 */
export function nameUniquely(packages: readonly SkillPackage[]): NamedPackage[] {
  const originals = withoutCopies(packages)
  const declared = new Map(originals.map(one => [one, cutName(plainName(one.frontMatter.name))]))
  const holders = new Map<string, SkillPackage>()
  for (const one of originals.toSorted((left, right) => comparePlaces(left.path, right.path))) {
    const name = declared.get(one) ?? ''
    if (name !== '' && !holders.has(name)) holders.set(name, one)
  }
  const taken = new Set(holders.keys())
  return originals.map(one => {
    const name = declared.get(one) ?? ''
    if (holders.get(name) === one) return { name, package: one }
    const ofFolder = nameOfFolder(one, name, taken)
    taken.add(ofFolder)
    return { name: ofFolder, package: one }
  })
}

function withoutCopies(packages: readonly SkillPackage[]): SkillPackage[] {
  // The skill that others are copies of may lie outside of the mount.
  const groups = Map.groupBy(packages, one => one.copyOf ?? one.path)
  return [...groups.values()].flatMap(([first]) => first ?? [])
}

function nameOfFolder({ directory }: SkillPackage, declared: string, taken: ReadonlySet<string>): string {
  // Without a declared name that can be written, the folder alone is shorter.
  const readable = plainName(declared === '' && directory !== '' ? baseNameOf(directory) : directory)
  const isUsable = readable !== '' && readable.length <= SKILL_NAME_CHARACTERS && !taken.has(readable)
  // A folder may be the root, or have no letter that a name may have.
  return isUsable ? readable : withHash(readable || declared || 'skill', directory)
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

/** The text in letters that names of skills have; empty when it has none of them. */
function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function cutName(name: string): string {
  return name.slice(0, SKILL_NAME_CHARACTERS).replace(/-$/, '')
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

import type { Warning } from '#core/contract/shared.ts'
import { REFERENCE_DIRECTORY_FILES, REFERENCES, SUMMARY_CHARACTERS, TITLE_CHARACTERS, WARNINGS_PER_SKILL } from '#core/limits.ts'
import { isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import type { Manifest } from './manifest.ts'
import { type MarkdownLink, readMarkdown } from './markdown.ts'
import type { PlannedFile, PlannedSkill } from './plan.ts'
import { resolveLink } from './references.ts'
import { shortLine } from './short-line.ts'
import type { Tree, TreeFile } from './tree.ts'
import type { Policy } from './withheld.ts'

/** The link targets of one skill, before their files are read. */
export interface SkillLinks {
  /** Linked files and the files of linked folders, unique, in order of appearance. */
  targets: RepoPath[]
  warnings: Warning[]
}

/** A text of a skill's required reading, with its links. */
export interface LinkedText {
  folder: RepoPath
  links: readonly MarkdownLink[]
}

/**
 * Follows the links of a skill's required reading.
 *
 * @param texts rules, body and includes, in this order
 * @param filesBelow the files that a link to a folder stands for, in path order
 */
export function followLinks(
  planned: Pick<PlannedSkill, 'skill' | 'nested'>,
  texts: readonly LinkedText[],
  tree: Tree,
  policy: Policy,
  filesBelow: (folder: RepoPath) => readonly RepoPath[],
): SkillLinks {
  const targets = new Set<RepoPath>()
  const warnings = new Map<string, Warning>()
  const { directory, path } = planned.skill

  for (const { folder, links } of texts) {
    for (const link of links) {
      const target = resolveLink(link, { folder, skillDirectory: directory }, tree, policy)
      if (target === null) continue
      if (target.kind === 'file') targets.add(target.path)
      else if (target.kind === 'folder') for (const file of filesBelow(target.path)) targets.add(file)
      else if (warnings.size < WARNINGS_PER_SKILL) {
        const code = target.kind === 'outside' ? 'reference.outside' : 'reference.broken'
        const where = target.kind === 'outside' ? 'leads out of the repository' : 'leads to nothing'
        warnings.set(`${code} ${link.target}`, { code, message: `${shortLine(link.target, TITLE_CHARACTERS)} ${where}` })
      }
    }
  }
  for (const nested of planned.nested) if (!nested.skill.internal) targets.add(nested.skill.path)
  targets.delete(path)
  return { targets: [...targets].slice(0, REFERENCES), warnings: [...warnings.values()] }
}

/** Links in the rules of a manifest. */
export function linksOfRules(manifest: Manifest): LinkedText {
  return manifest.rules === null ? { folder: manifest.folder, links: [] } : linksOfText(manifest.folder, manifest.rules.text)
}

/** Links in a text of a folder. */
export function linksOfText(folder: RepoPath, text: string): LinkedText {
  return { folder, links: readMarkdown(text, { titleCharacters: TITLE_CHARACTERS, summaryCharacters: SUMMARY_CHARACTERS }).links }
}

/** Finds the skills, supporting files and documents below a folder, at most `REFERENCE_DIRECTORY_FILES`. Memoized by folder. */
export function createFolderExpansion(files: readonly PlannedFile[]): (folder: RepoPath) => readonly RepoPath[] {
  const eligible = files.filter(isEligible).map(planned => planned.file.path)
  const known = new Map<RepoPath, readonly RepoPath[]>()
  return folder => {
    let found = known.get(folder)
    if (!found) {
      found = takeInside(eligible, folder)
      known.set(folder, found)
    }
    return found
  }
}

function isEligible({ kind, owner }: PlannedFile): boolean {
  return (kind === 'skill' || kind === 'supporting' || kind === 'document') && !owner?.skill.internal
}

// In path order the files of a folder are neighbours: they begin with its path and a slash.
function takeInside(sorted: readonly RepoPath[], folder: RepoPath): RepoPath[] {
  const beginning = folder === '' ? '' : `${folder}/`
  let start = 0
  let end = sorted.length
  while (start < end) {
    const middle = (start + end) >>> 1
    if (compareBytes(sorted[middle] as RepoPath, beginning) < 0) start = middle + 1
    else end = middle
  }
  const found = sorted.slice(start, start + REFERENCE_DIRECTORY_FILES)
  return found.filter(path => isInside(folder, path))
}

/** Linked files without a role in the plan. They become readable and are not listed. */
export function linkedOnly(targets: Iterable<RepoPath>, planned: ReadonlyMap<RepoPath, PlannedFile>, tree: Tree): TreeFile[] {
  const files = new Map<RepoPath, TreeFile>()
  for (const path of targets) {
    const file = planned.has(path) ? null : tree.file(path)
    if (file) files.set(path, file)
  }
  return [...files.values()]
}

/** The files that a document links to. */
export function documentTargets(path: RepoPath, links: readonly MarkdownLink[], tree: Tree, policy: Policy): RepoPath[] {
  const place = { folder: parentOf(path), skillDirectory: null }
  return links.flatMap(link => {
    const target = resolveLink(link, place, tree, policy)
    return target?.kind === 'file' ? [target.path] : []
  })
}

import { REFERENCE_DIRECTORY_FILES, SUMMARY_CHARACTERS, TITLE_CHARACTERS, WARNINGS_PER_SKILL } from '#core/limits.ts'
import { isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import { compareBytes } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import type { Manifest } from './manifest.ts'
import { readMarkdown } from './markdown.ts'
import type { PlannedFile, PlannedSkill } from './plan.ts'
import { type LinkTarget, resolveLink } from './references.ts'
import { shortLine } from './short-line.ts'
import type { Tree, TreeFile } from './tree.ts'
import type { Policy } from './withheld.ts'

/** The link targets of one skill. */
export interface SkillLinks {
  /** Linked files and the files of linked folders, unique, in order of appearance; also those that cannot be read. */
  targets: RepoPath[]
  /** The targets that a link or a code span names. A warning tells which of them cannot be read; pictures and files of a folder get none. */
  named: ReadonlySet<RepoPath>
  /** Warnings of linked folders whose files are not all in `targets`. */
  cuts: WarningRow[]
  warnings: WarningRow[]
}

/** A text of a skill's required reading, with its links. */
export interface LinkedText {
  folder: RepoPath
  links: readonly TextLink[]
}

/**
 * Follows the links of a skill's required reading.
 *
 * @param texts rules, body and includes, in this order
 */
export function followLinks(
  planned: Pick<PlannedSkill, 'skill' | 'nested'>,
  texts: readonly LinkedText[],
  tree: Tree,
  policy: Policy,
  filesBelow: FolderExpansion,
): SkillLinks {
  const targets = new Set<RepoPath>()
  const named = new Set<RepoPath>()
  const cut = new Set<RepoPath>()
  const warnings = new Map<string, WarningRow>()
  const { directory, path } = planned.skill

  for (const { folder, links } of texts) {
    for (const link of links) {
      const target = resolveLink(link, { folder, skillDirectory: directory }, tree, policy)
      const below = target?.kind === 'folder' ? filesBelow(target.path) : null
      if (target?.kind === 'file') {
        targets.add(target.path)
        if (link.kind !== 'image') named.add(target.path)
      } else if (target?.kind === 'folder' && below?.isEmpty === false) {
        for (const file of below.files) targets.add(file)
        if (below.cut) cut.add(target.path)
      } else if (target !== null && warnings.size < WARNINGS_PER_SKILL) {
        warnings.set(`${target.kind} ${link.target}`, deadLink(link, target))
      }
    }
  }
  for (const nested of planned.nested) if (!nested.skill.internal) targets.add(nested.skill.path)
  targets.delete(path)
  named.delete(path)
  const cuts = [...cut].slice(0, CUT_FOLDERS).map(cutFolder)
  return { targets: [...targets], named, cuts, warnings: [...warnings.values()] }
}

/** Linked folders that get a warning. */
const CUT_FOLDERS = 2

function deadLink(link: TextLink, found: Exclude<LinkTarget, { kind: 'file' }>): WarningRow {
  const target = shortLine(link.target, TITLE_CHARACTERS)
  switch (found.kind) {
    case 'outside':
      return finding('reference.outside', { target })
    case 'broken': {
      const { near } = found
      if (near) {
        const values = { target, path: shortLine(near.path, TITLE_CHARACTERS) }
        return finding(`reference.broken:${near.difference}`, values)
      }
      return finding(link.kind === 'path' ? 'reference.broken:span' : 'reference.broken', { target })
    }
    case 'not_followed':
      return finding('reference.unreadable:link', { target })
    case 'folder':
      return finding('reference.unreadable:folder', { target })
  }
}

function cutFolder(folder: RepoPath): WarningRow {
  const values = { limit: REFERENCE_DIRECTORY_FILES, path: shortLine(folder, TITLE_CHARACTERS) }
  return finding('references.truncated:folder', values)
}

/** Links in the rules of a manifest. */
export function linksOfRules(manifest: Manifest): LinkedText {
  return manifest.rules === null ? { folder: manifest.folder, links: [] } : linksOfText(manifest.folder, manifest.rules.text)
}

/** Links in a text of a folder. */
export function linksOfText(folder: RepoPath, text: string): LinkedText {
  return { folder, links: readMarkdown(text, { titleCharacters: TITLE_CHARACTERS, summaryCharacters: SUMMARY_CHARACTERS }).links }
}

/**
 * The files that a link to a folder stands for, in path order. `cut`: there are more. `isEmpty`: the folder has no skills, supporting files
 * and documents, not even some that cannot be read.
 */
export type FolderExpansion = (folder: RepoPath) => { files: readonly RepoPath[]; cut: boolean; isEmpty: boolean }

/**
 * Finds the skills, supporting files and documents below a folder, at most `REFERENCE_DIRECTORY_FILES`. Memoized by folder.
 *
 * @param isListed whether a reference can name a file, because it can be read or is told to be too large
 */
export function createFolderExpansion(
  files: readonly PlannedFile[],
  isListed: (planned: PlannedFile) => boolean,
): FolderExpansion {
  const eligible = files.filter(isEligible)
  const paths = eligible.map(planned => planned.file.path)
  const listed = eligible.filter(isListed).map(planned => planned.file.path)
  const known = new Map<RepoPath, ReturnType<FolderExpansion>>()
  return folder => {
    const found = known.get(folder)
    if (found) return found
    const below = takeInside(listed, folder)
    const expanded = {
      files: below.slice(0, REFERENCE_DIRECTORY_FILES),
      cut: below.length > REFERENCE_DIRECTORY_FILES,
      isEmpty: takeInside(paths, folder).length === 0,
    }
    known.set(folder, expanded)
    return expanded
  }
}

function isEligible({ kind, owner }: PlannedFile): boolean {
  return (kind === 'skill' || kind === 'supporting' || kind === 'document') && !owner?.skill.internal
}

/** One more than an expansion has. In path order the files of a folder are neighbours: they begin with its path and a slash. */
function takeInside(sorted: readonly RepoPath[], folder: RepoPath): RepoPath[] {
  const beginning = folder === '' ? '' : `${folder}/`
  let start = 0
  let end = sorted.length
  while (start < end) {
    const middle = (start + end) >>> 1
    if (compareBytes(sorted[middle] as RepoPath, beginning) < 0) start = middle + 1
    else end = middle
  }
  const found = sorted.slice(start, start + REFERENCE_DIRECTORY_FILES + 1)
  return found.filter(path => isInside(folder, path))
}

/** Linked and included files without a role in the plan. They become readable and are not listed. */
export function linkedOnly(targets: Iterable<RepoPath>, planned: ReadonlyMap<RepoPath, PlannedFile>, tree: Tree): TreeFile[] {
  const files = new Map<RepoPath, TreeFile>()
  for (const path of targets) {
    const file = planned.has(path) ? null : tree.file(path)
    if (file) files.set(path, file)
  }
  return [...files.values()]
}

/** The files that a document links to. */
export function documentTargets(path: RepoPath, links: readonly TextLink[], tree: Tree, policy: Policy): RepoPath[] {
  const place = { folder: parentOf(path), skillDirectory: null }
  return links.flatMap(link => {
    const target = resolveLink(link, place, tree, policy)
    return target?.kind === 'file' ? [target.path] : []
  })
}

import { type Finding, finding, messageOf } from '#words/findings.ts'
import { t } from '#words/t.ts'
import type { Diagnostic, FindingLevel } from './contract/shared.ts'
import { FINDING_LEVELS, levelOf } from './finding-levels.ts'
import { keepFinding } from './finding-messages.ts'
import { ancestorsOf, isInside, joinPath, MANIFEST_FILE, type RepoPath } from './repo-path.ts'
import type { FindingsRow, FoundRow } from './snapshot/finding-rows.ts'
import { compareBytes } from './text.ts'

/** A finding as `check` and the interface tell it. */
export interface ToldFinding {
  level: FindingLevel
  severity: Diagnostic['severity']
  code: string
  path: string
  line?: number
  field?: string
  message: string
  advice?: string
  /** Path of the `SKILL.md` that it concerns. */
  skill?: string
  costsSkills?: number
}

/** What is known of a folder besides the rows of its findings. */
export interface FolderFacts {
  folder: RepoPath
  /** See `FolderRow`. */
  unlicensed?: string | undefined
  /** A root without files. */
  isEmpty?: boolean
}

/**
 * What an author of a folder should know: what concerns the folder, each finding once.
 *
 * @param rows of `findings`: of the folder, of the manifests above it, and of the root
 */
export function tellFindings(rows: readonly FindingsRow[], { folder, unlicensed, isEmpty = false }: FolderFacts): ToldFinding[] {
  const concerned = concerning(folder)
  const skills = rows.filter(({ skill }) => skill !== undefined && isInside(folder, skill as RepoPath))
  const costs = new Map<string, number>()
  for (const cause of skills.flatMap(row => row.costs ?? [])) costs.set(cause, (costs.get(cause) ?? 0) + 1)
  const diagnostics = [
    ...rows.filter(({ skill }) => skill === undefined).flatMap(({ found }) => found),
    ...skills.flatMap(row => row.diagnostics ?? []),
  ].filter(({ path }) => concerned(path as RepoPath))
  const files = new Set(diagnostics.map(({ path }) => path))

  const told = diagnostics.map(row => {
    const { path, line, field, severity, cause, closes = 0 } = row
    const costsSkills = closes + (costs.get(cause ?? '') ?? 0)
    return tell(row, { severity, path, line, field, costsSkills: costsSkills > 0 ? costsSkills : undefined })
  })
  for (const row of skills) told.push(...ofSkill(row, folder, files))
  if (isEmpty) told.push(ownFinding('folder.empty', folder))
  if (unlicensed !== undefined) told.push(ownFinding('folder.unlicensed', unlicensed))
  return uniqueFindings(told)
}

function ofSkill({ skill, found, leaving = [] }: FindingsRow, folder: RepoPath, files: ReadonlySet<string>): ToldFinding[] {
  const concerned = found.filter(({ besides, within }) => {
    return !(besides !== undefined && files.has(besides)) && (within === undefined || isInside(folder, within as RepoPath))
  })
  const outside = leaving.filter(path => !isInside(folder, path as RepoPath))
  return [
    ...concerned.map(row => {
      const { severity, path, line, field } = row
      return tell(inFolder(row, folder), { severity, path, line, field, skill })
    }),
    ...outside.map(path => {
      return tell(finding('reference.outside:folder', { path }), { severity: 'warning', path: skill ?? path, skill })
    }),
  ]
}

/** Names no other skill that lies outside of the folder. */
function inFolder(row: FoundRow, folder: RepoPath): Finding {
  const isOutside = row.code === 'name.duplicate' && !isInside(folder, String(row.values?.path) as RepoPath)
  return isOutside ? finding('name.duplicate:outside') : row
}

/** A finding of a folder as a whole. `n`: how many files it is about, where its message says that. */
export function ownFinding(code: keyof typeof OWN, path: string, n = 0): ToldFinding {
  return tell({ code, values: { n } }, { severity: OWN[code], path })
}

const OWN = {
  'folder.empty': 'warning',
  'folder.links_unchecked': 'info',
  'folder.unlicensed': 'warning',
  'folder.excluded': 'warning',
  'folder.unreadable': 'error',
  'folder.not_checked_out': 'warning',
} as const

/** Selects paths that concern a folder: everything inside, the manifests above, and the root for findings about the whole tree. */
export function concerning(folder: RepoPath): (path: RepoPath) => boolean {
  const above = new Set(manifestsAbove(folder))
  return path => path === '' || above.has(path) || isInside(folder, path)
}

/** Where the manifests above a folder lie, if there are any. */
export function manifestsAbove(folder: RepoPath): RepoPath[] {
  return ancestorsOf(folder).map(ancestor => joinPath(ancestor, MANIFEST_FILE))
}

/** Each finding once. */
export function uniqueFindings(findings: readonly ToldFinding[]): ToldFinding[] {
  return [...new Map(findings.map(one => [[one.code, one.path, one.field, one.message].join('\0'), one])).values()]
}

/** By level, path, line, code and message. */
export function compareFindings(left: ToldFinding, right: ToldFinding): number {
  return (
    FINDING_LEVELS.indexOf(left.level) - FINDING_LEVELS.indexOf(right.level) ||
    compareBytes(left.path, right.path) ||
    (left.line ?? 0) - (right.line ?? 0) ||
    compareBytes(left.code, right.code) ||
    compareBytes(left.message, right.message)
  )
}

/** Where a finding stands, and what it means for the author. */
interface Place {
  severity: ToldFinding['severity']
  path: string
  line?: number | undefined
  field?: string | undefined
  skill?: string | undefined
  costsSkills?: number | undefined
}

function tell(found: Finding, { severity, path, line, field, skill, costsSkills }: Place): ToldFinding {
  const { code } = found
  const advice = t.find(`advice.${code}`)
  const told: ToldFinding = {
    level: levelOf(code),
    severity,
    code,
    path,
    ...(line === undefined ? {} : { line }),
    ...(field === undefined ? {} : { field }),
    message: messageOf(found),
    ...(advice === undefined ? {} : { advice }),
    ...(skill === undefined ? {} : { skill }),
    ...(costsSkills === undefined ? {} : { costsSkills }),
  }
  return keepFinding(told, found)
}

import { PACKAGE_BYTES, PACKAGE_FILES, READABLE_FILE_BYTES, TITLE_CHARACTERS, UNREAD_PACKAGED_BYTES } from '#core/limits.ts'
import { NOT_INSTALLABLE } from '#core/not-installable.ts'
import { baseNameOf, isInside, joinPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { packageName } from '#core/skill-package.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import type { RowOf } from '#core/snapshot/format.ts'
import { splitTarName } from '#core/tar-archive.ts'
import { compareBytes } from '#core/text.ts'
import { finding, reason } from '#words/findings.ts'
import type { Said } from '#words/t.ts'
import { isBinaryName } from './content-kind.ts'
import { isLicenseFileName } from './license/index.ts'
import { byPath, type Plan, type PlannedFile, type PlannedSkill } from './plan.ts'
import { shortLine } from './short-line.ts'
import { isRegular, sumDistinctBytes, type Tree, type TreeFile } from './tree.ts'

/** A skill as clients would install it: its whole folder, and what says under which license it is. */
export interface PackagePlan {
  planned: PlannedSkill
  /** Regular files of the folder, in byte order of their paths. */
  files: TreeFile[]
  /** Files outside the folder. */
  notices: TreeFile[]
  /** Number of its files that manifests exclude. */
  excluded: number
}

/** `refusals`: why the others cannot be installed, in words that follow "not offered for installation: ". */
export interface PackagePlans {
  plans: PackagePlan[]
  refusals: Map<PlannedSkill, Said>
}

/** Decides by names, sizes and licenses which listed skills can be installed, and with which files. */
export function planPackages(plan: Plan): PackagePlans {
  const planned = byPath(plan.files)
  const countBelow = createFileCount(plan)
  const noticesOf = createNotices(plan.tree, planned)
  const plans: PackagePlan[] = []
  const refusals = new Map<PlannedSkill, Said>()
  const unread = createUnreadBudget()
  for (const skill of plan.skills) {
    if (!skill.full || skill.skill.internal) continue
    const found = planPackage(skill, plan, { planned, countBelow, noticesOf })
    if ('key' in found) refusals.set(skill, found)
    else if (unread.take(found.files)) plans.push(found)
    else refusals.set(skill, reason('binariesTooLarge', { limit: UNREAD_PACKAGED_BYTES }))
  }
  return { plans, refusals }
}

/** The bytes that are left for files which only packages have. */
function createUnreadBudget(): { take(files: readonly TreeFile[]): boolean } {
  const taken = new Set<string>()
  let leftBytes = UNREAD_PACKAGED_BYTES
  return {
    take(files) {
      const isUnread = ({ path, sizeBytes }: TreeFile) => isBinaryName(path) || (sizeBytes ?? 0) > READABLE_FILE_BYTES
      const unread = files.filter(file => isUnread(file) && !taken.has(file.oid))
      const bytes = sumDistinctBytes(unread)
      if (bytes > leftBytes) return false
      leftBytes -= bytes
      for (const { oid } of unread) taken.add(oid)
      return true
    },
  }
}

/** The warning that no client can install a skill, or that one refuses it, unless another warning tells that. */
export function refusalWarnings(
  row: RowOf<'packages'> | null,
  others: readonly WarningRow[],
  isIncomplete: boolean,
): WarningRow[] {
  if (row === null) return []
  const isTold = (codes: ReadonlySet<string>) => others.some(({ code }) => codes.has(code))
  if ('refusal' in row) {
    return isIncomplete || isTold(NOT_INSTALLABLE) ? [] : [finding('skill.not_installable', { why: row.refusal })]
  }
  if (row.mcpRefusal === undefined || isTold(TOLD_OF_MCP)) return []
  return [finding('skill.not_in_mcp', { why: row.mcpRefusal })]
}

/** Their advice says that such clients refuse the skill. */
const TOLD_OF_MCP: ReadonlySet<string> = new Set([
  'name.invalid',
  'name.too_long',
  'name.directory_mismatch',
  'description.too_long',
  'compatibility.too_long',
])

/** What is known of all files. */
interface Lookups {
  planned: ReadonlyMap<RepoPath, PlannedFile>
  countBelow: (folder: RepoPath) => number
  noticesOf: NoticesOf
}

function planPackage(planned: PlannedSkill, plan: Plan, { planned: files, countBelow, noticesOf }: Lookups): PackagePlan | Said {
  const { directory, packageFrontMatter } = planned.skill
  if ('refusal' in packageFrontMatter) return packageFrontMatter.refusal
  if (plan.tree.isPartial(directory)) return reason('filesLeftOut')
  const found = filesBelow(directory, plan, countBelow)
  if ('key' in found) return found
  for (const file of found.files) {
    const refusal = refusalOf(file, directory, files)
    if (refusal !== null) return refusal
  }
  if (sizeOf(found.files) > PACKAGE_BYTES) return reason('filesTooLarge', { limit: PACKAGE_BYTES })
  const taken = new Set(found.files.map(file => packageName(directory, file.path)))
  const notices = noticesOf(planned).filter(file => !taken.has(baseNameOf(file.path)))
  if (taken.size + notices.length > PACKAGE_FILES) return reason('tooManyFiles', { limit: PACKAGE_FILES })
  if (notices.length > NOTICES || sizeOf(notices) > NOTICE_BYTES)
    return reason('noticesTooLarge', { limit: NOTICES, byteLimit: NOTICE_BYTES })
  return { planned, ...found, notices }
}

/** License files and notices from outside a package: each package of a folder has them. */
const NOTICES = 16
const NOTICE_BYTES = 256 * 1024

function refusalOf(file: TreeFile, directory: RepoPath, files: ReadonlyMap<RepoPath, PlannedFile>): Said | null {
  const name = packageName(directory, file.path)
  const shown = { name: shortLine(name, TITLE_CHARACTERS) }
  const known = files.get(file.path)
  if (splitTarName(name) === null || DRIVE.test(name)) return reason('nameNotArchived', shown)
  if (file.sizeBytes === null) return reason('blobOf', shown)
  if (known === undefined) return reason('fileNotInIndex', shown)
  return known.served ? null : reason('fileNotLicensed', shown)
}

/** Clients take it for a path of Windows. */
const DRIVE = /^[A-Za-z]:/

type FilesBelow = Pick<PackagePlan, 'files' | 'excluded'>

/** What lies in a folder and below it, or why that cannot be installed. It stops soon: a skill at the root may own a large repository. */
function filesBelow(directory: RepoPath, { tree, policy }: Plan, countBelow: (folder: RepoPath) => number): FilesBelow | Said {
  const found: FilesBelow = { files: [], excluded: 0 }
  const folders = [directory]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const withheld = policy.withheld.get(folder)
    if (withheld === 'closed') return reason('manifestUnreadable')
    if (withheld === 'excluded') {
      found.excluded += countBelow(folder)
      continue
    }
    const { files, folders: names } = tree.folders.get(folder) ?? { files: new Map<string, TreeFile>(), folders: [] }
    for (const file of files.values()) {
      if (file.mode === '160000') return reason('holdsSubmodule')
      if (policy.withheld.has(file.path)) found.excluded++
      // What is left is a link that leads to nothing: clients leave it out of a clone, too.
      else if (isRegular(file)) found.files.push(file)
      if (found.files.length > PACKAGE_FILES) return reason('tooManyFiles', { limit: PACKAGE_FILES })
    }
    for (const name of names) folders.push(joinPath(folder, name))
  }
  found.files.sort(byPathOrder)
  return found
}

/** Counts the files below a folder, each folder once. */
function createFileCount({ tree }: Plan): (folder: RepoPath) => number {
  const counts = new Map<RepoPath, number>()
  return function count(path): number {
    const known = counts.get(path)
    if (known !== undefined) return known
    const folder = tree.folders.get(path)
    const below = folder?.folders.reduce((sum, name) => sum + count(joinPath(path, name)), 0) ?? 0
    const all = below + (folder?.files.size ?? 0)
    counts.set(path, all)
    return all
  }
}

function sizeOf(files: readonly TreeFile[]): number {
  return files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
}

function byPathOrder(left: TreeFile, right: TreeFile): number {
  return compareBytes(left.path, right.path)
}

/** The license files and notices of the folder above a skill that declares its license: they belong to what clients install. */
type NoticesOf = (planned: Pick<PlannedSkill, 'skill' | 'license'>) => readonly TreeFile[]

/** Reads each folder once. */
function createNotices({ folders }: Pick<Tree, 'folders'>, files: ReadonlyMap<RepoPath, PlannedFile>): NoticesOf {
  const known = new Map<RepoPath, readonly TreeFile[]>()
  const noticesIn = (folder: RepoPath) => {
    const found =
      known.get(folder) ?? [...(folders.get(folder)?.files.values() ?? [])].filter(file => isNotice(file, folder, files))
    known.set(folder, found)
    return found
  }
  return ({ skill, license }) => {
    const source = license.license.source as RepoPath | null
    return source === null || isInside(skill.directory, source) ? [] : noticesIn(parentOf(source))
  }
}

function isNotice({ path, sizeBytes }: TreeFile, folder: RepoPath, files: ReadonlyMap<RepoPath, PlannedFile>): boolean {
  const name = baseNameOf(path)
  const isNamed = isLicenseFileName(name, folder === ROOT) || /^NOTICE(?:\.(?:md|txt|rst))?$/.test(name)
  const isReadable = sizeBytes !== null && sizeBytes <= READABLE_FILE_BYTES && !isBinaryName(path)
  return isNamed && isReadable && files.get(path)?.served === true
}

import { DOCUMENTS, INDEXED_TEXT_BYTES, READABLE_FILE_BYTES, SKILLS } from '#core/limits.ts'
import { baseNameOf, MANIFEST_FILE, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import type { DiagnosticRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import { compareBytes } from '#core/text.ts'
import { type Finding, finding } from '#words/findings.ts'
import { isBinaryName, isProse, isSkillPlace, pathKind } from './content-kind.ts'
import { isServedInFull, type LicenseResolver, type ResolvedLicense } from './license/index.ts'
import type { Manifest } from './manifest.ts'
import type { ParsedSkill } from './skill.ts'
import { aliasesOf, licensesThroughLinks } from './through-links.ts'
import { isRegular, type Tree, type TreeFile, type TreeFolder } from './tree.ts'
import type { Policy } from './withheld.ts'

/** A file of the snapshot, and its role. */
export interface PlannedFile {
  file: TreeFile
  kind: 'skill' | 'supporting' | 'document' | 'overview' | 'community' | 'manifest'
  owner: PlannedSkill | null
  /** Its license permits serving its bytes. */
  served: boolean
}

export interface PlannedSkill {
  skill: ParsedSkill
  file: TreeFile
  license: ResolvedLicense
  /** Served with body, rules and files; otherwise only described. */
  full: boolean
  /** The nearest skill whose folder contains this one's folder. */
  enclosing: PlannedSkill | null
  /** Skills that it is the `enclosing` one of: listed as its references. */
  nested: PlannedSkill[]
  /** In byte order of their paths. */
  supporting: TreeFile[]
  warnings: WarningRow[]
  /** The listed skill that it is a copy of. Copies of one skill have the same one, and that one has none. `foldCopies` sets it. */
  copyOf: PlannedSkill | null
}

export interface Plan {
  tree: Tree
  policy: Policy
  /** All lists are in byte order of the paths. */
  skills: PlannedSkill[]
  files: PlannedFile[]
  /**
   * The license of the files of a folder: of the skill that they belong to, also where its `SKILL.md` could not be read. Of a folder below a symlink, that
   * of the files at their own place, if both permit copies.
   */
  licenseOf(folder: RepoPath): ResolvedLicense
  /** Of a file below a symlink, that of the file at its own place, if both permit copies. */
  licenseOfFile(file: TreeFile): ResolvedLicense
  /** The license of what belongs to no skill in a folder. */
  licenseOutsideSkills(folder: RepoPath): ResolvedLicense
  isServed(license: ResolvedLicense): boolean
  visibility: 'public' | 'private'
  /** A limit left something out. */
  truncated: boolean
  diagnostics: DiagnosticRow[]
}

/** The `SKILL.md` files to read, in path order, at most `SKILLS`, those that are symlinks last; `dropped` counts the others. */
export function skillCandidates(policy: Policy): { files: TreeFile[]; dropped: number } {
  const files = skillFiles(policy).sort(byPathOrder)
  const [linked, own] = [files.filter(file => file.target !== undefined), files.filter(file => file.target === undefined)]
  const first = [...own, ...linked].slice(0, SKILLS)
  return { files: first.sort(byPathOrder), dropped: files.length - first.length }
}

function byPathOrder(left: TreeFile, right: TreeFile): number {
  return compareBytes(left.path, right.path)
}

/** The folders with a `SKILL.md`, also one that cannot be read or lies beyond a limit. */
export function skillDirectories(policy: Policy): Set<RepoPath> {
  return new Set(skillFiles(policy).map(file => parentOf(file.path)))
}

/** Decides the role of every file, which skill owns it, and whether it is served. */
export function planContent(
  tree: Tree,
  policy: Policy,
  parsed: readonly ParsedSkill[],
  licenses: LicenseResolver,
  visibility: 'public' | 'private',
): Plan {
  const isServed = (license: ResolvedLicense) => isServedInFull(license.license, visibility)
  const directories = ownersOf(policy, new Map([...skillDirectories(policy)].map(directory => [directory, directory])))
  const { licenseOf, licenseOfFile } = licensesThroughLinks(tree, isServed, folder =>
    licenses.resolve(folder, directories.get(folder) ?? null),
  )
  const isAlias = aliasesOf(directories)
  const skills = parsed.map(skill => {
    const file = tree.file(skill.path) as TreeFile
    return planSkill(isAlias(file) ? { ...skill, internal: true } : skill, file, licenseOfFile(file), isServed)
  })
  const owners = ownersOf(policy, new Map(skills.map(planned => [planned.skill.directory, planned])))
  connectNested(skills, policy)

  const classified = classifyFiles(policy, owners, isAlias)
  const { files, dropped } = limitDocuments(classified.files)
  for (const { file, kind, owner } of files) if (kind === 'supporting') owner?.supporting.push(file)
  const documents = files.filter(({ kind }) => kind === 'document')
  const planned = files.map(({ file, kind, owner }): PlannedFile => {
    const isPart = kind === 'skill' || kind === 'supporting'
    return { file, kind, owner: isPart ? owner : null, served: isServed(licenseOfFile(file)) }
  })
  const budget = withinBudget(planned)

  return {
    tree,
    policy,
    visibility,
    skills,
    files: budget.files,
    licenseOf,
    licenseOfFile,
    licenseOutsideSkills: folder => licenses.resolve(folder, null),
    isServed,
    truncated: tree.cut || dropped > 0 || budget.dropped > 0,
    diagnostics: [
      ...classified.diagnostics,
      ...limitDiagnostics(dropped, budget.dropped),
      ...licenseDiagnostics([
        ...licensesOfListed(skills),
        ...documents.map(({ file }) => licenseOfFile(file)),
        ...[...policy.manifests.values()].map(manifest => ownIssues(manifest, licenses.resolve(manifest.folder, null))),
      ]),
    ],
  }
}

interface ClassifiedFile {
  file: TreeFile
  kind: PlannedFile['kind']
  /** The skill that owns its folder. */
  owner: PlannedSkill | null
}

/** The regular files that have a role, in path order, and diagnostics of those that look like one and have none. */
function classifyFiles(
  policy: Policy,
  owners: ReadonlyMap<RepoPath, PlannedSkill>,
  isAlias: (file: TreeFile) => boolean,
): { files: ClassifiedFile[]; diagnostics: DiagnosticRow[] } {
  const files: ClassifiedFile[] = []
  const diagnostics: DiagnosticRow[] = []
  for (const file of filesInPathOrder(policy)) {
    if (!isRegular(file)) continue
    const owner = owners.get(parentOf(file.path)) ?? null
    const kind = kindOf(file, owner, policy, isAlias)
    if (isMisspelled(file)) diagnostics.push(misspelled(file))
    if (kind === null) continue
    if (file.sizeBytes !== null) files.push({ file, kind, owner })
    // `readSkills` reports missing skills, and the path where a missing blob lies is told once.
    else if (baseNameOf(file.path) !== SKILL_FILE && file.target === undefined) diagnostics.push(unreadableBlob(file))
  }
  return { files, diagnostics }
}

/** Keeps the first `DOCUMENTS` documents, and every other file. */
function limitDocuments(files: readonly ClassifiedFile[]): { files: ClassifiedFile[]; dropped: number } {
  let documents = 0
  const kept = files.filter(({ kind }) => kind !== 'document' || ++documents <= DOCUMENTS)
  return { files: kept, dropped: files.length - kept.length }
}

function limitDiagnostics(droppedDocuments: number, droppedFiles: number): DiagnosticRow[] {
  const diagnostics: DiagnosticRow[] = []
  if (droppedDocuments > 0) {
    diagnostics.push(limitDiagnostic(finding('index.limit_documents', { n: droppedDocuments, limit: DOCUMENTS })))
  }
  if (droppedFiles > 0) {
    diagnostics.push(limitDiagnostic(finding('index.limit_bytes:files', { n: droppedFiles, limit: INDEXED_TEXT_BYTES })))
  }
  return diagnostics
}

export function unreadableBlob(file: TreeFile): DiagnosticRow {
  return { ...finding('file.unreadable'), severity: 'warning', path: file.path }
}

export function limitDiagnostic(found: Finding): DiagnosticRow {
  return { ...found, severity: 'warning', path: ROOT }
}

function planSkill(
  skill: ParsedSkill,
  file: TreeFile,
  license: ResolvedLicense,
  isServed: (license: ResolvedLicense) => boolean,
): PlannedSkill {
  const issues = license.issues.map(({ path: _path, ...issue }) => issue)
  const full = isServed(license)
  return {
    skill: full || !skill.quotesBody ? skill : { ...skill, description: '' },
    file,
    license,
    full,
    enclosing: null,
    nested: [],
    supporting: [],
    warnings: [...skill.warnings, ...issues],
    copyOf: null,
  }
}

function kindOf(
  file: TreeFile,
  owner: PlannedSkill | null,
  policy: Policy,
  isAlias: (file: TreeFile) => boolean,
): PlannedFile['kind'] | null {
  const name = baseNameOf(file.path)
  if (name === MANIFEST_FILE && policy.manifests.has(parentOf(file.path))) return 'manifest'
  if (file.path === owner?.skill.path) return 'skill'
  // A SKILL.md that is not readable as a skill: the files route answers why, no listing has it.
  if (name === SKILL_FILE) return isSkillPlace(file.path) ? 'community' : null
  if (owner) return 'supporting'
  const kind = pathKind(file.path)
  return kind === 'document' && isAlias(file) ? 'community' : kind
}

function licensesOfListed(skills: readonly PlannedSkill[]): ResolvedLicense[] {
  return skills.flatMap(planned => (planned.skill.internal ? [] : [planned.license]))
}

/** A fault of a manifest is told of the manifest, for every mount alike, also where it governs nothing. */
function ownIssues({ path }: Manifest, license: ResolvedLicense): ResolvedLicense {
  return { ...license, issues: license.issues.filter(issue => issue.path === path) }
}

function licenseDiagnostics(licenses: readonly ResolvedLicense[]): DiagnosticRow[] {
  const issues = new Set(licenses.flatMap(license => license.issues))
  return (
    [...issues]
      // Of a skill's own front matter, its warning is enough.
      .filter(issue => issue.code !== 'license.unresolved' || baseNameOf(issue.path as RepoPath) !== SKILL_FILE)
      .map(issue => ({ ...issue, severity: 'warning' as const }))
  )
}

function skillFiles(policy: Policy): TreeFile[] {
  return openFolders(policy)
    .flatMap(folder => folder.files.get(SKILL_FILE) ?? [])
    .filter(file => isRegular(file) && isSkillPlace(file.path) && !policy.withheld.has(file.path))
}

/** All files that no manifest withholds. */
function filesInPathOrder(policy: Policy): TreeFile[] {
  return openFolders(policy)
    .flatMap(folder => [...folder.files.values()].filter(file => !policy.withheld.has(file.path)))
    .sort(byPathOrder)
}

function openFolders(policy: Policy): TreeFolder[] {
  return policy.folders.filter(folder => policy.withheld.get(folder.path) !== 'closed')
}

function isMisspelled(file: TreeFile): boolean {
  const name = baseNameOf(file.path)
  if (file.target !== undefined && baseNameOf(file.target) === name) return false
  return name !== SKILL_FILE && name.toLowerCase() === SKILL_FILE.toLowerCase()
}

function misspelled(file: TreeFile): DiagnosticRow {
  return { ...finding('skill.file_name', { name: SKILL_FILE }), severity: 'info', path: file.path }
}

/** The planned files by path. */
export function byPath(files: readonly PlannedFile[]): Map<RepoPath, PlannedFile> {
  return new Map(files.map(planned => [planned.file.path, planned]))
}

/** The part of a planned file that decides its place in the budget. */
interface Budgeted {
  kind: 'skill' | 'manifest' | 'supporting' | 'document' | 'overview' | 'community'
  file: TreeFile
}

/**
 * Drops each file for which `INDEXED_TEXT_BYTES` have no room, in the order of `rankOf`, and by path within a rank. Files that are never read,
 * because they are too large or their name says that they are binary, are kept and do not count. The bytes of equal files count once.
 */
function withinBudget<File extends Budgeted>(files: readonly File[]): { files: File[]; dropped: number } {
  let leftBytes = INDEXED_TEXT_BYTES
  const dropped = new Set<File>()
  const counted = new Set<string>()
  for (const planned of RANKS.flatMap(rank => files.filter(planned => rankOf(planned) === rank))) {
    const { path, oid, sizeBytes } = planned.file
    if (sizeBytes === null || sizeBytes > READABLE_FILE_BYTES || isBinaryName(path) || counted.has(oid)) continue
    if (sizeBytes > leftBytes) dropped.add(planned)
    else {
      leftBytes -= sizeBytes
      counted.add(oid)
    }
  }
  return { files: files.filter(planned => !dropped.has(planned)), dropped: dropped.size }
}

const RANKS = [0, 1, 2, 3, 4] as const

/**
 * Skills and manifests, then the prose of skills, then documents and other files outside skills, then the code and data of skills. The paths that symlinks
 * give to files come last.
 */
function rankOf({ kind, file }: Budgeted): (typeof RANKS)[number] {
  if (kind === 'skill' || kind === 'manifest') return 0
  if (file.target !== undefined) return 4
  if (kind !== 'supporting') return 2
  return isProse(file.path) ? 1 : 3
}

/** The part of a planned skill that says how it lies to others. */
interface Nesting<Skill> {
  skill: Pick<ParsedSkill, 'path' | 'directory'>
  enclosing: Skill | null
  nested: Skill[]
  warnings: WarningRow[]
}

/** Sets `enclosing` and `nested` of every skill, and warns of skills inside others, which may be there by mistake. */
function connectNested<Skill extends Nesting<Skill>>(skills: readonly Skill[], policy: Policy): void {
  const byDirectory = new Map(skills.map(planned => [planned.skill.directory, planned]))
  const enclosing = new Map<RepoPath, Skill>()
  for (const { path } of policy.folders) {
    const outer = path === '' ? undefined : enclosing.get(parentOf(path))
    const own = byDirectory.get(path)
    if (own && outer) {
      own.enclosing = outer
      outer.nested.push(own)
    }
    const next = own ?? outer
    if (next) enclosing.set(path, next)
  }
  for (const planned of skills) {
    planned.nested.sort((left, right) => compareBytes(left.skill.path, right.skill.path))
    if (carriesOthers(planned)) continue
    const found = finding('skill.nested', { path: planned.skill.path })
    for (const { warnings } of planned.nested) warnings.push(found)
  }
}

/** A skill at the root, or with several skills below it, leads to them or installs them: they are there on purpose. */
function carriesOthers({ skill, nested }: Pick<Nesting<unknown>, 'skill' | 'nested'>): boolean {
  return skill.directory === ROOT || nested.length >= CARRIED_SKILLS
}

const CARRIED_SKILLS = 3

/** The skill that owns the files of each folder: the nearest one at or above the folder. */
function ownersOf<Skill>(policy: Policy, byDirectory: ReadonlyMap<RepoPath, Skill>): Map<RepoPath, Skill> {
  const owners = new Map<RepoPath, Skill>()
  const rootSkill = byDirectory.get(ROOT)
  for (const { path } of policy.folders) {
    const owner = byDirectory.get(path) ?? owners.get(parentOf(path))
    if (owner === undefined) continue
    const isOwned = byDirectory.has(path) || path === '' || owner !== rootSkill || ROOT_SKILL_FOLDERS.has(firstSegment(path))
    if (isOwned) owners.set(path, owner)
  }
  return owners
}

/** A skill at the root owns the root folder and these, not the whole repository. */
const ROOT_SKILL_FOLDERS = new Set(['references', 'scripts', 'assets', 'templates', 'examples'])

function firstSegment(path: RepoPath): string {
  return path.split('/', 1)[0] ?? ''
}

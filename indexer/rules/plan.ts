import type { Diagnostic, Warning } from '#core/contract/shared.ts'
import { DOCUMENTS, INDEXED_TEXT_BYTES, READABLE_FILE_BYTES, SKILLS } from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { isSkillPlace, pathKind } from './content-kind.ts'
import { isServedInFull, type LicensePlace, type LicenseResolver, type ResolvedLicense } from './license/index.ts'
import { MANIFEST_FILE } from './manifest.ts'
import { type ParsedSkill, SKILL_FILE } from './skill.ts'
import { isRegular, type Tree, type TreeFile } from './tree.ts'
import type { Policy } from './withheld.ts'

/** A file that this snapshot knows, and what it is. */
export interface PlannedFile {
  file: TreeFile
  kind: 'skill' | 'supporting' | 'document' | 'overview' | 'community' | 'manifest'
  owner: PlannedSkill | null
  /** Its license lets its bytes be delivered. */
  served: boolean
}

export interface PlannedSkill {
  skill: ParsedSkill
  file: TreeFile
  license: ResolvedLicense
  /** Delivered with body, rules and files. */
  full: boolean
  /** The skill whose folder encloses this one's. */
  enclosing: PlannedSkill | null
  /** Other skills directly inside its folder: listed as references. */
  nested: PlannedSkill[]
  /** In byte order of their paths. */
  supporting: TreeFile[]
  warnings: Warning[]
}

export interface Plan {
  tree: Tree
  policy: Policy
  /** In byte order of their paths, as everything here. */
  skills: PlannedSkill[]
  files: PlannedFile[]
  /** The skill that owns the files of a folder. */
  ownerOf(folder: RepoPath): PlannedSkill | null
  licenseOf(folder: RepoPath, owner: PlannedSkill | null): ResolvedLicense
  isServed(license: ResolvedLicense): boolean
  truncated: boolean
  diagnostics: Diagnostic[]
}

/** `SKILL.md` files that count and can be read, in path order, at most as many as one snapshot holds. */
export function skillCandidates(policy: Policy): { files: TreeFile[]; dropped: number } {
  const files = keptFiles(policy).filter(file => isRegular(file) && isSkillPlace(file.path))
  files.sort((left, right) => compareBytes(left.path, right.path))
  return { files: files.slice(0, SKILLS), dropped: Math.max(0, files.length - SKILLS) }
}

/** Where licenses are asked for: every folder, and every folder of a skill as part of it. */
export function licensePlaces(policy: Policy, skills: Iterable<ParsedSkill>): LicensePlace[] {
  const owners = ownersOf(policy, new Map([...skills].map(skill => [skill.directory, skill])))
  return policy.folders.flatMap(({ path }) => {
    const owner = owners.get(path)
    const outside = { folder: path, skillDirectory: null }
    return owner ? [outside, { folder: path, skillDirectory: owner.directory }] : [outside]
  })
}

/** Decides for every file what it is, to whom it belongs, and whether it is delivered. */
export function planContent(
  tree: Tree,
  policy: Policy,
  parsed: readonly ParsedSkill[],
  licenses: LicenseResolver,
  visibility: 'public' | 'private',
): Plan {
  const diagnostics: Diagnostic[] = []
  const isServed = (license: ResolvedLicense) => isServedInFull(license.license, visibility)
  const resolve = (folder: RepoPath, skillDirectory: RepoPath | null) =>
    withoutWithheldSource(licenses.resolve(folder, skillDirectory), policy)
  const skills = parsed.map(skill => planSkill(skill, tree, resolve(skill.directory, skill.directory), isServed))
  const owners = ownersOf(policy, new Map(skills.map(planned => [planned.skill.directory, planned])))
  connectNested(skills, policy)

  const licenseOf = (folder: RepoPath, owner: PlannedSkill | null) => resolve(folder, owner?.skill.directory ?? null)
  const files: PlannedFile[] = []
  const licensesOfDocuments: ResolvedLicense[] = []
  let documents = 0
  let droppedDocuments = 0
  for (const file of keptFiles(policy).sort((left, right) => compareBytes(left.path, right.path))) {
    if (!isRegular(file)) continue
    const folder = parentOf(file.path)
    const owner = owners.get(folder) ?? null
    const kind = kindOf(file, owner, policy)
    if (isMisspelled(file)) diagnostics.push(misspelled(file))
    if (kind === null) continue
    if (file.sizeBytes === null) {
      // That a skill is missing was said when it was read.
      if (baseNameOf(file.path) !== SKILL_FILE) diagnostics.push(unreadableBlob(file))
      continue
    }
    if (kind === 'document' && ++documents > DOCUMENTS) {
      droppedDocuments++
      continue
    }
    const license = licenseOf(folder, owner)
    if (kind === 'supporting') owner?.supporting.push(file)
    if (kind === 'document') licensesOfDocuments.push(license)
    files.push({
      file,
      kind,
      owner: kind === 'skill' || kind === 'supporting' ? owner : null,
      served: isServed(license),
    })
  }
  warnOfDuplicates(skills)

  if (droppedDocuments > 0)
    diagnostics.push(
      limitDiagnostic('index.limit_documents', `${droppedDocuments} documents left out behind the first ${DOCUMENTS}`),
    )
  const budget = withinBudget(files)
  if (budget.dropped > 0)
    diagnostics.push(
      limitDiagnostic('index.limit_bytes', `${budget.dropped} files left out behind ${INDEXED_TEXT_BYTES} bytes of text`),
    )

  return {
    tree,
    policy,
    skills,
    files: budget.files,
    ownerOf: folder => owners.get(folder) ?? null,
    licenseOf,
    isServed,
    truncated: tree.cut || droppedDocuments > 0 || budget.dropped > 0,
    diagnostics: [...diagnostics, ...licenseDiagnostics([...licensesOfListed(skills), ...licensesOfDocuments])],
  }
}

export function unreadableBlob(file: TreeFile): Diagnostic {
  return { code: 'file.unreadable', severity: 'warning', path: file.path, message: 'its blob cannot be read' }
}

export function limitDiagnostic(code: string, message: string): Diagnostic {
  return { code, severity: 'warning', path: ROOT, message }
}

function planSkill(
  skill: ParsedSkill,
  tree: Tree,
  license: ResolvedLicense,
  isServed: (license: ResolvedLicense) => boolean,
): PlannedSkill {
  const issues = license.issues.map(({ code, field, message }) => (field ? { code, field, message } : { code, message }))
  return {
    skill,
    file: tree.file(skill.path) as TreeFile,
    license,
    full: isServed(license),
    enclosing: null,
    nested: [],
    supporting: [],
    warnings: [...skill.warnings, ...issues],
  }
}

// A license file keeps its effect when it is withheld, but neither its name is told nor the words that point to it.
function withoutWithheldSource(resolved: ResolvedLicense, policy: Policy): ResolvedLicense {
  const { kind, name, source } = resolved.license
  if (source === null || policy.reasonOf(source as RepoPath) === null) return resolved
  return { ...resolved, license: { kind, name: name?.includes(baseNameOf(source as RepoPath)) ? null : name, source: null } }
}

/** The skill that owns the files of each folder: the nearest one at or above it. */
function ownersOf<Skill>(policy: Policy, byDirectory: ReadonlyMap<RepoPath, Skill>): Map<RepoPath, Skill> {
  const owners = new Map<RepoPath, Skill>()
  for (const { path } of policy.folders) {
    const owner = byDirectory.get(path) ?? owners.get(parentOf(path))
    if (
      owner !== undefined &&
      (byDirectory.has(path) || path === '' || owner !== byDirectory.get(ROOT) || ROOT_SKILL_FOLDERS.has(firstSegment(path)))
    ) {
      owners.set(path, owner)
    }
  }
  return owners
}

/** A skill at the root owns the root folder and these, not the whole repository. */
const ROOT_SKILL_FOLDERS = new Set(['references', 'scripts', 'assets', 'templates', 'examples'])

function connectNested(skills: readonly PlannedSkill[], policy: Policy): void {
  const byDirectory = new Map(skills.map(planned => [planned.skill.directory, planned]))
  const enclosing = new Map<RepoPath, PlannedSkill>()
  for (const { path } of policy.folders) {
    const outer = path === '' ? undefined : enclosing.get(parentOf(path))
    const own = byDirectory.get(path)
    if (own && outer) {
      own.enclosing = outer
      outer.nested.push(own)
      own.warnings.push({ code: 'skill.nested', message: `lies inside the folder of ${outer.skill.path}` })
    }
    const next = own ?? outer
    if (next) enclosing.set(path, next)
  }
  for (const planned of skills) planned.nested.sort((left, right) => compareBytes(left.skill.path, right.skill.path))
}

function kindOf(file: TreeFile, owner: PlannedSkill | null, policy: Policy): PlannedFile['kind'] | null {
  const name = baseNameOf(file.path)
  if (name === MANIFEST_FILE && policy.manifests.has(parentOf(file.path))) return 'manifest'
  if (file.path === owner?.skill.path) return 'skill'
  // A SKILL.md that cannot be read as one is refused with its reason, and listed nowhere.
  if (name === SKILL_FILE) return isSkillPlace(file.path) ? 'community' : null
  return owner ? 'supporting' : pathKind(file.path)
}

function warnOfDuplicates(skills: readonly PlannedSkill[]): void {
  const listed = skills.filter(planned => !planned.skill.internal)
  const byName = Map.groupBy(listed, planned => planned.skill.name)
  for (const same of byName.values()) {
    if (same.length < 2) continue
    for (const planned of same)
      planned.warnings.push({
        code: 'name.duplicate',
        field: 'name',
        message: `${same.length} skills of this repository have this name`,
      })
  }
}

/** Skills first, then everything else in path order, until the text of one snapshot is full. */
function withinBudget(files: readonly PlannedFile[]): { files: PlannedFile[]; dropped: number } {
  let leftBytes = INDEXED_TEXT_BYTES
  const dropped = new Set<PlannedFile>()
  const rank = (planned: PlannedFile) =>
    planned.kind === 'skill' || planned.kind === 'manifest' ? 0 : planned.kind === 'supporting' ? 1 : 2
  for (const wanted of [0, 1, 2]) {
    for (const planned of files) {
      const sizeBytes = planned.file.sizeBytes ?? 0
      if (rank(planned) !== wanted || sizeBytes > READABLE_FILE_BYTES) continue
      if (sizeBytes > leftBytes) dropped.add(planned)
      else leftBytes -= sizeBytes
    }
  }
  return { files: dropped.size === 0 ? [...files] : files.filter(planned => !dropped.has(planned)), dropped: dropped.size }
}

function licensesOfListed(skills: readonly PlannedSkill[]): ResolvedLicense[] {
  return skills.flatMap(planned => (planned.skill.internal ? [] : [planned.license]))
}

function licenseDiagnostics(licenses: readonly ResolvedLicense[]): Diagnostic[] {
  const issues = new Set(licenses.flatMap(license => license.issues))
  return [...issues]
    .filter(issue => issue.code !== 'license.unresolved')
    .map(({ code, field, path, message }) => ({ code, severity: 'warning' as const, path, ...(field ? { field } : {}), message }))
}

function keptFiles(policy: Policy): TreeFile[] {
  return policy.folders
    .filter(folder => policy.withheld.get(folder.path) !== 'closed')
    .flatMap(folder => [...folder.files.values()].filter(file => !policy.withheld.has(file.path)))
}

function isMisspelled(file: TreeFile): boolean {
  const name = baseNameOf(file.path)
  return name !== SKILL_FILE && name.toLowerCase() === SKILL_FILE.toLowerCase()
}

function misspelled(file: TreeFile): Diagnostic {
  return {
    code: 'skill.file_name',
    severity: 'info',
    path: file.path,
    message: `only a file named exactly ${SKILL_FILE} is a skill`,
  }
}

function firstSegment(path: RepoPath): string {
  return path.split('/', 1)[0] ?? ''
}

/** The planned file at each path. */
export function byPath(files: readonly PlannedFile[]): Map<RepoPath, PlannedFile> {
  return new Map(files.map(planned => [planned.file.path, planned]))
}

import type { DocumentListing, License } from '#core/contract/shared.ts'
import { findingOf, withLevel, withMessage } from '#core/finding-messages.ts'
import { ownFinding, tellFindings, uniqueFindings } from '#core/folder-findings.ts'
import { ancestorsOf, isInside, joinPath, type RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { type ContextPart, type ContextRow, countsInMount, type FolderRow, pageKey } from '#core/snapshot/format.ts'
import { compareBytes, countCharacters, utf8Length } from '#core/text.ts'
import { tellsLines } from '#words/findings.ts'
import { t, type Values } from '#words/t.ts'
import type { MemorySnapshot } from './memory-snapshot.ts'
import type { Amount, Checked, CheckReport, Finding, SkillReport } from './schema.ts'

/** The folder that was checked, and how. */
export interface CheckSubject {
  folder: RepoPath
  source: Checked['source']
  visibility: Checked['visibility']
  /** See `Worktree.unseen`. */
  unseen: { folders: ReadonlySet<string>; notCheckedOut: number }
  /** Every `SKILL.md` of the tree, in closed folders too. */
  skillPaths: readonly string[]
}

/** Shapes the report of a snapshot for its author. Pure. */
export function buildReport(snapshot: MemorySnapshot, subject: CheckSubject): Checked {
  const { folder, source, visibility } = subject
  const row = folder === '' ? snapshot.root.folder : snapshot.rows('folders').get(folder)
  const delivered = deliveredOf(snapshot, folder, row !== undefined)
  // A second path to a skill has nothing of its own.
  const isOwn = ([path, { target }]: [string, ContextRow]) => target === undefined || snapshot.rows('skills').has(path)
  const contexts = inFolder(snapshot.rows('contexts'), folder).filter(isOwn)
  const skills = contexts.map(([path, context]) => reportSkill(snapshot, path as RepoPath, context, subject))
  const documents = documentsIn(snapshot, folder, row)
  const findings = collectFindings(snapshot, subject, delivered, row, skills)
  const count = (severity: Finding['severity']) => findings.filter(finding => finding.severity === severity).length
  const full = skills.flatMap(({ delivery }) => (delivery.kind === 'full' ? [delivery] : []))
  return {
    format: 1,
    status: 'checked',
    folder,
    source,
    visibility,
    tokenizer: 'estimate',
    delivered,
    excluded: excludedIn(snapshot, subject),
    manifest: (row?.manifest === undefined ? undefined : snapshot.rows('manifests').get(row.manifest)) ?? null,
    license: row?.license ?? { kind: 'none', name: null, source: null },
    counts: row === undefined ? { skills: 0, documents: 0 } : countsInMount(folder, row),
    truncated: snapshot.truncated,
    totals: {
      errors: count('error'),
      warnings: count('warning'),
      infos: count('info'),
      full: full.length,
      described: skills.length - full.length,
      incomplete: full.filter(delivery => !delivery.complete).length,
      tokens: full.reduce((sum, { tokens }) => sum + tokens, 0),
    },
    findings,
    skills,
    documents,
  }
}

/** Inside a skill its Markdown files are documents, too. */
function documentsIn(snapshot: MemorySnapshot, folder: RepoPath, row: FolderRow | undefined): DocumentListing[] {
  const documents = inFolder(snapshot.rows('documents'), folder).map(([, document]) => document)
  const skill = row?.pages?.skill
  const pages =
    skill === undefined ? [] : [...snapshot.rows('pages')].filter(([key]) => key.startsWith(pageKey(skill, `${folder}/`)))
  const all = [...documents, ...pages.map(([, page]) => page)]
  return all.sort((left, right) => compareBytes(left.path, right.path))
}

function deliveredOf(snapshot: MemorySnapshot, folder: RepoPath, known: boolean): Checked['delivered'] {
  const withheld = snapshot.rows('withheld')
  for (const path of ancestorsOf(joinPath(folder, 'x'))) {
    const reason = withheld.get(path)?.reason
    if (reason !== undefined) return reason
  }
  const isBare = (['withheld', 'entries', 'others'] as const).every(table => snapshot.rows(table).size === 0)
  const isEmpty = folder === '' && isBare && snapshot.rows('folders').size === 1
  return known && !isEmpty ? 'open' : 'empty'
}

function excludedIn(snapshot: MemorySnapshot, { folder, skillPaths }: CheckSubject): Checked['excluded'] {
  const excluded = inFolder(snapshot.rows('withheld'), folder).filter(([, { reason }]) => reason === 'excluded')
  const skills = new Map(excluded.map(([path]) => [path, 0]))
  for (const skill of skillPaths) {
    const around = [...ancestorsOf(skill as RepoPath), skill].find(path => skills.has(path))
    if (around !== undefined) skills.set(around, (skills.get(around) ?? 0) + 1)
  }
  return [...skills].map(([path, count]) => ({ path, skills: count }))
}

function reportSkill(snapshot: MemorySnapshot, path: RepoPath, context: ContextRow, { folder }: CheckSubject): SkillReport {
  const { name, description, license, full } = context
  const skill = {
    path,
    name,
    description,
    listed: snapshot.rows('skills').has(path),
    license,
    warnings: context.warnings.map(withLevel),
    diagnostics: context.diagnostics.map(withMessage),
  }
  if (full === undefined) return { ...skill, delivery: { kind: 'described', reason: reasonOf(license) } }

  const rules = full.rules.map(pieceOf)
  const body = { characters: countCharacters(full.body), bytes: utf8Length(full.body), tokens: full.bodyTokens }
  const includes = full.includes.map(pieceOf)
  const total = [...rules, body, ...includes].reduce(add, { characters: 0, bytes: 0, tokens: 0 })
  const isReadable = (reference: string) => isInside(folder, reference as RepoPath)
  return {
    ...skill,
    delivery: {
      kind: 'full',
      complete: !full.incomplete,
      notInstallable: refusalOf(snapshot, path),
      pages: full.budget.pages,
      ...total,
      rules,
      body,
      includes,
      files: full.files,
      references: full.references.filter(isReadable),
      outside: full.references.filter(reference => !isReadable(reference)),
      oversized: full.oversized.map(file => ({ path: file.path, bytes: file.sizeBytes })),
    },
  }
}

/** Why clients cannot install the skill; `null` when they can, and for an internal skill, which is not listed. */
function refusalOf(snapshot: MemorySnapshot, path: RepoPath): string | null {
  const row = snapshot.rows('packages').get(path)
  return row !== undefined && 'refusal' in row ? (t.find(row.refusal.key, row.refusal.values) ?? row.refusal.key) : null
}

function reasonOf({ kind, name }: License): string {
  switch (kind) {
    case 'none':
      return 'no license is declared: a public repository is only described'
    case 'unknown':
      return name === null ? 'its license text is not recognized' : `its license is not recognized: ${name}`
    default:
      return `its license permits no copy: ${name ?? kind}`
  }
}

function pieceOf({ path, characters, tokens, slice }: ContextPart): Amount & { path: string } {
  return { path, characters, bytes: slice.lengthBytes, tokens }
}

function add(sum: Amount, { characters, bytes, tokens }: Amount): Amount {
  return { characters: sum.characters + characters, bytes: sum.bytes + bytes, tokens: sum.tokens + tokens }
}

function collectFindings(
  snapshot: MemorySnapshot,
  { folder, unseen }: CheckSubject,
  delivered: Checked['delivered'],
  row: FolderRow | undefined,
  skills: readonly SkillReport[],
): Finding[] {
  const findings = tellFindings([...snapshot.rows('findings').values()], {
    folder,
    unlicensed: row?.unlicensed,
    isEmpty: delivered === 'empty',
  })
  if (delivered === 'excluded') findings.push(ownFinding('folder.excluded', folder))
  if (skills.some(({ delivery }) => delivery.kind === 'described')) findings.push(ownFinding('folder.links_unchecked', folder))
  for (const path of unseen.folders) findings.push(ownFinding('folder.unreadable', path))
  if (unseen.notCheckedOut > 0) findings.push(ownFinding('folder.not_checked_out', '', unseen.notCheckedOut))
  return uniqueFindings(findings).sort(bySeverity)
}

/** The worst first, then by path and line. */
function bySeverity(left: Finding, right: Finding): number {
  return RANK[left.severity] - RANK[right.severity] || compareBytes(left.path, right.path) || (left.line ?? 0) - (right.line ?? 0)
}

const RANK = { error: 0, warning: 1, info: 2 } as const

function inFolder<Row>(rows: ReadonlyMap<string, Row>, folder: RepoPath): [string, Row][] {
  return [...rows].filter(([path]) => isInside(folder, path as RepoPath)).sort(([left], [right]) => compareBytes(left, right))
}

/** The report, with what changed since an earlier one. A finding is the same where only its line or a number that it counts differs. */
export function withChanges(earlier: CheckReport | null, report: CheckReport): CheckReport {
  if (earlier?.status !== 'checked' || report.status !== 'checked') return report
  return { ...report, changes: { mended: missingIn(report, earlier), added: missingIn(earlier, report) } }
}

/** The findings of `report` that `other` lacks. */
function missingIn(other: Checked, report: Checked): Finding[] {
  const keyOfTold = (finding: Finding) => keyOf({ ...finding, ...findingOf(finding) })
  const known = new Set(other.findings.map(keyOfTold))
  return report.findings.filter(finding => !known.has(keyOfTold(finding)))
}

/** Equal for the same finding in two states of a folder. */
export function keyOf({
  code,
  path,
  field,
  case: of,
  values,
}: Pick<DiagnosticRow, 'code' | 'path' | 'field' | 'case' | 'values'>): string {
  return JSON.stringify([code, path, field, of, values && withoutNumbers(values)])
}

function withoutNumbers(values: Values): unknown[] {
  return Object.entries(values).map(([name, value]) => {
    if (typeof value === 'number' || tellsLines(value)) return name
    return [name, typeof value === 'object' ? [value.key, withoutNumbers(value.values ?? {})] : value]
  })
}

import {
  OVERSIZED_FILES,
  READABLE_FILE_BYTES,
  REFERENCES,
  SUPPORTING_FILES,
  TITLE_CHARACTERS,
  WARNINGS_PER_SKILL,
} from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import type { ContextPart, ContextRow, FileRow, Location, SkillRow } from '#core/snapshot/format.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import { finding, reason } from '#words/findings.ts'
import type { Content } from './content-facts.ts'
import { isBinaryName } from './content-kind.ts'
import { hiddenWarnings } from './hidden-lines.ts'
import { includeDiagnostics, includeWarnings } from './includes.ts'
import type { Manifest } from './manifest.ts'
import { refusalWarnings } from './packages.ts'
import type { Plan, PlannedSkill } from './plan.ts'
import { manifestsAbove, ruleChain } from './rule-chain.ts'
import { shortLine } from './short-line.ts'
import type { SkillLinks } from './skill-links.ts'
import type { TreeFile } from './tree.ts'

/** Builds the row from which a skill is loaded, with its warnings and diagnostics. */
export function buildContext(
  planned: PlannedSkill,
  plan: Plan,
  content: Content,
  fileRows: ReadonlyMap<RepoPath, FileRow>,
): ContextRow {
  const { skill, license, full } = planned
  const { directory, name, description, frontMatter, translations } = skill
  const { target } = planned.file
  const place = target === undefined ? {} : { target }
  const identity = { directory, name, description, frontMatter, translations, license: license.license, ...place }
  if (!full) return { ...identity, warnings: planned.warnings.slice(0, WARNINGS_PER_SKILL), diagnostics: [] }

  const chain = ruleChain(manifestsAbove(plan.policy.manifests, directory))
  const includes = content.includesOf(planned)
  const links = content.linksOf(planned)
  const { sha256, rules, body, includes: ofIncludes, budget } = content.measuresOf(planned)
  const isIncomplete = chain.diagnostics.length > 0 || includes.failures.length > 0
  const supporting = planned.supporting.filter(file => fileRows.has(file.path)).slice(0, SUPPORTING_FILES)
  const references = links.targets.filter(path => isText(fileRows.get(path)))
  const isOversized = (path: RepoPath) => fileRows.get(path)?.refusal === 'file.too_large'
  const oversized = [...new Set([...supporting.map(file => file.path), ...links.targets].filter(isOversized))]
  // What a list lacks is told first: the last warnings may be cut.
  const warnings = [
    ...links.cuts,
    ...cutWarning('references.truncated', REFERENCES, references.length),
    ...cutWarning('oversized.truncated', OVERSIZED_FILES, oversized.length),
    ...cutWarning('supporting.truncated', SUPPORTING_FILES, planned.supporting.length),
    ...includes.files.flatMap(file => hiddenWarnings(content.hiddenIn(file.path), file.path)),
    ...planned.warnings,
    ...includeWarnings(includes.failures),
    ...links.warnings,
    ...unreadableWarnings(links, plan, content, fileRows),
    ...refusalWarnings(content.packageOf(planned), planned.warnings, isIncomplete),
  ]

  return {
    ...identity,
    warnings: warnings.slice(0, WARNINGS_PER_SKILL),
    full: {
      rules: chain.rules.map((manifest, index) => rulesPart(manifest, rules[index] ?? 0, content)),
      body: skill.body,
      bodyTokens: body,
      includes: includes.files.map((file, index) => includePart(file, ofIncludes[index] ?? 0, content)),
      budget,
      files: supporting.map(file => file.path),
      fileDetails: supporting.flatMap(({ path }) => fileDetail(path, fileRows.get(path))),
      ...(sha256 === null ? {} : { sha256 }),
      references: references.slice(0, REFERENCES),
      oversized: oversized.slice(0, OVERSIZED_FILES).map(path => oversizedFile(path, fileRows.get(path))),
      incomplete: isIncomplete,
    },
    diagnostics: [...chain.diagnostics, ...includeDiagnostics(includes.failures)],
  }
}

function oversizedFile(path: string, row: FileRow | undefined) {
  return { path, sizeBytes: row?.sizeBytes ?? 0, ...(row?.target === undefined ? {} : { target: row.target }) }
}

function fileDetail(path: string, row: FileRow | undefined) {
  return row?.sha256 === undefined ? [] : [{ path, sizeBytes: row.sizeBytes, sha256: row.sha256 }]
}

function cutWarning(code: `${'references' | 'oversized' | 'supporting'}.truncated`, limit: number, n: number): WarningRow[] {
  return n <= limit ? [] : [finding(code, { limit, n })]
}

/** Warnings of the files that the required reading names and no reader can open. */
function unreadableWarnings(
  { targets, named }: SkillLinks,
  { tree }: Plan,
  content: Content,
  fileRows: ReadonlyMap<RepoPath, FileRow>,
): WarningRow[] {
  const unreadable = targets.filter(path => named.has(path) && !isText(fileRows.get(path)))
  return unreadable.slice(0, WARNINGS_PER_SKILL).map(path => {
    const row = fileRows.get(path)
    const state = content.stateOf(tree.file(path)?.oid ?? '')
    const isBinary = isBinaryName(path) || state === 'not_text'
    const why = UNREADABLE[state === 'in_lfs' ? state : (row?.refusal ?? (isBinary ? 'file.not_text' : 'left_out'))]
    return finding('reference.unreadable', { path: shortLine(path, TITLE_CHARACTERS), why })
  })
}

/** Whether the files endpoint answers with the file. */
function isText(row: FileRow | undefined): boolean {
  return row?.record !== undefined && row.refusal === undefined
}

const UNREADABLE = {
  'file.not_served': reason('licensePermitsNoCopy'),
  'file.too_large': reason('isLarger', { limit: READABLE_FILE_BYTES }),
  'file.not_text': reason('isNoText'),
  in_lfs: reason('isInLfs'),
  left_out: reason('notInIndex'),
} as const

function rulesPart(manifest: Manifest, tokens: number, content: Content): ContextPart {
  const { text, offsetBytes } = manifest.rules ?? { text: '', offsetBytes: 0 }
  const record = content.recordOf(manifest.oid) as Location
  const slice = { record, offsetBytes, lengthBytes: utf8Length(text) }
  return { path: manifest.path, characters: countCharacters(text), tokens, slice }
}

function includePart(file: TreeFile, tokens: number, content: Content): ContextPart {
  const record = content.recordOf(file.oid) as Location
  return {
    path: file.path,
    characters: content.charactersOf(file.oid),
    tokens,
    slice: { record, offsetBytes: 0, lengthBytes: file.sizeBytes ?? 0 },
  }
}

export function buildListing(planned: PlannedSkill, context: ContextRow): SkillRow {
  const { directory, name, description, warnings, translations, license, full } = context
  const listing = { path: planned.skill.path, directory, name, description, warnings, translations, license }
  return full === undefined ? { ...listing, describedOnly: true } : { ...listing, tokens: full.budget.tokens }
}

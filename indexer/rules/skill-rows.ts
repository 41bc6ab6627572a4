import type { SkillListing } from '#core/contract/shared.ts'
import { OVERSIZED_FILES, SUPPORTING_FILES, WARNINGS_PER_SKILL } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { ContextPart, ContextRow, FileRow, Location } from '#core/snapshot/format.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import type { Content } from './content-facts.ts'
import { hiddenWarnings } from './hidden-lines.ts'
import { includeDiagnostics, includeWarnings } from './includes.ts'
import type { Manifest } from './manifest.ts'
import type { Plan, PlannedSkill } from './plan.ts'
import { manifestsAbove, ruleChain } from './rule-chain.ts'
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
  const identity = { directory, name, description, frontMatter, translations, license: license.license }
  if (!full) return { ...identity, warnings: planned.warnings.slice(0, WARNINGS_PER_SKILL), diagnostics: [] }

  const chain = ruleChain(manifestsAbove(plan.policy.manifests, directory), skill.path)
  const includes = content.includesOf(planned)
  const links = content.linksOf(planned)
  const supporting = planned.supporting.filter(file => fileRows.has(file.path)).slice(0, SUPPORTING_FILES)
  const isOversized = (path: RepoPath) => fileRows.get(path)?.refusal === 'file.too_large'
  const oversized = [...supporting.map(file => file.path), ...links.targets].filter(isOversized).slice(0, OVERSIZED_FILES)
  const hidden = includes.files.flatMap(file => hiddenWarnings(content.hiddenIn(file.path), file.path))
  const warnings = [...hidden, ...planned.warnings, ...includeWarnings(includes.failures), ...links.warnings]
  if (planned.supporting.length > SUPPORTING_FILES) {
    warnings.push({
      code: 'supporting.truncated',
      message: `only ${SUPPORTING_FILES} of ${planned.supporting.length} supporting files are listed`,
    })
  }

  return {
    ...identity,
    warnings: warnings.slice(0, WARNINGS_PER_SKILL),
    full: {
      rules: chain.rules.map(manifest => rulesPart(manifest, content)),
      body: skill.body,
      includes: includes.files.map(file => includePart(file, content)),
      files: supporting.map(file => file.path),
      references: links.targets.filter(path => fileRows.get(path)?.record !== undefined),
      oversized: [...new Set(oversized)].map(path => ({ path, sizeBytes: fileRows.get(path)?.sizeBytes ?? 0 })),
      incomplete: chain.diagnostics.length > 0 || includes.failures.length > 0,
    },
    diagnostics: [...chain.diagnostics, ...includeDiagnostics(includes.failures, skill.path)],
  }
}

function rulesPart(manifest: Manifest, content: Content): ContextPart {
  const { text, offsetBytes } = manifest.rules ?? { text: '', offsetBytes: 0 }
  const record = content.recordOf(manifest.oid) as Location
  return { path: manifest.path, characters: countCharacters(text), slice: { record, offsetBytes, lengthBytes: utf8Length(text) } }
}

function includePart(file: TreeFile, content: Content): ContextPart {
  const record = content.recordOf(file.oid) as Location
  return {
    path: file.path,
    characters: content.charactersOf(file.oid),
    slice: { record, offsetBytes: 0, lengthBytes: file.sizeBytes ?? 0 },
  }
}

export function buildListing(planned: PlannedSkill, context: ContextRow): SkillListing {
  const { directory, name, description, warnings, translations, license } = context
  const listing = { path: planned.skill.path, directory, name, description, warnings, translations, license }
  return planned.full ? listing : { ...listing, describedOnly: true }
}

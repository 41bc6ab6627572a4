import { hash } from 'node:crypto'
import { createYielder } from '#core/concurrency/yielding.ts'
import { FRONT_MATTER_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import { ancestorsOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow, FindingsRow, FoundRow } from '#core/snapshot/finding-rows.ts'
import { type ContextRow, findingsKey } from '#core/snapshot/format.ts'
import { decodeText } from '#core/text.ts'
import { type Finding, messageOf } from '#words/findings.ts'
import type { Assembled } from '../rules/assemble.ts'
import { type Rows, sortRows } from '../rules/content-facts.ts'
import { isSkillPlace } from '../rules/content-kind.ts'
import { foundInSkill, foundOfDiagnostic, leavingReferences, needsOtherTexts, type SkillText } from '../rules/found.ts'
import type { Plan, PlannedSkill } from '../rules/plan.ts'
import { linksOfText } from '../rules/skill-links.ts'
import type { BlobReader } from '../snapshot/repository-tree.ts'

/**
 * The rows of `findings`: what the other tables say to an author, with its lines. Some texts are read once more for it: those with a diagnostic of a
 * field, and the rules and includes in which a broken link may stand.
 */
export async function readFindings(
  blobs: BlobReader,
  plan: Plan,
  { tables }: Assembled,
  signal: AbortSignal | undefined,
): Promise<Rows<'findings'>> {
  const listed = new Set(tables.skills.map(([path]) => path))
  // A second path to a skill has nothing of its own.
  const contexts = tables.contexts.filter(([path, { target }]) => target === undefined || listed.has(path))
  const planned = new Map(plan.skills.map(one => [one.skill.path as string, one]))
  const diagnostics = tables.diagnostics.map(([, row]) => row)
  const told = new Set(diagnostics.map(causeOf))
  const ofSkillAlone = new Map(
    contexts.map(([path, row]) => [path, row.diagnostics.filter(one => !told.has(causeOf(one)))] as const),
  )
  const textOf = await readTexts(blobs, plan, planned, [...diagnostics, ...[...ofSkillAlone.values()].flat()])
  const costs = new Map(contexts.map(([path, row]) => [path, causesFor(path, row, told)] as const))
  const costing = new Set([...costs.values()].flat())
  const skillsBelow = countSkills(plan, diagnostics)
  const found = (row: DiagnosticRow): FoundRow => ({
    ...foundOfDiagnostic(row, textOf(row)),
    ...(costing.has(causeOf(row)) ? { cause: causeOf(row) } : {}),
    ...(row.boundary !== undefined && skillsBelow.has(row.boundary) ? { closes: skillsBelow.get(row.boundary) } : {}),
  })

  const rows: Rows<'findings'> = [...Map.groupBy(diagnostics, ({ path }) => path)].map(([path, of]) => {
    return [findingsKey(path, 'file'), { found: of.map(found) }]
  })
  const files = new Set(diagnostics.map(({ path }) => path))
  const ofLicenses = Map.groupBy(
    diagnostics.filter(({ code }) => code.startsWith('license.')),
    ({ path }) => path,
  )
  const yieldIfDue = createYielder(signal)
  for (const [path, context] of contexts) {
    await yieldIfDue()
    const skill = planned.get(path)
    if (skill === undefined) continue
    const row: FindingsRow = {
      skill: path,
      name: context.name,
      found: await findInSkill(blobs, plan, skill, context, ofLicenses.get(context.license.source ?? '') ?? []),
      ...(context.full ? {} : { describedOnly: true }),
      ...unlessEmpty('diagnostics', (ofSkillAlone.get(path) ?? []).map(found)),
      ...unlessEmpty('leaving', leavingReferences(path, context.full?.references ?? [])),
      ...unlessEmpty('costs', costs.get(path) ?? []),
    }
    const hasAny = row.found.length > 0 || row.diagnostics || row.leaving || row.costs
    // A diagnostic at a skill has its name, and is known as one of a skill that is only described.
    if (hasAny || files.has(path)) rows.push([findingsKey(path, 'skill'), row])
  }
  return sortRows(rows)
}

function unlessEmpty<Name extends string, Item>(name: Name, items: Item[]): { [Key in Name]?: Item[] } {
  return (items.length === 0 ? {} : { [name]: items }) as { [Key in Name]?: Item[] }
}

/** Identifies what is wrong with a file. */
function causeOf(row: Finding & { path: string }): string {
  return hash('sha256', JSON.stringify([row.code, row.path, messageOf(row)]), 'hex').slice(0, CAUSE_DIGITS)
}

const CAUSE_DIGITS = 16

/** What keeps a skill from agents and stands at another file. @param told what the diagnostics of all files say */
function causesFor(path: string, { diagnostics, warnings, license }: ContextRow, told: ReadonlySet<string>): string[] {
  const { source } = license
  const atLicense = source === null || source === path ? [] : warnings.map(row => causeOf({ ...row, path: source }))
  const elsewhere = diagnostics.filter(row => row.path !== path).map(causeOf)
  return [...new Set([...elsewhere, ...atLicense.filter(cause => told.has(cause))])]
}

/** How many skills lie below every folder, if a diagnostic closes one. */
function countSkills({ tree }: Plan, diagnostics: readonly DiagnosticRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  if (diagnostics.every(({ boundary }) => boundary === undefined)) return counts
  for (const { files } of tree.folders.values()) {
    for (const { path, target } of files.values()) {
      if (!isSkillPlace(path) || target !== undefined) continue
      for (const folder of ancestorsOf(path)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
  }
  return counts
}

type TextOf = (row: DiagnosticRow) => string | null

/** Reads the texts of the files that have a diagnostic of a field. */
async function readTexts(
  blobs: BlobReader,
  { tree }: Plan,
  planned: ReadonlyMap<string, PlannedSkill>,
  diagnostics: readonly DiagnosticRow[],
): Promise<TextOf> {
  const oids = new Map<string, string>()
  for (const { path, field } of diagnostics) {
    const oid = field === undefined || planned.has(path) ? undefined : tree.file(path as RepoPath)?.oid
    if (oid !== undefined) oids.set(path, oid)
  }
  const heads = new Map<string, string>()
  for await (const { oid, bytes } of blobs.read([...new Set(oids.values())], READABLE_FILE_BYTES)) {
    // The front matter stands at the beginning.
    if (bytes !== null) heads.set(oid, decodeText(bytes)?.slice(0, FRONT_MATTER_BYTES) ?? '')
  }
  return ({ path, field }) => {
    if (field === undefined) return null
    return planned.get(path)?.skill.text ?? heads.get(oids.get(path) ?? '') ?? null
  }
}

async function findInSkill(
  blobs: BlobReader,
  plan: Plan,
  { skill }: PlannedSkill,
  row: ContextRow,
  ofLicense: readonly DiagnosticRow[],
): Promise<FoundRow[]> {
  const own: SkillText = { path: skill.path, text: skill.text }
  const others = row.full && needsOtherTexts(row.warnings, own) ? await readOthers(blobs, plan, row.full) : []
  const links = () => skill.links ?? linksOfText(parentOf(skill.path), skill.body).links
  return foundInSkill({ path: skill.path, row, texts: [own, ...others], links }, ofLicense)
}

/** The rules and includes of a skill. */
async function readOthers(
  blobs: BlobReader,
  { tree }: Plan,
  { rules, includes }: NonNullable<ContextRow['full']>,
): Promise<SkillText[]> {
  const paths = [...rules, ...includes].map(({ path }) => path)
  const oids = new Map(paths.map(path => [path, tree.file(path as RepoPath)?.oid ?? '']))
  const texts = new Map<string, string>()
  for await (const { oid, bytes } of blobs.read([...new Set(oids.values())], READABLE_FILE_BYTES)) {
    const text = bytes && decodeText(bytes)
    if (text) texts.set(oid, text)
  }
  return paths.flatMap(path => {
    const text = texts.get(oids.get(path) ?? '')
    return text === undefined ? [] : [{ path, text }]
  })
}

import type { FindingCounts, FindingsPage, ListedFinding } from '#core/contract/findings.ts'
import type { FindingLevel, Warning } from '#core/contract/shared.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import { FINDINGS_LIMIT } from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { isSkillPath } from './links.ts'
import { naturally } from './natural-order.ts'
import { type ListRange, startOf } from './pager.ts'

export const GROUPINGS = ['kind', 'skill'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** What the URL of the view asks for. */
export interface FindingsRequest {
  path: string | undefined
  level: FindingLevel | undefined
  by: Grouping
  cursor: string | undefined
  back: readonly string[]
}

/** A finding, and its number on the page. */
export interface NumberedFinding {
  number: number
  finding: ListedFinding
}

/** Findings that stand together: of one kind, or of one skill or file. */
export interface FindingGroup {
  /** A code, or the path of a skill or file. */
  of: string
  /** Of the skill. */
  name: string
  level: FindingLevel
  findings: NumberedFinding[]
}

/** How many findings a skill has. */
export interface FoundSkill {
  path: string
  name: string
  count: number
  /** The gravest. */
  level: FindingLevel
}

export interface FindingsView {
  commit: string
  counts: FindingCounts
  isPartial: boolean
  groups: FindingGroup[]
  /** The skills that have any, on the first page, the gravest first. */
  skills: FoundSkill[]
  /** There are more findings than are read for `skills`, or for the groups by skill. */
  hasMore: boolean
  /** Which findings are on the page, or by skill which groups; `null` where the URL does not tell. */
  range: ListRange | null
  nextCursor: string | null
}

/** Findings of one page, and skills of one page. */
const PAGE_FINDINGS = 100
const PAGE_SKILLS = 50
/** Pages of the interface that are read for a list of skills. */
const READ_PAGES = 10

type Loaded = Extract<ApiResult<'findings'>, { ok: false }> | { ok: true; status: number; answer: FindingsView | NotReady }
type NotReady = Exclude<Extract<ApiResult<'findings'>, { ok: true }>['answer'], FindingsPage>

/** Reads what the view shows: a page of the list by kind with the skills that have findings, or a page of these skills with their findings. */
export async function loadFindings(client: ApiClient, address: string, request: FindingsRequest): Promise<Loaded> {
  const { by, cursor } = request
  const first = await readPage(
    client,
    address,
    request,
    by === 'kind' ? cursor : undefined,
    by === 'kind' ? PAGE_FINDINGS : undefined,
  )
  if (!first.ok || first.answer.status !== 'ready') return first as Loaded
  const { answer, status } = first
  const { commit, counts, diagnostics } = answer
  const isOnFirstPage = by === 'skill' || cursor === undefined
  const { items, hasMore } = isOnFirstPage ? await readAll(client, address, request, answer) : { items: [], hasMore: false }
  const shared = { commit, counts, isPartial: diagnostics.length > 0, skills: skillsOf(items), hasMore }
  if (by === 'kind') {
    const groups = groupBy(
      answer.items,
      ({ level, code }) => `${level} ${code}`,
      ({ code }) => code,
    )
    const { level } = request
    const all = level === undefined ? counts.look + counts.breaks + counts.style : counts[level]
    const from = startOf(request, PAGE_FINDINGS)
    const range = from === null ? null : { from, to: from + answer.items.length - 1, all }
    return { ok: true, status, answer: { ...shared, groups, range, nextCursor: answer.nextCursor } }
  }
  const groups = groupBy(items, placeOf, placeOf).sort(gravestFirst(({ of }) => of))
  const start = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0
  const end = start + PAGE_SKILLS
  const shown = groups.slice(start, end)
  const range = { from: start + 1, to: start + shown.length, all: groups.length, hasMore }
  return { ok: true, status, answer: { ...shared, groups: shown, range, nextCursor: end < groups.length ? String(end) : null } }
}

function readPage(
  client: ApiClient,
  address: string,
  { path, level }: Pick<FindingsRequest, 'path' | 'level'>,
  cursor: string | undefined,
  limit: number = FINDINGS_LIMIT.max,
): Promise<ApiResult<'findings'>> {
  const asked = { ...(path && { path }), ...(level && { level }), ...(cursor && { cursor }) }
  return client.get('findings', address, { ...asked, limit: String(limit) })
}

/** All findings, up to a bound. @param first the first page, which may be all of them */
async function readAll(
  client: ApiClient,
  address: string,
  request: Pick<FindingsRequest, 'path' | 'level'>,
  first: FindingsPage,
) {
  const items = [...first.items]
  let { nextCursor } = first
  for (let page = 1; nextCursor !== null && page < READ_PAGES; page++) {
    const next = await readPage(client, address, request, nextCursor)
    if (!next.ok || next.answer.status !== 'ready') break
    items.push(...next.answer.items)
    nextCursor = next.answer.nextCursor
  }
  return { items, hasMore: nextCursor !== null }
}

/** In the order of the first finding of each. */
function groupBy(
  items: readonly ListedFinding[],
  keyOf: (finding: ListedFinding) => string,
  nameOf: (finding: ListedFinding) => string,
): FindingGroup[] {
  let number = 0
  return [...Map.groupBy(items, keyOf)].map(([, findings]) => {
    const [first] = findings as [ListedFinding]
    return {
      of: nameOf(first),
      name: nameOfSkill(first),
      level: first.level,
      findings: findings.map(finding => ({ number: ++number, finding })),
    }
  })
}

/** The gravest first, of one level by path. */
function gravestFirst<Item extends { level: FindingLevel }>(pathOf: (item: Item) => string) {
  return (left: Item, right: Item) =>
    FINDING_LEVELS.indexOf(left.level) - FINDING_LEVELS.indexOf(right.level) || naturally(pathOf(left), pathOf(right))
}

function skillsOf(items: readonly ListedFinding[]): FoundSkill[] {
  return [...Map.groupBy(items, placeOf)]
    .filter(([path]) => isSkillPath(path))
    .map(([path, findings]) => {
      const [first] = findings as [ListedFinding]
      return { path, name: nameOfSkill(first), count: findings.length, level: first.level }
    })
    .sort(gravestFirst(({ path }) => path))
}

/** The skill that a finding concerns, else its file. */
export function placeOf({ skill, path }: ListedFinding): string {
  return skill ?? path
}

/** The name of the skill that a finding concerns; of one that has none, its folder, or its file at the root. */
export function nameOfSkill(finding: ListedFinding): string {
  const path = placeOf(finding)
  return finding.name || folderNameOf(path) || path
}

/** The folder of a file, by its last segment. */
export function folderNameOf(path: string): string {
  return baseNameOf(parentOf(path as RepoPath))
}

/** The folder that shows what a finding stands at; `null`: a file does. Which of them, its code says. */
export function folderOf({ code, path }: Pick<ListedFinding, 'code' | 'path'>): string | null {
  // A submodule is an entry of its folder alone.
  if (code === 'tree.submodule') return parentOf(path as RepoPath)
  return /^(?:folder|index|tree)\./.test(code) ? path : null
}

/** What was found at an address: how much, and in which skills. */
export interface FoundAtAddress {
  count: number
  /** By path; of the findings that were read. */
  skills: ReadonlyMap<string, FoundSkill>
  /** Of these the skills without a description, by path. */
  undescribed: ReadonlySet<string>
  /** Not all findings were read. */
  hasMore: boolean
}

/**
 * Reads how many findings there are, and with `withSkills` the skills that have them.
 *
 * @returns `null` until the index is ready
 */
export async function loadFound(client: ApiClient, address: string, withSkills: boolean): Promise<FoundAtAddress | null> {
  const result = await readPage(client, address, WHOLE, undefined, withSkills ? FINDINGS_LIMIT.max : FINDINGS_LIMIT.min)
  if (!result.ok || result.answer.status !== 'ready') return null
  const { look, breaks, style } = result.answer.counts
  const { items, hasMore } = withSkills ? await readAll(client, address, WHOLE, result.answer) : { items: [], hasMore: true }
  const undescribed = new Set(items.filter(({ code }) => code === UNDESCRIBED).map(placeOf))
  const skills = new Map(skillsOf(items).map(skill => [skill.path, skill]))
  return { count: look + breaks + style, skills, undescribed, hasMore }
}

const UNDESCRIBED = 'description.missing'

/** The findings in the skills of a folder, as far as they are known. */
export function foundBelow(found: FoundAtAddress | null, folder: string): Pick<FoundSkill, 'count' | 'level'> | undefined {
  const inside = [...(found?.skills.values() ?? [])].filter(({ path }) => path.startsWith(`${folder}/`))
  const level = FINDING_LEVELS.find(one => inside.some(skill => skill.level === one))
  return level && { level, count: inside.reduce((sum, { count }) => sum + count, 0) }
}

/** Whether the description of a listed skill is none: it was taken from the text of the skill. */
export function isFromText(
  found: FoundAtAddress | null,
  { path, warnings = [] }: { path: string; warnings?: readonly Warning[] | undefined },
): boolean {
  return found?.undescribed.has(path) === true || warnings.some(({ code }) => code === UNDESCRIBED)
}

const WHOLE = { path: undefined, level: undefined }

/** The findings of a listed skill, as far as they are known: its warnings where not all findings were read. */
export function foundIn(
  found: FoundAtAddress | null,
  { path, name, warnings = [] }: { path: string; name: string; warnings?: readonly Warning[] | undefined },
): FoundSkill | undefined {
  const known = found?.skills.get(path)
  if (known !== undefined || found?.hasMore === false) return known
  const level = FINDING_LEVELS.find(one => warnings.some(warning => warning.level === one))
  return level && { path, name, count: warnings.length, level }
}

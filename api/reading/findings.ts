import { z } from 'zod'
import type { FindingCounts, FindingsPage, FindingsQuery, ListedFinding } from '#core/contract/findings.ts'
import type { Diagnostic } from '#core/contract/shared.ts'
import { findingOf, keepFinding, withMessage, withoutQuotation } from '#core/finding-messages.ts'
import { compareFindings, manifestsAbove, type ToldFinding, tellFindings, uniqueFindings } from '#core/folder-findings.ts'
import { baseNameOf, isInside, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import type { DiagnosticRow, FindingsRow } from '#core/snapshot/finding-rows.ts'
import { type FolderRow, findingsKey } from '#core/snapshot/format.ts'
import { finding } from '#words/findings.ts'
import type { Deps } from '../deps.ts'
import { requireFolder } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { readCursor, sealCursor } from './cursor.ts'

/** A cursor holds how many findings came before. */
export const FindingsPosition = z.int().min(1)

/** What was found at a path. */
interface Found {
  counts: FindingCounts
  items: readonly ListedFinding[]
}

/**
 * One page of the findings of a folder or skill.
 *
 * @throws ServiceError `request.invalid`, `mount.path_not_found`
 */
export async function listFindings(
  deps: Pick<Deps, 'cursorKeys'>,
  mount: ReadyMount,
  { path = mount.address.path, level, cursor, limit }: FindingsQuery,
): Promise<FindingsPage> {
  const { snapshot, commit, repository, address } = mount
  const parameters = { mount: address.path, path, level: level ?? '' }
  const binding = { route: 'findings', repositoryId: repository.id, commit, parameters }
  const start = cursor === undefined ? 0 : readCursor(deps.cursorKeys, binding, cursor, FindingsPosition)
  const { counts, items } = await findingsAt(mount, path as RepoPath)
  const asked = level === undefined ? items : items.filter(item => item.level === level)
  const end = start + limit
  return {
    status: 'ready',
    commit,
    counts,
    items: asked.slice(start, end),
    diagnostics: snapshot.header.truncated ? [partial(address.path)] : [],
    nextCursor: end < asked.length ? sealCursor(deps.cursorKeys, binding, end) : null,
  }
}

function partial(path: string): Diagnostic {
  return withMessage<DiagnosticRow>({ ...finding('index.partial'), severity: 'info', path })
}

/** @throws ServiceError `mount.path_not_found` */
async function findingsAt(mount: ReadyMount, path: RepoPath): Promise<Found> {
  const { snapshot, address } = mount
  if (await isSkill(mount, path)) {
    return await snapshot.memo(`findings ${JSON.stringify([address.path, path])}`, () =>
      findInSkill(snapshot, address.path, path),
    )
  }
  const folder = await requireFolder(mount, path)
  return await snapshot.memo(`findings ${JSON.stringify([path])}`, () => findInFolder(snapshot, path, folder))
}

async function isSkill({ snapshot, address }: ReadyMount, path: RepoPath): Promise<boolean> {
  if (baseNameOf(path) !== SKILL_FILE || !isInside(address.path, path)) return false
  return (await snapshot.get('contexts', path)) !== null
}

export async function findInFolder(snapshot: Snapshot, folder: RepoPath, { unlicensed }: FolderRow): Promise<Found> {
  const rows = folder === '' ? await snapshot.range('findings') : await rowsOfFolder(snapshot, folder)
  const { tables } = snapshot.header
  const isEmpty = folder === '' && tables.folders.rows === 1 && tables.entries.rows === 0 && tables.others.rows === 0
  const all = rows.map(([, row]) => row)
  return shape(tellFindings(all, { folder, unlicensed, isEmpty }), all)
}

/** Those in the folder, of the manifests above it, and of the tree as a whole. */
async function rowsOfFolder(snapshot: Snapshot, folder: RepoPath) {
  const ofFiles = [folder, '', ...manifestsAbove(folder)].map(path => ({ prefix: findingsKey(path, 'file'), limit: 1 }))
  return (await Promise.all([...ofFiles, { prefix: `${folder}/` }].map(range => snapshot.range('findings', range)))).flat()
}

/** What concerns one skill, or stands at its `SKILL.md`. @param mounted decides which of its references can be read */
async function findInSkill(snapshot: Snapshot, mounted: RepoPath, path: RepoPath): Promise<Found> {
  const rows = await snapshot.range('findings', { prefix: `${path}\0` })
  const all = rows.map(([, row]) => row)
  const told = tellFindings(all, { folder: mounted })
  return shape(
    told.filter(one => one.skill === path || one.path === path),
    all,
  )
}

function shape(told: readonly ToldFinding[], rows: readonly FindingsRow[]): Found {
  const described = new Set(rows.flatMap(({ skill, describedOnly }) => (skill !== undefined && describedOnly ? [skill] : [])))
  const shown = told.map(one => {
    const skill = one.skill ?? one.path
    return described.has(skill) ? describedFinding(one, skill) : one
  })
  const names = new Map(rows.flatMap(({ skill, name }) => (skill !== undefined && name !== undefined ? [[skill, name]] : [])))
  const items = uniqueFindings(shown)
    .sort(compareFindings)
    .map(one => toListed(one, names.get(one.skill ?? one.path)))
  const counts = { look: 0, breaks: 0, style: 0 }
  for (const { level } of items) counts[level]++
  return Object.freeze({ counts: Object.freeze(counts), items: Object.freeze(items) })
}

function toListed(told: ToldFinding, name: string | undefined): ListedFinding {
  const { severity: _, ...shown } = told
  const item = name === undefined ? shown : { ...shown, name }
  return keepFinding(item, findingOf(told) ?? { code: told.code })
}

/** Of a skill that is only described nothing is quoted. */
function describedFinding(told: ToldFinding, skill: string): ToldFinding {
  const { code, level, severity, advice } = told
  const { message, finding } = withoutQuotation(told)
  const shown = { level, severity, code, path: skill, message, ...(advice === undefined ? {} : { advice }), skill }
  return keepFinding(shown, finding)
}

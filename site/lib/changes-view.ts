import { type Address, atPath, formatAddress } from '#core/address.ts'
import { byKind, TOLD_KINDS } from '#core/change-groups.ts'
import type { ChangeItem, ChangeSide, ChangesPage, SkillChangesPage } from '#core/contract/changes.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { ROOT } from '#core/repo-path.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { type ComparedInstruction, loadInstructions } from './changed-instructions.ts'
import { type FileDifference, loadFileDifference } from './file-difference.ts'
import { isSkillPath } from './links.ts'
import { loadUncompared, type UncomparedItem } from './not-compared.ts'
import { type ChangedFile, loadSkillFiles } from './skill-files.ts'
import { type ComparedText, loadSkillTexts } from './skill-texts.ts'

/** The two commits of a comparison. A file that is compared by itself has no state. */
export interface ComparedSides {
  from: ComparedSide
  to: ComparedSide
}

type ComparedSide = Pick<ChangeSide, 'ref' | 'commit'> & { status?: ChangeSide['status'] }

/** A file at two commits. */
export interface FileChanges {
  commit: string
  from: { ref: string | null; commit: string }
  to: { ref: string | null; commit: string }
  file: FileDifference
}

/** A page of a list. */
export interface ChangesList {
  page: ChangesPage
  /** Items among which there may be something to look at: on the first page those of later pages, too. */
  looked: readonly ChangeItem[]
  /** These are all items of the comparison. */
  isLookedWhole: boolean
  /** On the first page: those that are not compared, as many as are named. */
  uncompared: readonly UncomparedItem[]
  /** On the first page: the files that agents read before any skill. */
  instructions: readonly ComparedInstruction[]
}

/** What a comparison with an older side shows: a list, a skill, or one file. */
export type ChangesContent =
  | { kind: 'changes'; list: ChangesList }
  | { kind: 'skill-changes'; page: SkillChangesPage; texts: ComparedText[]; files: ChangedFile[] }
  | { kind: 'file-changes'; page: FileChanges }

export interface ChangesRequest {
  from: string
  /** A folder, a skill or a file. */
  path: string | undefined
  /** Of a file that moved: its old path. */
  was: string | undefined
  cursor: string | undefined
}

type Refused = Extract<ApiResult<'changes'>, { ok: false }>
type NotReady = Exclude<AnswerOf<'changes'>, { status: 'ready' }>

/** Errors by which the API says that a path is neither a folder nor a skill. */
const MAYBE_FILE = new Set(['mount.path_not_found', 'skill.not_found'])

/** The content, the state of a side that is not indexed, or the error of the API. */
export async function loadComparison(
  client: ApiClient,
  address: Address,
  request: ChangesRequest,
): Promise<{ status: number; content: ChangesContent } | { status: number; state: NotReady } | Refused> {
  const { path } = request
  if (path !== undefined && isSkillPath(path)) {
    const result = await loadSkillTexts(client, address, { ...request, skill: path })
    if (!result.ok) return (await loadFileInstead(client, address, request, result)) ?? result
    if (!('texts' in result)) return { status: result.status, state: result.answer }
    const { answer: page, texts } = result
    return {
      status: result.status,
      content: { kind: 'skill-changes', page, texts, files: await loadSkillFiles(client, address, page) },
    }
  }
  const result = await loadChangesList(client, address, request)
  if (!result.ok) return (await loadFileInstead(client, address, request, result)) ?? result
  const { answer, status } = result
  if (answer.status !== 'ready' || !('items' in answer)) return { status, state: answer as NotReady }
  return { status, content: { kind: 'changes', list: await listOf(client, address, request, answer) } }
}

async function listOf(client: ApiClient, address: Address, request: ChangesRequest, page: ChangesPage): Promise<ChangesList> {
  if (request.cursor !== undefined) return { page, looked: page.items, isLookedWhole: false, uncompared: [], instructions: [] }
  const { skills, documents } = page.notCompared
  const [{ items, isWhole }, uncompared, instructions] = await Promise.all([
    page.nextCursor === null ? { items: page.items, isWhole: true } : readLooked(client, address, request),
    skills + documents === 0 ? [] : loadUncompared(client, { ...address, ref: page.to.commit }, page),
    loadInstructions(client, address, page),
  ])
  return { page, looked: items, isLookedWhole: isWhole, uncompared, instructions }
}

/** A path that is neither a folder nor a skill may be a file. */
async function loadFileInstead(
  client: ApiClient,
  address: Address,
  request: ChangesRequest,
  { error }: Refused,
): Promise<{ status: number; content: ChangesContent } | null> {
  const { path } = request
  const file = path !== undefined && MAYBE_FILE.has(error.code) ? await loadFile(client, address, { ...request, path }) : null
  return file && { status: 200, content: { kind: 'file-changes', page: file } }
}

/** The first items of all kinds. */
async function readLooked(
  client: ApiClient,
  address: Address,
  { from, path }: ChangesRequest,
): Promise<{ items: ChangeItem[]; isWhole: boolean }> {
  const items: ChangeItem[] = []
  let cursor: string | null | undefined
  for (let pages = 0; pages < PAGES_READ && cursor !== null; pages++) {
    const query = { from, limit: ITEMS_AT_ONCE, ...(path ? { path } : {}), ...(cursor ? { cursor } : {}) }
    const result: ApiResult<'changes'> = await client.get('changes', formatAddress(address), query)
    if (!result.ok || !('items' in result.answer)) break
    items.push(...result.answer.items)
    cursor = result.answer.nextCursor
  }
  return { items, isWhole: cursor === null }
}

/** `null` when no side has the file. Both are read at one commit each, whatever their branches do meanwhile. */
async function loadFile(
  client: ApiClient,
  address: Address,
  { from, path, was = path }: ChangesRequest & { path: string },
): Promise<FileChanges | null> {
  const root = atPath(address, ROOT)
  const [old, new_] = await Promise.all([
    client.get('mounts', formatAddress({ ...root, ref: from }), {}),
    client.get('mounts', formatAddress(root), {}),
  ])
  if (!old.ok || !new_.ok) return null
  const sides = { from: { ref: from, commit: old.answer.commit }, to: { ref: address.ref, commit: new_.answer.commit } }
  const placeAt = (commit: string, at: string) => ({ address: { ...address, ref: commit }, path: at })
  const file = await loadFileDifference(client, placeAt(sides.from.commit, was), placeAt(sides.to.commit, path))
  return file === null ? null : { commit: sides.to.commit, ...sides, file }
}

/* The list of changes: skills, then documents, then manifests. The API lists them by path. */

type Kind = ChangeItem['kind']

/** As many as the interface permits: those that one manifest changes are one entry of the page. */
const ITEMS_AT_ONCE = '200'
/** Pages of the API that one page is made of at most, and items after which it reads no other one. */
const PAGES_READ = 5
const ENOUGH_ITEMS = 100

/** The cursor of a page of a long list: a kind, or a kind with the cursor of the API. */
const PLACE = /^(skill|document|manifest)(?:~(.+))?$/

/**
 * One page of the list. A list that is one page of the API has all kinds on it; a longer one has pages of skills, then of documents, then of
 * manifests.
 *
 * @param cursor of this list, not of the API
 */
export async function loadChangesList(
  client: ApiClient,
  address: Address,
  { from, path, cursor }: { from: string; path: string | undefined; cursor: string | undefined },
): Promise<ApiResult<'changes'>> {
  const [, named, after] = PLACE.exec(cursor ?? '') ?? []
  const read = (at: string | undefined) =>
    client.get('changes', formatAddress(address), {
      from,
      limit: ITEMS_AT_ONCE,
      ...(path ? { path } : {}),
      ...(at === undefined ? {} : { cursor: at }),
    })
  // A cursor of another form is refused by the API.
  const first = await read(named === undefined ? cursor : after)
  if (!first.ok || !('items' in first.answer)) return first
  const { answer } = first
  if (cursor === undefined && answer.nextCursor === null) return { ...first, answer: { ...answer, items: byKind(answer.items) } }
  const kind = (named as Kind | undefined) ?? firstKindIn(answer, TOLD_KINDS) ?? 'skill'
  return await gather(kind, { ...first, answer }, read)
}

type Ready = Extract<ApiResult<'changes'>, { ok: true }> & { answer: ChangesPage }

/** The items of one kind, from one page of the API on. */
async function gather(
  kind: Kind,
  first: Ready,
  read: (cursor: string) => Promise<ApiResult<'changes'>>,
): Promise<ApiResult<'changes'>> {
  const items = first.answer.items.filter(item => item.kind === kind)
  let next = first.answer.nextCursor
  for (let pages = 1; pages < PAGES_READ && items.length < ENOUGH_ITEMS && next !== null; pages++) {
    const result = await read(next)
    if (!result.ok || !('items' in result.answer)) return result
    items.push(...result.answer.items.filter(item => item.kind === kind))
    next = result.answer.nextCursor
  }
  const later = firstKindIn(first.answer, TOLD_KINDS.slice(TOLD_KINDS.indexOf(kind) + 1))
  const nextCursor = next === null ? (later ?? null) : `${kind}~${next}`
  return { ...first, answer: { ...first.answer, items, nextCursor } }
}

const COUNTED = { skill: 'skills', document: 'documents', manifest: 'manifests' } as const satisfies Record<
  Kind,
  keyof ChangesPage['counts']
>

function firstKindIn({ counts }: Pick<ChangesPage, 'counts'>, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find(kind => Object.values(counts[COUNTED[kind]]).some(count => count > 0))
}

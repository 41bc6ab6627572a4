import { z } from 'zod'
import type { FindAnswer, FindQuery, FoundItem } from '#core/contract/find.ts'
import type { DocumentListing } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { FIND_FOLDED_FILES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { SEARCH_VERSION } from '#core/search/analyze.ts'
import { parseOwners } from '#core/search/owners.ts'
import type { Location, SearchItemRow } from '#core/snapshot/format.ts'
import { compareBytes, countCharacters } from '#core/text.ts'
import type { PurposeKeys } from '../keys.ts'
import { diagnosticsOf, folderOf, requireFolder } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import { readCursor, sealCursor } from './cursor.ts'
import {
  closeTerms,
  foldItems,
  type MatchedTerm,
  type QueryTerm,
  queryTerms,
  type RankedUnit,
  rankItems,
  type TermMatch,
} from './ranking.ts'
import type { Snapshot, TableRow } from './snapshot-reader.ts'

/** Words of a query that are respelled when they stand nowhere. */
const RESPELLED_WORDS = 4
/** Terms that are looked at for them. */
const SPELLING_ROWS = 32_768
/** Pairs that a single character may begin. */
const PAIRS_OF_CHARACTER = 16

/** How many results the pages before have shown. */
const Position = z.int().min(1)

/**
 * One page of the ranked search in a mounted folder, or in a folder inside it.
 *
 * Supporting files are folded into the skill that owns them before the page is cut. A skill that lies above the mount is not in the mount:
 * its Markdown files below answer as documents, its other files not at all.
 *
 * @throws ServiceError `request.invalid` for a malformed `path` or a cursor of another search, `mount.path_not_found`,
 * `skill.unavailable` when the snapshot cannot be read
 */
export async function findInMount(
  deps: { cursorKeys: PurposeKeys },
  mount: ReadyMount,
  { query, path, cursor, limit }: FindQuery,
): Promise<Extract<FindAnswer, { status: 'ready' }>> {
  const { snapshot, repository, commit, address } = mount
  const folder = folderOf(address.path, path)
  await requireFolder(mount, folder)
  const parameters = { mount: address.path, path: folder, query, search: String(SEARCH_VERSION) }
  const binding = { route: 'find', repositoryId: repository.id, commit, parameters }
  const offset = cursor === undefined ? 0 : readCursor(deps.cursorKeys, binding, cursor, Position)

  const [units, diagnostics] = await Promise.all([
    rankUnits(snapshot, address.path, folder, query),
    diagnosticsOf(snapshot, folder),
  ])
  const end = offset + limit
  const items = await Promise.all(units.slice(offset, end).map(unit => readItem(snapshot, unit)))
  const nextCursor = end < units.length ? sealCursor(deps.cursorKeys, binding, end) : null
  return { status: 'ready', query, commit, items, diagnostics, nextCursor }
}

async function rankUnits(snapshot: Snapshot, mounted: RepoPath, folder: RepoPath, query: string): Promise<RankedUnit[]> {
  const location = snapshot.header.searchOwners
  if (location === null) return []
  const [owners, terms, inMount, inFolder] = await Promise.all([
    readOwners(snapshot, location),
    readMatches(snapshot, queryTerms(query)),
    itemsBelow(snapshot, mounted),
    itemsBelow(snapshot, folder),
  ])
  const ranked = rankItems(terms, owners).filter(({ number }) => isWithin(inFolder, number))
  const isOrphan = (number: number) => {
    const owner = owners[number] ?? -1
    return owner >= 0 && !isWithin(inMount, owner)
  }
  const documents = await readMarkdown(snapshot, ranked.map(({ number }) => number).filter(isOrphan))
  return foldItems(ranked, number => {
    if (isOrphan(number)) return documents.has(number) ? number : null
    const owner = owners[number] ?? -1
    return owner < 0 ? number : owner
  })
}

async function readOwners(snapshot: Snapshot, location: Location): Promise<number[]> {
  const record = await snapshot.record(location)
  try {
    return parseOwners(record)
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}

/** The postings of every term; of terms close to it where it stands nowhere. */
async function readMatches(snapshot: Snapshot, terms: readonly QueryTerm[]): Promise<MatchedTerm[]> {
  const exact = await Promise.all(terms.map(async term => ({ ...term, matches: await readExact(snapshot, term) })))
  const unknown = exact.filter(({ matches, kind }) => matches.length === 0 && kind !== 'whole').slice(0, RESPELLED_WORDS)
  if (unknown.length === 0) return exact
  const spelling = await snapshot.range('searchSpelling', { limit: SPELLING_ROWS })
  const close = await Promise.all(unknown.map(async term => ({ ...term, matches: await readClose(snapshot, term, spelling) })))
  return exact.map(term => close.find(({ term: respelled }) => respelled === term.term) ?? term)
}

async function readExact(snapshot: Snapshot, { term, kind }: QueryTerm): Promise<TermMatch[]> {
  const row = await snapshot.get('searchTerms', term)
  if (row) return [{ row, closeness: 1 }]
  if (kind !== 'pair' || countCharacters(term) > 1) return []
  const pairs = await snapshot.range('searchTerms', { prefix: term, limit: PAIRS_OF_CHARACTER })
  return pairs.map(([, pair]) => ({ row: pair, closeness: 1 }))
}

async function readClose(
  snapshot: Snapshot,
  term: QueryTerm,
  spelling: readonly TableRow<'searchSpelling'>[],
): Promise<TermMatch[]> {
  const rows = await Promise.all(
    closeTerms(term, spelling).map(async ({ term: close, closeness }) => ({
      row: await snapshot.get('searchTerms', close),
      closeness,
    })),
  )
  return rows.flatMap(({ row, closeness }) => (row ? [{ row, closeness }] : []))
}

/** Numbers of search items: from the first up to, not including, the second. */
type Interval = readonly [from: number, to: number]

/** The items below a folder: paths are sorted, so they are neighbours. */
async function itemsBelow(snapshot: Snapshot, folder: RepoPath): Promise<Interval> {
  if (folder === '') return [0, snapshot.header.tables.searchItems.rows]
  // `0` is the character behind `/`.
  return await Promise.all([firstItemFrom(snapshot, `${folder}/`), firstItemFrom(snapshot, `${folder}0`)])
}

/** The number of the first item whose path is `key` or behind it. */
async function firstItemFrom(snapshot: Snapshot, key: string): Promise<number> {
  const { shards, rows } = snapshot.header.tables.searchItems
  const next = shards.findIndex(([firstKey]) => compareBytes(firstKey, key) >= 0)
  let low = next === 0 ? 0 : (shards.at(next < 0 ? -1 : next - 1)?.[1] ?? 0)
  let high = next < 0 ? rows : (shards[next]?.[1] ?? rows)
  while (low < high) {
    const middle = (low + high) >> 1
    const item = await snapshot.at('searchItems', middle)
    if (item && compareBytes(item[0], key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function isWithin([from, to]: Interval, number: number): boolean {
  return from <= number && number < to
}

async function readMarkdown(snapshot: Snapshot, numbers: readonly number[]): Promise<Set<number>> {
  const items = await Promise.all(numbers.map(async number => ({ number, path: (await requireItem(snapshot, number)).path })))
  return new Set(items.filter(({ path }) => /\.(?:md|mdx|markdown)$/i.test(path)).map(({ number }) => number))
}

async function readItem(snapshot: Snapshot, { number, files }: RankedUnit): Promise<FoundItem> {
  const { path, title, summary, kind } = await requireItem(snapshot, number)
  if (kind !== 'skill') return { kind: 'document', path, title, summary }
  const [skill, listed] = await Promise.all([
    snapshot.get('skills', path),
    Promise.all(files.slice(0, FIND_FOLDED_FILES).map(file => readListing(snapshot, file))),
  ])
  if (!skill) throw new ServiceError('skill.unavailable')
  const { directory, name, description, translations, license, describedOnly } = skill
  const moreFiles = files.length - listed.length
  const identity = { path, directory, name, description, translations, license }
  return { kind, ...identity, ...(describedOnly && { describedOnly }), files: listed, moreFiles }
}

async function readListing(snapshot: Snapshot, number: number): Promise<DocumentListing> {
  const { path, title, summary } = await requireItem(snapshot, number)
  return { path, title, summary }
}

async function requireItem(snapshot: Snapshot, number: number): Promise<SearchItemRow & { path: string }> {
  const item = await snapshot.at('searchItems', number)
  if (!item) throw new ServiceError('skill.unavailable')
  return { path: item[0], ...item[1] }
}

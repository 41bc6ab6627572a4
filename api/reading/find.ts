import { z } from 'zod'
import { createSlices } from '#core/concurrency/slices.ts'
import type { FindAnswer, FindQuery, FoundItem } from '#core/contract/find.ts'
import { ServiceError } from '#core/errors.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { isStopWord } from '#core/search/analyze.ts'
import { ITEM_KIND } from '#core/search/head.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import { SEARCH_VERSION } from '#core/snapshot/versions.ts'
import { countCharacters } from '#core/text.ts'
import { diagnosticsOf, folderOf, requireFolder } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import type { PurposeKeys } from '../purpose-keys.ts'
import { type FoundUnit, foldPage } from '../search/folding.ts'
import { type PassageSearch, passageTerms, readListing } from '../search/listing.ts'
import { planQuery, type QueryTerm } from '../search/query.ts'
import { RANKING_VERSION, rankItems } from '../search/ranking.ts'
import type { RankingBuffers } from '../search/ranking-buffers.ts'
import { type DictionaryTerm, openSearch, type SearchReader } from '../search/section-reader.ts'
import { closeWords, isRespelled } from '../search/spelling.ts'
import type { MatchedTerm } from '../search/term-weights.ts'
import { FULL } from '../search/weights.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { readCursor, sealCursor } from './cursor.ts'

/** Words of a query that are respelled when they stand nowhere. */
const RESPELLED_WORDS = 4

/** How many results the pages before have shown. */
const Position = z.int().min(1)

export interface FindDeps {
  cursorKeys: PurposeKeys
  /** Used by one ranking at a time: no two searches rank in parallel. */
  rankingBuffers: RankingBuffers
}

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
  deps: FindDeps,
  mount: ReadyMount,
  { query, path, cursor, limit }: FindQuery,
): Promise<Extract<FindAnswer, { status: 'ready' }>> {
  const { snapshot, repository, commit, address } = mount
  const folder = folderOf(address.path, path)
  const parameters = { mount: address.path, path: folder, query, search: `${SEARCH_VERSION}.${RANKING_VERSION}` }
  const binding = { route: 'find', repositoryId: repository.id, commit, parameters }
  const offset = cursor === undefined ? 0 : readCursor(deps.cursorKeys, binding, cursor, Position)

  const [, { items, hasMore }, diagnostics] = await Promise.all([
    requireFolder(mount, folder),
    search(deps.rankingBuffers, snapshot, query, { mounted: address.path, folder, offset, limit }),
    diagnosticsOf(snapshot, folder),
  ])
  const nextCursor = hasMore ? sealCursor(deps.cursorKeys, binding, offset + limit) : null
  return { status: 'ready', query, commit, items, diagnostics, nextCursor }
}

interface Wanted {
  mounted: RepoPath
  /** The mounted folder, or one inside it. */
  folder: RepoPath
  /** In results, as `limit`. */
  offset: number
  limit: number
}

/** Its awaits are its rounds of reads: five, and two more when a word of the query stands nowhere. */
async function search(
  buffers: RankingBuffers,
  snapshot: Snapshot,
  query: string,
  { mounted, folder, offset, limit }: Wanted,
): Promise<{ items: FoundItem[]; hasMore: boolean }> {
  const section = await openSearch(snapshot)
  if (section === null) return { items: [], hasMore: false }
  const asked = planQuery(query)
  const [exact, inMount, inFolder] = await Promise.all([
    section.lookUp(asked.map(({ term, kind }) => ({ term, orLonger: kind === 'pair' && countCharacters(term) === 1 }))),
    section.itemsBelow(mounted),
    section.itemsBelow(folder),
  ])
  const found = await respell(
    section,
    asked.map((term, index) => ({ ...term, found: (exact[index] ?? []).map(entry => ({ ...entry, closeness: FULL })) })),
  )
  const terms = await readPostings(section, found)
  const page = await orUnavailable(`the postings of ${snapshot.repository.id} at ${snapshot.commit}`, () => {
    return foldPage(rankItems(buffers, terms, section.head), section.head, { mounted: inMount, visible: inFolder, offset, limit })
  })
  const records = await section.items(page.units.flatMap(({ item, files }) => [item, ...files]))
  const { kinds } = section.head
  const shown = passageTerms(terms, kinds.length)
  const slices = createSlices()
  const items = await Promise.all(
    page.units.map(unit => readUnit(snapshot, unit, records, { terms: shown, slices }, kinds[unit.item] === ITEM_KIND.skill)),
  )
  return { items, hasMore: page.hasMore }
}

/** A term of the query with the terms of the dictionary that answer it. */
interface AskedTerm extends QueryTerm {
  found: readonly CloseTerm[]
}

interface CloseTerm extends DictionaryTerm {
  /** `FULL`, or less for a term that is spelled a little differently. */
  closeness: number
}

/** Words that stand nowhere become those that they may mean. Two rounds when there are any. */
async function respell(section: SearchReader, asked: readonly AskedTerm[]): Promise<readonly AskedTerm[]> {
  const unknown = asked.filter(isMisspelled).slice(0, RESPELLED_WORDS)
  if (unknown.length === 0) return asked
  const words = await section.wordsNear(unknown.map(({ term }) => term))
  const close = unknown.map(({ term }, index) => closeWords(term, words[index] ?? []))
  const entries = (await section.lookUp(close.flat().map(({ word }) => ({ term: word, orLonger: false })))).flat()
  const known = new Map(entries.map(entry => [entry.term, entry]))
  return asked.map(term => {
    const candidates = close[unknown.indexOf(term)] ?? []
    const found = candidates.flatMap(({ word, closeness }) => {
      const entry = known.get(word)
      return entry ? [{ ...entry, closeness }] : []
    })
    return found.length === 0 ? term : { ...term, found }
  })
}

function isMisspelled({ term, kind, weight, found }: AskedTerm): boolean {
  const isOwnWord = weight === FULL && (kind === 'word' || kind === 'part')
  return found.length === 0 && isOwnWord && isRespelled(term) && !isStopWord(term)
}

interface ReadTerm extends MatchedTerm {
  matches: readonly (Omit<CloseTerm, 'postings'> & { postings: Uint8Array })[]
}

async function readPostings(section: SearchReader, asked: readonly AskedTerm[]): Promise<ReadTerm[]> {
  const lists = (await section.postings(asked.flatMap(({ found }) => found))).values()
  return asked.map(({ found, ...term }) => ({
    ...term,
    matches: found.map(entry => ({ ...entry, postings: lists.next().value ?? new Uint8Array() })),
  }))
}

/** Reads what is shown of a result. All of it is one round: the row of the skill, and the texts that passages are taken from. */
async function readUnit(
  snapshot: Snapshot,
  { item, files, moreFiles }: FoundUnit,
  records: ReadonlyMap<number, StoredItem>,
  wanted: PassageSearch,
  isSkill: boolean,
): Promise<FoundItem> {
  const read = (number: number) => readListing(snapshot, requireRecord(records, number), wanted)
  if (!isSkill) return { kind: 'document', ...(await read(item)) }
  const { path } = requireRecord(records, item)
  const [skill, listings] = await Promise.all([snapshot.get('skills', path), Promise.all(files.map(read))])
  if (!skill) throw new ServiceError('skill.unavailable', { cause: new Error(`the row of ${path} is missing`) })
  const { directory, name, description, translations, license, describedOnly } = skill
  const identity = { path, directory, name, description, translations, license }
  return { kind: 'skill', ...identity, ...(describedOnly && { describedOnly }), files: listings, moreFiles }
}

function requireRecord(records: ReadonlyMap<number, StoredItem>, number: number): StoredItem {
  const record = records.get(number)
  if (!record) throw new RangeError(`item ${number} was not read`)
  return record
}

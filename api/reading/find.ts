import { z } from 'zod'
import type { FindAnswer, FindQuery, FoundItem } from '#core/contract/find.ts'
import { ServiceError } from '#core/errors.ts'
import { FIND_COPIES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { isStopWord } from '#core/search/analyze.ts'
import { NO_BYTES } from '#core/search/bytes.ts'
import { ITEM_KIND } from '#core/search/head.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import { SEARCH_VERSION } from '#core/snapshot/versions.ts'
import { countCharacters } from '#core/text.ts'
import { diagnosticsOf, folderOf, requireFolder } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import type { PurposeKeys } from '../purpose-keys.ts'
import type { TermWish } from '../search/block-scan.ts'
import { FULL } from '../search/fixed-point.ts'
import { type FoundUnit, foldPage } from '../search/folding.ts'
import { createPassageSearch, type PassageSearch, passageTerms, readListing } from '../search/listing.ts'
import { planQuery, type QueryTerm } from '../search/query.ts'
import { RANKING_VERSION, type RankingBuffers, rankItems } from '../search/ranking.ts'
import { type DictionaryTerm, openSearch, type SearchReader } from '../search/section-reader.ts'
import { closeWords, isRespelled } from '../search/spelling.ts'
import type { MatchedTerm } from '../search/term-weights.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { readCursor, sealCursor } from './cursor.ts'

/** At most this many words of a query are respelled. */
const RESPELLED_WORDS = 4

/** The content of a cursor: the number of results before the page. */
export const FindPosition = z.int().min(1)

/** What a search needs beside the mount. */
export interface FindDeps {
  cursorKeys: PurposeKeys
  /** Shared by all searches: each ranks and folds in one turn of the event loop. */
  rankingBuffers: RankingBuffers
}

/**
 * One page of the ranked search in a mounted folder, or in a folder inside it.
 *
 * The files of a skill are folded into its result before the page is cut. If a skill lies above the mount, its Markdown files below are documents
 * and its other files are left out.
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
  const offset = cursor === undefined ? 0 : readCursor(deps.cursorKeys, binding, cursor, FindPosition)

  const [, { items, hasMore }, diagnostics] = await Promise.all([
    requireFolder(mount, folder),
    search(deps.rankingBuffers, snapshot, query, { mounted: address.path, folder, offset, limit }),
    diagnosticsOf(snapshot, folder),
  ])
  const nextCursor = hasMore ? sealCursor(deps.cursorKeys, binding, offset + limit) : null
  return { status: 'ready', query, commit, items, diagnostics, nextCursor }
}

interface PageOfFolder {
  mounted: RepoPath
  /** The mounted folder, or a folder inside it. */
  folder: RepoPath
  /** Results before the page. */
  offset: number
  /** Results on the page at most. */
  limit: number
}

/** Takes five rounds of reads, and two more if a word of the query is in no item. */
async function search(
  buffers: RankingBuffers,
  snapshot: Snapshot,
  query: string,
  { mounted, folder, offset, limit }: PageOfFolder,
): Promise<{ items: FoundItem[]; hasMore: boolean }> {
  const section = await openSearch(snapshot)
  if (section === null) return { items: [], hasMore: false }
  const planned = planQuery(query)
  const [entries, inMount, inFolder] = await Promise.all([
    section.lookUp(planned.map(wishOf)),
    section.itemsBelow(mounted),
    section.itemsBelow(folder),
  ])
  const terms = await readPostings(section, await respell(section, planned.map(exactTerm(entries))))
  const page = await orUnavailable(`the postings of ${snapshot.repository.id} at ${snapshot.commit}`, () => {
    return foldPage(rankItems(buffers, terms, section.head), section.head, { mounted: inMount, visible: inFolder, offset, limit })
  })
  return { items: await readPage(snapshot, section, page.units, terms), hasMore: page.hasMore }
}

/** A single character matches the pairs that begin with it. */
function wishOf({ term, kind }: QueryTerm): TermWish {
  return { term, orLonger: kind === 'pair' && countCharacters(term) === 1 }
}

/** A term of the query with the terms of the dictionary that match it. */
interface LookedUpTerm extends QueryTerm {
  entries: readonly CloseTerm[]
}

interface CloseTerm extends DictionaryTerm {
  /** `FULL`, or less for a term that is spelled differently. */
  closeness: number
}

function exactTerm(entries: readonly DictionaryTerm[][]): (term: QueryTerm, index: number) => LookedUpTerm {
  return (term, index) => ({ ...term, entries: (entries[index] ?? []).map(entry => ({ ...entry, closeness: FULL })) })
}

/** Gives misspelled words the entries of words close to them. Takes two rounds if there are any. */
async function respell(section: SearchReader, terms: readonly LookedUpTerm[]): Promise<readonly LookedUpTerm[]> {
  const misspelled = terms.filter(isMisspelled).slice(0, RESPELLED_WORDS)
  if (misspelled.length === 0) return terms
  const words = await section.wordsNear(misspelled.map(({ term }) => term))
  const candidates = misspelled.map(({ term }, index) => closeWords(term, words[index] ?? []))
  const entries = (await section.lookUp(candidates.flat().map(({ word }) => ({ term: word, orLonger: false })))).flat()
  const entryOf = new Map(entries.map(entry => [entry.term, entry]))
  return terms.map(term => {
    const close = (candidates[misspelled.indexOf(term)] ?? []).flatMap(({ word, closeness }) => {
      const entry = entryOf.get(word)
      return entry ? [{ ...entry, closeness }] : []
    })
    return close.length === 0 ? term : { ...term, entries: close }
  })
}

/** Whether no item has the term, and it is a word of the query itself that can be respelled. */
function isMisspelled({ term, kind, weight, entries }: LookedUpTerm): boolean {
  const isWordOfQuery = weight === FULL && (kind === 'word' || kind === 'part')
  return entries.length === 0 && isWordOfQuery && isRespelled(term) && !isStopWord(term)
}

interface TermWithPostings extends MatchedTerm {
  matches: readonly (Omit<CloseTerm, 'postings'> & { postings: Uint8Array })[]
}

async function readPostings(section: SearchReader, terms: readonly LookedUpTerm[]): Promise<TermWithPostings[]> {
  const lists = (await section.postings(terms.flatMap(({ entries }) => entries))).values()
  return terms.map(({ entries, ...term }) => ({
    ...term,
    matches: entries.map(entry => ({ ...entry, postings: lists.next().value ?? NO_BYTES })),
  }))
}

/** Reads the results of a page: their items in one round, then rows and texts in one. */
async function readPage(
  snapshot: Snapshot,
  section: SearchReader,
  units: readonly FoundUnit[],
  terms: readonly TermWithPostings[],
): Promise<FoundItem[]> {
  const { kinds } = section.head
  const items = await section.items(units.flatMap(({ item, files, copies }) => [item, ...files, ...copies.slice(0, FIND_COPIES)]))
  const passages = createPassageSearch(passageTerms(terms, kinds.length))
  return Promise.all(units.map(unit => readUnit(snapshot, unit, items, passages, kinds[unit.item] === ITEM_KIND.skill)))
}

/** Reads one result: its texts for passages, and the row of a skill, or of a document that may not be served. */
async function readUnit(
  snapshot: Snapshot,
  { item, files, moreFiles, copies }: FoundUnit,
  items: ReadonlyMap<number, StoredItem>,
  passages: PassageSearch,
  isSkill: boolean,
): Promise<FoundItem> {
  const readItem = (number: number) => readListing(snapshot, requireItem(items, number), passages)
  const { path, text } = requireItem(items, item)
  if (!isSkill) {
    // Only a document that may not be served has no text to quote.
    const [listing, row] = await Promise.all([readItem(item), text === null ? snapshot.get('documents', path) : null])
    return { kind: 'document', ...listing, ...(row?.describedOnly && { license: row.license, describedOnly: true }) }
  }
  const [skill, listings] = await Promise.all([snapshot.get('skills', path), Promise.all(files.map(readItem))])
  if (!skill) throw new ServiceError('skill.unavailable', { cause: new Error(`the row of ${path} is missing`) })
  const { directory, name, description, translations, license, describedOnly } = skill
  const identity = { path, directory, name, description, translations, license }
  const isDescribed = describedOnly && { describedOnly }
  return { kind: 'skill', ...identity, ...isDescribed, files: listings, moreFiles, ...copiesOf(copies, items) }
}

function copiesOf(copies: readonly number[], items: ReadonlyMap<number, StoredItem>) {
  if (copies.length === 0) return {}
  const named = copies.slice(0, FIND_COPIES)
  const moreCopies = copies.length - named.length
  return { copies: named.map(copy => requireItem(items, copy).path), ...(moreCopies > 0 && { moreCopies }) }
}

function requireItem(items: ReadonlyMap<number, StoredItem>, number: number): StoredItem {
  const item = items.get(number)
  if (!item) throw new RangeError(`item ${number} was not read`)
  return item
}

import { type Address, formatAddress } from '#core/address.ts'
import type { BrowseEntry, BrowsePage, DirectoryEntry } from '#core/contract/browse.ts'
import type { FilePage } from '#core/contract/file.ts'
import type { Mount, Overview } from '#core/contract/mount.ts'
import type { DocumentListing, SkillListing } from '#core/contract/shared.ts'
import { parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { cutAtParagraph } from './cut-at-paragraph.ts'
import { naturally } from './natural-order.ts'
import { loadReadFirst, type ReadFirstRow } from './read-first.ts'

/** What an address is, in one sentence. */
export interface About {
  /** Of its own manifest. */
  name: string | null
  description: string | null
  /** Declared by the manifest. */
  lang: string | null
}

/**
 * What the mounted folder is: its own manifest says so, else the host of a whole repository, else the first paragraph of its README. A manifest
 * above describes more than the folder.
 *
 * @param readme the first paragraph
 */
export function aboutOf({ index, repository }: Mount, { path }: Address, readme: string | null = null): About | null {
  const manifest = index.status === 'ready' ? index.manifest : undefined
  if (manifest !== undefined && parentOf(manifest.path as RepoPath) === path) {
    const { name, description, language } = manifest
    return { name, description: description || readme, lang: language }
  }
  const description = (path === ROOT && repository.description) || readme
  return description ? { name: null, description, lang: null } : null
}

/** Skills of one folder. */
export interface SkillGroup {
  folder: string
  skills: SkillListing[]
}

/** The skills of an address: all of them where the API lists them all, else the folder in which they branch, and folders of it while they are few. */
export type SkillList =
  /** `shown`: how many have the words of the filter; of many, the first ones are in `groups`. */
  | { kind: 'groups'; groups: SkillGroup[]; shown: number }
  /** `all`: every skill below, where they are known. */
  | { kind: 'folders'; pages: BrowsePage[]; all: readonly SkillListing[] | null }

/** Lists all skills of an address, where the API lists the first ones; `null`: they are not known. */
export type AllSkills = (address: Address) => Promise<readonly SkillListing[] | null>

/** What the overview of an address shows beside the overview of the API. */
export interface OverviewPage {
  list: SkillList
  readFirst: ReadFirstRow[]
  /** The folders directly below the mounted one that hold documents, as far as they are listed. */
  documentFolders: DirectoryEntry[]
  /** The first paragraph of the README, if it may be shown. */
  readmeStart: string | null
  /** The README of the mounted folder, if it may be shown. */
  readme: FilePage | null
}

/** Directories of a page with skills that a list of folders holds, and how deep it looks for the folder in which they branch. */
const FOLDER_ENTRIES = 200
const FOLDER_DEPTH = 8
const FOLDERS_EXPANDED = 4

/** Reads what an overview shows. A cursor continues the list of the folder `path`. */
export async function loadOverview(
  client: ApiClient,
  named: Address,
  overview: Overview,
  request: { words: string; path: string | undefined; cursor: string | undefined },
  allSkills: AllSkills,
): Promise<OverviewPage> {
  const { skills, counts } = overview
  const address = formatAddress(named)
  const isComplete = counts.skills <= skills.length
  const { path, cursor } = request
  const top = await readFolder(client, address, { limit: String(FOLDER_ENTRIES) })
  const [readme, readFirst] = await Promise.all([
    top?.overview && cursor === undefined ? readReadme(client, address, top.overview.path) : null,
    loadReadFirst(client, named, overview, top),
  ])
  const shown = {
    documentFolders: (top?.entries ?? []).filter(isFolderOfDocuments),
    readmeStart: top?.overview?.description ?? null,
    readme,
    readFirst,
  }
  if (isComplete || top === null) return { list: groupSkills(skills, request.words), ...shown }
  const all = await allSkills(named)
  if (all !== null && request.words !== '') return { list: groupSkills(all, request.words), ...shown }
  const page =
    path !== undefined && cursor !== undefined
      ? await readFolder(client, address, { path, cursor, limit: String(FOLDER_ENTRIES) })
      : await findBranching(client, address, top, counts.skills)
  if (page === null) return { list: groupSkills(skills, request.words), ...shown }
  const pages = [page, ...(await expandFew(client, address, page))].map(inNaturalOrder)
  return { list: { kind: 'folders', pages, all }, ...shown }
}

/** Follows the folders that hold all skills, down to the one in which they branch. */
async function findBranching(client: ApiClient, address: string, top: BrowsePage, skills: number): Promise<BrowsePage> {
  let page = top
  for (let depth = 0; depth < FOLDER_DEPTH; depth++) {
    const only = page.entries.find(
      (entry): entry is DirectoryEntry => entry.kind === 'directory' && entry.counts.skills === skills,
    )
    if (only === undefined || only.skill !== undefined) return page
    const next = await readFolder(client, address, { path: only.path, limit: String(FOLDER_ENTRIES) })
    if (next === null) return page
    page = next
  }
  return page
}

/** The folders of a page, each as its own page, where they are few: a list of two folders tells nothing. */
async function expandFew(client: ApiClient, address: string, { entries }: BrowsePage): Promise<BrowsePage[]> {
  const folders = entries.filter(isFolderOfSkills)
  if (folders.length > FOLDERS_EXPANDED) return []
  const pages = folders.map(({ path }) => readFolder(client, address, { path, limit: String(FOLDER_ENTRIES) }))
  return (await Promise.all(pages)).filter(page => page !== null)
}

/** The interface lists entries in byte order, which a cursor continues: only a whole list may have another one. */
function inNaturalOrder(page: BrowsePage): BrowsePage {
  if (page.nextCursor !== null) return page
  return { ...page, entries: page.entries.toSorted((left, right) => naturally(left.path, right.path)) }
}

/** The names of the skills in a folder, at any depth. Of very many skills, each folder has its first ones. */
export function namesBelow(all: readonly SkillListing[], folder: string): string[] {
  const names = all.filter(({ path }) => path.startsWith(`${folder}/`)).map(({ name }) => name)
  return names.sort(naturally).slice(0, all.length > NAMED ? NAMED_PER_FOLDER : undefined)
}

const NAMED = 1_000
const NAMED_PER_FOLDER = 20

/** Whether an entry is a folder with skills in it that is no skill itself. */
export function isFolderOfSkills(entry: BrowseEntry): entry is DirectoryEntry {
  return entry.kind === 'directory' && entry.skill === undefined && entry.counts.skills > 0
}

function isFolderOfDocuments(entry: BrowseEntry): entry is DirectoryEntry {
  return entry.kind === 'directory' && entry.counts.documents > 0
}

async function readFolder(
  client: ApiClient,
  address: string,
  query: { path?: string; cursor?: string; limit: string },
): Promise<BrowsePage | null> {
  const result = await client.get('browse', address, query)
  return result.ok && result.answer.status === 'ready' ? result.answer : null
}

async function readReadme(client: ApiClient, address: string, path: string): Promise<FilePage | null> {
  const result = await client.get('files', address, { path })
  return result.ok ? cutAtParagraph(result.answer) : null
}

/** The documents of one folder. */
export interface DocumentGroup {
  folder: string
  count: number
  /** Those that the overview lists. */
  documents: DocumentListing[]
}

/**
 * The documents by the folder directly below the mounted one, the mounted folder's own first.
 *
 * @param folders as `browse` lists them: an overview lists only its first documents
 * @returns `isPartial`: there are more than the groups tell
 */
export function groupDocuments(
  { path }: Address,
  { documents, counts }: Overview,
  folders: readonly DirectoryEntry[],
): { groups: DocumentGroup[]; isPartial: boolean } {
  const start = path === ROOT ? 0 : path.length + 1
  const listed = Map.groupBy(documents, document => {
    const slash = document.path.indexOf('/', start)
    return slash < 0 ? path : document.path.slice(0, slash)
  })
  const isComplete = documents.length === counts.documents
  const names = new Set([...listed.keys(), ...(isComplete ? [] : folders.map(folder => folder.path))])
  const countOf = new Map(folders.map(folder => [folder.path, folder.counts.documents]))
  const groups = [...names].sort(naturally).map(folder => {
    const inside = listed.get(folder) ?? []
    return { folder, count: isComplete ? inside.length : (countOf.get(folder) ?? inside.length), documents: inside }
  })
  const shown = groups.slice(0, DOCUMENT_GROUPS)
  return { groups: shown, isPartial: shown.reduce((sum, { count }) => sum + count, 0) < counts.documents }
}

const DOCUMENT_GROUPS = 12

/** So many rows a filter leaves at most. */
export const FILTERED_ROWS = 100

/** The skills of a complete list that have all the words in name, description or path, by folder. */
export function groupSkills(skills: readonly SkillListing[], words: string): SkillList {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = skills.filter(skill => hasWords(skill, wanted))
  const groups = [...Map.groupBy(shown.slice(0, FILTERED_ROWS), ({ directory }) => parentOf(directory as RepoPath))]
    .sort(([left], [right]) => naturally(left, right))
    .map(([folder, inside]) => ({ folder, skills: inside }))
  return { kind: 'groups', groups, shown: shown.length }
}

function hasWords({ name, description, path }: SkillListing, words: readonly string[]): boolean {
  const text = `${name}\n${description}\n${path}`.toLowerCase()
  return words.every(word => text.includes(word))
}

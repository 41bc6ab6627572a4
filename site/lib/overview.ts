import type { BrowseEntry, BrowsePage, DirectoryEntry } from '#core/contract/browse.ts'
import type { FilePage } from '#core/contract/file.ts'
import type { Overview } from '#core/contract/mount.ts'
import type { SkillListing } from '#core/contract/shared.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { cutAtParagraph } from './cut-at-paragraph.ts'

export const SHOWN = ['all', 'full', 'described', 'warnings'] as const
export const ORDERS = ['folder', 'name'] as const

/** Which skills of a list are shown, and in which order. */
export interface ListRequest {
  /** Words that the name, the description or the path contains. */
  words: string
  /** `full`: served in full. `described`: described only. `warnings`: with warnings. */
  show: (typeof SHOWN)[number]
  order: (typeof ORDERS)[number]
}

/** Skills of one folder; in the order of names, all skills without a folder. */
export interface SkillGroup {
  folder: string | null
  skills: SkillListing[]
}

/** How many skills of a complete list are served in full and described only. */
export interface ServingCounts {
  full: number
  described: number
}

/** The skills of an address: all of them where the API lists them all, else the folder in which they branch, and folders of it while they are few. */
export type SkillList =
  | { kind: 'groups'; groups: SkillGroup[]; shown: number; counts: ServingCounts }
  | { kind: 'folders'; pages: BrowsePage[] }

/** What the overview of an address shows beside the overview of the API. */
export interface OverviewPage {
  list: SkillList
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
  address: string,
  overview: Overview,
  request: { list: ListRequest; path: string | undefined; cursor: string | undefined },
): Promise<OverviewPage> {
  const { skills, counts } = overview
  const isComplete = counts.skills <= skills.length
  const { path, cursor } = request
  const top = await readFolder(client, address, { limit: isComplete ? '1' : String(FOLDER_ENTRIES) })
  const readme = top?.overview && cursor === undefined ? await readReadme(client, address, top.overview.path) : null
  if (isComplete || top === null) return { list: groupSkills(skills, request.list), readme }
  const page =
    path !== undefined && cursor !== undefined
      ? await readFolder(client, address, { path, cursor, limit: String(FOLDER_ENTRIES) })
      : await findBranching(client, address, top, counts.skills)
  if (page === null) return { list: groupSkills(skills, request.list), readme }
  return { list: { kind: 'folders', pages: [page, ...(await expandFew(client, address, page))] }, readme }
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

/** Whether an entry is a folder with skills in it that is no skill itself. */
export function isFolderOfSkills(entry: BrowseEntry): entry is DirectoryEntry {
  return entry.kind === 'directory' && entry.skill === undefined && entry.counts.skills > 0
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

/** Filters and orders a complete list. */
export function groupSkills(skills: readonly SkillListing[], { words, show, order }: ListRequest): SkillList {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = skills.filter(skill => isShown(skill, show) && hasWords(skill, wanted))
  const described = skills.filter(({ describedOnly }) => describedOnly).length
  const counts = { full: skills.length - described, described }
  const groups: SkillGroup[] =
    order === 'name'
      ? [{ folder: null, skills: shown.toSorted((left, right) => compare(left.name, right.name)) }]
      : [...Map.groupBy(shown, ({ directory }) => parentOf(directory as RepoPath))]
          .sort(([left], [right]) => compare(left, right))
          .map(([folder, inside]) => ({ folder, skills: inside }))
  return { kind: 'groups', groups, shown: shown.length, counts }
}

function isShown({ describedOnly, warnings }: SkillListing, show: ListRequest['show']): boolean {
  switch (show) {
    case 'all':
      return true
    case 'full':
      return describedOnly !== true
    case 'described':
      return describedOnly === true
    case 'warnings':
      return warnings.length > 0
  }
}

function hasWords({ name, description, path }: SkillListing, words: readonly string[]): boolean {
  const text = `${name}\n${description}\n${path}`.toLowerCase()
  return words.every(word => text.includes(word))
}

const { compare } = new Intl.Collator('en', { numeric: true })

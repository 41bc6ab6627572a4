import { type Address, atPath, formatAddress, type OwnerName, parseAddress } from '#core/address.ts'
import { isShortenedSha } from '#core/commit-sha.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import type { RefList } from '#core/contract/refs.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { nearestLeftOut } from './left-out.ts'
import { ACCOUNT_HOST, contentHref, lineHref, ownerHref, pageHref } from './links.ts'
import { nearNames } from './near-names.ts'
import { findNearRefs, type NearRef, tagsOf } from './refs.ts'
import { type PresentPart, presentOf, presentOfError } from './unshown.ts'
import type { Versions } from './versions.ts'
import { withContent } from './with-content.ts'
import { findEntry } from './withheld.ts'

/** What does not exist, by the code of the error. */
const MISSING = {
  'owner.not_found': 'account',
  'mount.repo_not_found': 'repository',
  'mount.ref_not_found': 'ref',
  'mount.path_not_found': 'path',
  'file.not_found': 'file',
  'skill.not_found': 'skill',
} as const

/** The part of an address that does not exist, the parts before it, and what may have been meant. */
export interface MissingPart {
  kind: (typeof MISSING)[keyof typeof MISSING]
  named: OwnerName | Address
  /** The parts before it. */
  found: FoundPart[]
  /** As the address spells it; of a path, its first segment that does not exist. */
  missing: string
  /** The folder in which that segment does not exist, where it was found. */
  folder: RepoPath | null
  near: NearName[]
  /** Of a missing ref: some that exist. */
  refs?: { kind: 'tags' | 'branches'; names: NearName[] }[]
  /** Of a missing path: the nearest manifest that leaves anything out, and its first line that does. */
  leftOut?: NearName | null
}

/** What an error of a page is about: a part that does not exist, or something that is there and not shown. */
export type Lost = MissingPart | PresentPart

interface FoundPart {
  kind: 'account' | 'repository' | 'ref' | 'folder'
  name: string
  href: string | undefined
}

interface NearName {
  name: string
  href: string
}

/** Where names are looked up that may have been meant. */
interface Sources {
  client: ApiClient
  versions: Versions
  /** Addresses of repositories that everyone may open. */
  listLocal: () => Promise<readonly string[]>
  listed: Pick<ListedRepositories, 'peek'>
}

/**
 * Finds the part of an address, or of the path of its view, that does not exist or is not shown.
 *
 * @param path of a view. Without it, the address itself leads to nothing.
 * @returns `null` when the error is about something else, or the repository has no commit
 */
export async function loadLost(sources: Sources, address: Address, error: ApiError, path?: string): Promise<Lost | null> {
  const kind = Object.hasOwn(MISSING, error.code) ? MISSING[error.code as keyof typeof MISSING] : null
  if (kind === 'repository') return await loadMissingRepository(sources, address)
  if (kind === 'ref') return path === undefined && error.reason === undefined ? await loadMissingRef(sources, address) : null
  if (kind === 'path' || kind === 'file' || kind === 'skill')
    return await loadLostPath(sources.client, address, error, kind, path)
  const refused = path === undefined ? null : presentOfError(path, error)
  return refused === null ? null : { ...refused, mount: address }
}

/** An account that does not exist. Those with featured repositories may have been meant. */
export async function loadMissingAccount(client: ApiClient, named: OwnerName): Promise<MissingPart> {
  const featured = await client.get('featured', '', {})
  const repositories = featured.ok ? featured.answer.items.map(card => card.repository) : []
  const logins = repositories.filter(({ host }) => host === named.host).map(({ owner }) => owner)
  const near = nearNames([...new Set(logins)], named.owner).map(name => ({ name, href: ownerHref(name) }))
  return { kind: 'account', named, found: [], missing: named.owner, folder: null, near }
}

/**
 * The same for a repository that does not exist and for one that the visitor may not see. Of a host with accounts nothing is looked up: the account
 * would be asked about once for several repositories, which tells which of them are new to the service, and each made-up name would cost questions.
 */
async function loadMissingRepository(
  { listLocal, listed }: Pick<Sources, 'listLocal' | 'listed'>,
  address: Address,
): Promise<MissingPart> {
  const local = address.host === ACCOUNT_HOST ? [] : await listLocal()
  const near = findNearRepositories(local, address).map(formatAddress)
  const named = (await withContent(listed, near)).map(one => ({ name: one.slice(1), href: one }))
  const { host, owner } = address
  const hasOthers = local.some(one => one.startsWith(`/${host}/${owner}/`))
  const found = partsOf(address).slice(0, 1)
  return {
    kind: 'repository',
    named: address,
    found: hasOthers ? found.map(part => ({ ...part, href: ownerHref(owner, 1, host) })) : found,
    missing: address.repository,
    folder: null,
    near: named,
  }
}

/** A ref that does not exist, or the default branch that the repository names. An empty repository has no refs to offer. */
async function loadMissingRef({ client, versions }: Sources, address: Address): Promise<MissingPart | null> {
  const result = await client.get('refs', formatAddress(address), {})
  const refs = result.ok ? result.answer : null
  const hasNone = refs !== null && refs.branches.length + refs.tags.length === 0
  const missing = address.ref ?? refs?.defaultBranch
  if (missing === undefined || (address.ref === null && hasNone)) return null
  const named = ({ ref, name }: NearRef) => ({ name, href: pageHref({ ...address, ref }, 'overview') })
  const lists = refs === null ? [] : listsOf(refs)
  const isShortened = address.ref !== null && isShortenedSha(address.ref)
  const commits = isShortened ? await versions.commitsLike(address, missing).catch(() => []) : []
  const alike = refs === null || address.ref === null ? [] : findNearRefs(refs, address.ref)
  const near = [...commits.map(commit => ({ ref: commit, name: commit })), ...alike]
  const isListed = ({ ref }: NearRef) => lists.some(({ names }) => names.some(one => one.ref === ref))
  return {
    kind: 'ref',
    named: address,
    found: partsOf(address).slice(0, 2),
    missing,
    folder: null,
    near: near.filter(one => !isListed(one)).map(named),
    refs: lists.map(({ kind, names }) => ({ kind, names: names.map(named) })),
  }
}

/** The newest tags and the first branches. */
function listsOf(refs: RefList): { kind: 'tags' | 'branches'; names: NearRef[] }[] {
  const tags = tagsOf(refs).slice(0, SHOWN_REFS)
  const branches = refs.branches.slice(0, SHOWN_REFS).map(({ name }) => ({ name, ref: name }))
  const lists = [
    { kind: 'tags' as const, names: tags },
    { kind: 'branches' as const, names: branches },
  ]
  return lists.filter(({ names }) => names.length > 0)
}

const SHOWN_REFS = 5

async function loadLostPath(
  client: ApiClient,
  address: Address,
  error: ApiError,
  kind: 'path' | 'file' | 'skill',
  path?: string,
): Promise<Lost> {
  // Where the address itself leads to nothing, its root does exist.
  const mount = path === undefined ? atPath(address, ROOT) : address
  const asked = path ?? address.path
  const parsed = parseRepoPath(asked)
  if (parsed !== null && !isInside(mount.path, parsed)) return { kind: 'present', what: 'outside', path: parsed, mount }
  const next = await findNearestFolder(client, mount, asked)
  if (next?.entry)
    return presentOf(next.entry, { error, mount, target: await findTarget(client, mount, next.entry), below: next.rest, kind })
  const refused = presentOfError(asked, error)
  if (refused !== null) return { ...refused, mount }
  const found = partsOf(address)
  if (next !== null && next.folder !== ROOT)
    found.push({ kind: 'folder', name: next.folder, href: pageHref(mount, 'browse', { path: next.folder }) })
  const whole = next === null ? null : await findWholePath(client, mount, next)
  const near = [...(whole === null ? [] : [whole]), ...(next?.near ?? []).map(entry => nearEntry(mount, entry))]
  return {
    kind,
    named: address,
    found,
    missing: next?.missing ?? asked,
    folder: next?.folder ?? null,
    near: near.length > 0 || kind !== 'skill' ? near : await findNearSkills(client, mount, next?.missing ?? asked),
    leftOut: next === null ? null : await findLeftOut(client, mount, next.folder),
  }
}

/** It depends on the folder alone: what is left out and what is absent there have the same link. */
async function findLeftOut(client: ApiClient, mount: Address, folder: RepoPath): Promise<NearName | null> {
  const leftOut = await nearestLeftOut(client, mount, folder)
  const line = leftOut?.patterns[0]?.line
  return leftOut === null || line === undefined ? null : { name: leftOut.path, href: lineHref(mount, leftOut.path, line) }
}

/** What a link leads to, as the list of its folder has it. */
async function findTarget(client: ApiClient, mount: Address, { target }: BrowseEntry): Promise<BrowseEntry | null> {
  return target === undefined ? null : await findEntry(client, mount, target, 'all')
}

/** The path as it was asked for, with the nearest name in place of the one that does not exist. */
async function findWholePath(client: ApiClient, mount: Address, { near, rest }: NearestFolder): Promise<NearName | null> {
  const [nearest] = near
  if (nearest?.kind !== 'directory' || rest === '') return null
  const path = `${nearest.path}/${rest}` as RepoPath
  const name = `${baseNameOf(nearest.path as RepoPath)}/${rest}`
  const file = await client.get('files', formatAddress(mount), { path, limit: '1' })
  if (file.ok) return { name, href: contentHref(mount, path) }
  const folder = await client.get('browse', formatAddress(mount), { path, limit: '1' })
  return folder.ok && folder.answer.status === 'ready' ? { name, href: pageHref(atPath(mount, path), 'overview') } : null
}

/** Skills that a search for the name finds: their folder may be elsewhere. */
async function findNearSkills(client: ApiClient, mount: Address, name: string): Promise<NearName[]> {
  const result = await client.get('find', formatAddress(mount), { query: wordsOfName(name), limit: String(NEAR_SKILLS) })
  const items = result.ok && result.answer.status === 'ready' ? result.answer.items : []
  return items.flatMap(item => (item.kind === 'skill' ? [{ name: item.path, href: contentHref(mount, item.path) }] : []))
}

const NEAR_SKILLS = 3

/** The name of a skill as words to search for. */
export function wordsOfName(name: string): string {
  return name.replace(/[-_]/g, ' ')
}

/** The account, the repository, and the ref if the address has one. */
function partsOf(address: Address): FoundPart[] {
  const { host, owner, repository, ref } = address
  const repositoryHref = formatAddress({ ...address, ref: null, path: ROOT })
  return [
    { kind: 'account', name: owner, href: host === ACCOUNT_HOST ? ownerHref(owner) : undefined },
    { kind: 'repository', name: repository, href: repositoryHref },
    ...(ref === null ? [] : [{ kind: 'ref' as const, name: ref, href: formatAddress(atPath(address, ROOT)) }]),
  ]
}

function nearEntry(mount: Address, entry: BrowseEntry): NearName {
  const path = entry.path as RepoPath
  if (entry.kind === 'file') return { name: baseNameOf(path), href: contentHref(mount, path) }
  const href = entry.skill ? pageHref(mount, 'skill', { path: entry.skill.path }) : pageHref(atPath(mount, path), 'overview')
  return { name: `${baseNameOf(path)}/`, href }
}

/**
 * Repositories of a host with a similar name, the nearest first: what may have been meant by the address of one that does not exist.
 *
 * @param served addresses of repositories that everyone may open
 */
export function findNearRepositories(served: readonly string[], { host, repository }: Address): Address[] {
  const addresses = served.map(address => parseAddress(address, [host]))
  const names = [...new Set(addresses.map(address => address.repository))]
  const near = nearNames(names, repository).flatMap(name => addresses.filter(address => address.repository === name))
  return near.slice(0, NEAR_REPOSITORIES)
}

/** Many owners may have a repository of one name. */
const NEAR_REPOSITORIES = 5

/** The folder where a path stops leading to anything, and what a visitor may have meant. */
interface NearestFolder {
  /** The nearest folder above the path that exists. */
  folder: RepoPath
  /** The first segment of the path that does not exist. */
  missing: string
  /** What follows that segment. */
  rest: string
  /** That segment, if the folder does have it: a link, a submodule, a file, or a folder that is no file. */
  entry: BrowseEntry | null
  /** Entries of the folder with a similar name, best first. */
  near: BrowseEntry[]
}

const FOLDERS_TRIED = 8
const FOLDER_ENTRIES = '200'

/**
 * Looks for the nearest folder above a path that leads to nothing readable, for what it names there, and for similar names.
 *
 * @param address whose mount exists and holds the path
 * @returns `null` when no folder was found
 */
async function findNearestFolder(client: ApiClient, address: Address, path: string): Promise<NearestFolder | null> {
  const absent = parseRepoPath(path)
  if (absent === null || absent === '' || !isInside(address.path, absent)) return null
  let below = absent
  for (let turn = 0; turn < FOLDERS_TRIED && below !== address.path; turn++) {
    const folder = parentOf(below)
    const page = await readFolder(client, address, folder)
    if (page !== null) {
      const missing = baseNameOf(below)
      const isCut = page.nextCursor !== null
      const listed = page.entries.find(entry => entry.path === below) ?? null
      const entry = listed === null && isCut ? await findEntry(client, address, below, 'all') : listed
      return { folder, missing, rest: absent.slice(below.length + 1), entry, near: findNear(page.entries, missing) }
    }
    below = folder
  }
  return null
}

async function readFolder(client: ApiClient, address: Address, path: RepoPath): Promise<BrowsePage | null> {
  const result = await client.get('browse', formatAddress(address), { path, limit: FOLDER_ENTRIES, files: 'all' })
  return result.ok && result.answer.status === 'ready' ? result.answer : null
}

/** Entries whose name differs by a few letters, by its case, or by more words. */
function findNear(entries: readonly BrowseEntry[], name: string): BrowseEntry[] {
  const byName = new Map(entries.map(entry => [baseNameOf(entry.path as RepoPath), entry]))
  return nearNames([...byName.keys()], name).flatMap(near => byName.get(near) ?? [])
}

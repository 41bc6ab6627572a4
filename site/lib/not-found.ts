import { type Address, atPath, formatAddress, type OwnerName, parseAddress } from '#core/address.ts'
import { isShortenedSha } from '#core/commit-sha.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { ACCOUNT_HOST, contentHref, ownerHref, pageHref } from './links.ts'
import { nearNames } from './near-names.ts'
import { findNearRefs, versionsOf } from './refs.ts'
import type { Versions } from './versions.ts'

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
}

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
}

/**
 * Finds the part of an address, or of the path of its view, that does not exist.
 *
 * @param path of a view. Without it, the address itself leads to nothing.
 * @returns `null` when the error is about something else, or the repository has no commit
 */
export async function loadMissingPart(
  sources: Sources,
  address: Address,
  error: ApiError,
  path?: string,
): Promise<MissingPart | null> {
  const kind = Object.hasOwn(MISSING, error.code) ? MISSING[error.code as keyof typeof MISSING] : null
  if (kind === 'repository') return await loadMissingRepository(sources.listLocal, address)
  if (kind === 'ref') return path === undefined ? await loadMissingRef(sources, address) : null
  if (kind === 'path' || kind === 'file' || kind === 'skill') return await loadMissingPath(sources.client, address, kind, path)
  return null
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
async function loadMissingRepository(listLocal: Sources['listLocal'], address: Address): Promise<MissingPart> {
  const near = address.host === ACCOUNT_HOST ? [] : findNearRepositories(await listLocal(), address)
  const named = near.map(one => ({ name: formatAddress(one).slice(1), href: formatAddress(one) }))
  return {
    kind: 'repository',
    named: address,
    found: partsOf(address).slice(0, 1),
    missing: address.repository,
    folder: null,
    near: named,
  }
}

async function loadMissingRef({ client, versions }: Sources, address: Address): Promise<MissingPart | null> {
  const { ref } = address
  if (ref === null) return await loadMissingDefault(client, address)
  const commits = isShortenedSha(ref) ? await versions.commitsLike(address, ref).catch(() => []) : []
  const near = [...commits.map(commit => ({ ref: commit, name: commit })), ...(await findNearRefs(client, address, ref))]
  return {
    kind: 'ref',
    named: address,
    found: partsOf(address).slice(0, 2),
    missing: ref,
    folder: null,
    near: near.map(({ ref, name }) => ({ name, href: pageHref({ ...address, ref }, 'overview') })),
  }
}

/** The default branch that the repository names does not exist, where it has others. */
async function loadMissingDefault(client: ApiClient, address: Address): Promise<MissingPart | null> {
  const refs = await client.get('refs', formatAddress(address), {})
  const others = refs.ok ? versionsOf(refs.answer, address) : []
  if (!refs.ok || others.length === 0) return null
  return {
    kind: 'ref',
    named: address,
    found: partsOf(address).slice(0, 2),
    missing: refs.answer.defaultBranch,
    folder: null,
    near: others.map(({ ref, name }) => ({ name, href: pageHref({ ...address, ref }, 'overview') })),
  }
}

async function loadMissingPath(
  client: ApiClient,
  address: Address,
  kind: 'path' | 'file' | 'skill',
  path?: string,
): Promise<MissingPart> {
  // Where the address itself leads to nothing, its root does exist.
  const mount = path === undefined ? atPath(address, ROOT) : address
  const asked = path ?? address.path
  const next = await findNearestFolder(client, mount, asked)
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
    // A folder that was taken for a file is there.
    folder: next === null || next.near[0]?.path === asked ? null : next.folder,
    near: near.length > 0 || kind !== 'skill' ? near : await findNearSkills(client, mount, next?.missing ?? asked),
  }
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
  /** Entries of the folder with a similar name, best first. */
  near: BrowseEntry[]
}

const FOLDERS_TRIED = 8
const FOLDER_ENTRIES = '200'

/**
 * Looks for the nearest folder above a path that leads to nothing, and for similar names in it.
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
      return { folder, missing, rest: absent.slice(below.length + 1), near: findNear(page.entries, missing) }
    }
    below = folder
  }
  return null
}

async function readFolder(client: ApiClient, address: Address, path: RepoPath): Promise<BrowsePage | null> {
  const result = await client.get('browse', formatAddress(address), { path, limit: FOLDER_ENTRIES })
  return result.ok && result.answer.status === 'ready' ? result.answer : null
}

/** Entries whose name differs by a few letters, by its case, or by more words. */
function findNear(entries: readonly BrowseEntry[], name: string): BrowseEntry[] {
  const byName = new Map(entries.map(entry => [baseNameOf(entry.path as RepoPath), entry]))
  return nearNames([...byName.keys()], name).flatMap(near => byName.get(near) ?? [])
}

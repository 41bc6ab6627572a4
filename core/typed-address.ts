import { t } from '#words/t.ts'
import { type Address, atPath, HOST_NAMES, type OwnerName, parseAddress, parseOwner } from './address.ts'
import { ServiceError } from './errors.ts'
import { type RepoPath, ROOT } from './repo-path.ts'
import { withoutTrailing } from './text.ts'

/** The meaning of a text that a person writes where an address is asked for. */
export type TypedAddress =
  | TypedRepository
  | { kind: 'owner'; owner: OwnerName }
  /** `code`: of the address, where the text is close to one. */
  | { kind: 'unreadable'; code: string | null; message: string }

/** One meaning of a text. */
export interface Reading {
  address: Address
  /** The text is the URL of a file at GitHub; the address is that of its repository. */
  file?: RepoPath
}

export interface TypedRepository extends Reading {
  kind: 'address'
  /** Of a page of this service. */
  query?: string
  /** The text is the URL of something else of the repository, by GitHub's word for it: `issues`, `pull`, `wiki`. */
  other?: string
  /** The text names this skill, too: the address of its page at skills.sh. */
  skill?: string
  /** In the URL of a branch whose name contains slashes, nothing says where the name ends: the same with longer names, shortest first. */
  longerRefs?: Reading[]
  /** The text is `owner/repository`, and both GitHub and local repositories are served: the local one of this name, which wins if it exists. */
  local?: Address
}

export interface TypedContext {
  /** Host segments that this deployment serves. */
  hosts: readonly string[]
  /** Public origin without a trailing slash. */
  baseUrl: string
}

/** The host segment whose accounts have pages. */
const ACCOUNT_HOST = 'gh'

/**
 * Reads an address with or without its leading slash, the URL of a page of this service, a GitHub URL from a browser or a clone command, the
 * URL of a raw file at GitHub, that of a repository or a skill at skills.sh, and `owner/repository` of GitHub, or of the one host that is served. Also the URL of an account.
 */
export function readTypedAddress(text: string, { hosts, baseUrl }: TypedContext): TypedAddress {
  const words = withHostInLowerCase(withoutCommand(text.trim()))
  if (words === '') return unreadable(null, t('problem.noAddress', { starts: startsOf(hosts) }))
  if (words.startsWith(`${baseUrl}/`)) return readPage(words.slice(baseUrl.length).replace(/^\/mcp(?=\/)/, ''), hosts)
  const github = /^(?:(?:https?:\/\/)?(?:www\.)?github\.com\/|(?:ssh:\/\/)?git@github\.com[:/])(.*)$/is.exec(words)
  if (github) return readGithub(github[1] ?? '', hosts)
  const raw = /^(?:https?:\/\/)?raw\.githubusercontent\.com\/(.*)$/is.exec(words)
  if (raw) return readRawFile(raw[1] ?? '', hosts)
  const listed = /^(?:https?:\/\/)?(?:www\.)?skills\.sh\/(.*)$/is.exec(words)
  if (listed) return readListed(listed[1] ?? '', hosts)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words)) {
    return unreadable(null, t(hosts.includes('gh') ? 'problem.foreignUrlOrGithub' : 'problem.foreignUrl'))
  }
  return isShort(words) ? readShort(words, withoutCommand(text.trim()) !== text.trim(), hosts) : readPage(words, hosts)
}

/**
 * The meaning that counts, of a text that has several: a local repository before the one of GitHub, and the shortest ref that exists. Asks nothing
 * about a text with one meaning. Where none exists, the first one counts, whose error is then shown.
 *
 * @param ask the error code of a repository at its ref, `null` where both exist
 */
export async function chooseReading(typed: TypedRepository, ask: (address: Address) => Promise<string | null>): Promise<Reading> {
  const { local, longerRefs = [] } = typed
  // The name decides, without the ref: a missing ref of a local repository does not make it one of GitHub.
  if (local !== undefined && (await ask({ ...atPath(local, ROOT), ref: null })) === null) return { address: local }
  if (longerRefs.length === 0) return typed
  for (const reading of [typed, ...longerRefs]) {
    if ((await ask(atPath(reading.address, ROOT))) !== 'mount.ref_not_found') return reading
  }
  return typed
}

/** What a command that installs skills is given: `npx skills add owner/repository`. */
export function withoutCommand(words: string): string {
  return /^(?:npx\s+(?:-\S+\s+)*)?skills\s+(?:add|a)\s+(\S+)/.exec(words)?.[1] ?? words
}

/** The host segment of an address is written in lower case, however a person writes it. */
function withHostInLowerCase(words: string): string {
  return words.replace(/^\/?[a-z]+(?=\/)/i, host =>
    Object.hasOwn(HOST_NAMES, host.replace('/', '').toLowerCase()) ? host.toLowerCase() : host,
  )
}

/** @param isOfCommand the command that installs skills takes them from GitHub, whatever this deployment serves */
function readShort(words: string, isOfCommand: boolean, hosts: readonly string[]): TypedAddress {
  const host = hosts.includes('gh') ? 'gh' : hosts.length === 1 ? hosts[0] : undefined
  const typed = readPage(host === undefined ? words : `${host}/${words}`, hosts)
  if (typed.kind !== 'address' || host !== 'gh' || isOfCommand || !hosts.includes('local')) return typed
  const local = readAddress(`local/${words}`, hosts)
  return local.kind === 'address' ? { ...typed, local: local.address } : typed
}

/** Whether the words are `owner/repository`, without a host. */
function isShort(words: string): boolean {
  return /^[^/@:]+\/[^/]+/.test(words) && !Object.hasOwn(HOST_NAMES, words.split('/')[0] ?? '')
}

/** Where addresses of these hosts start: `gh/ or local/`. */
function startsOf(hosts: readonly string[]): string {
  const [first = '', ...others] = hosts.map(host => `${host}/`)
  return others.reduce((starts, last) => t('problem.or', { first: starts, last }), first)
}

/** An address with the query of a page, if it has one. */
function readPage(rawTarget: string, hosts: readonly string[]): TypedAddress {
  const [rawAddress = '', query] = rawTarget.split(/\?(?=view=)(.*)$/s)
  const read = readAddress(rawAddress, hosts)
  return read.kind === 'address' && query !== undefined ? { ...read, query: query.replace(/#.*$/s, '') } : read
}

/** Names of branches with more slashes than this are not tried. */
const REF_SEGMENTS = 4
/** Views of a folder or a file at a ref. */
const TREE_VIEWS = ['tree', 'commits']
const FILE_VIEWS = ['blob', 'raw', 'blame', 'edit', 'plain']

/** The path of a GitHub URL: a repository, and a folder, a file, a commit, a release or something else of it. */
function readGithub(rest: string, hosts: readonly string[]): TypedAddress {
  const [owner = '', repository = '', view = '', ...segments] = withoutTrailing(rest.replace(/[?#].*/s, ''), /\//).split('/')
  const root = `gh/${owner}/${repository.replace(/\.git$/, '')}`
  if (view === 'commit') return readAddress(`${root}@${segments[0] ?? ''}`, hosts)
  if (view === 'releases' && segments[0] === 'tag') return readAddress(`${root}@${segments.slice(1).join('%2F')}`, hosts)
  if (TREE_VIEWS.includes(view)) return readTree(root, segments, false, hosts)
  if (FILE_VIEWS.includes(view)) return readTree(root, segments, true, hosts)
  const read = readAddress(root, hosts)
  return read.kind === 'address' && view !== '' ? { ...read, other: view } : read
}

/** The path of a URL of raw.githubusercontent.com: `owner/repository/<ref>/<file>`. */
function readRawFile(rest: string, hosts: readonly string[]): TypedAddress {
  const [owner = '', repository = '', ...segments] = rest.replace(/[?#].*$/s, '').split('/')
  return readTree(`gh/${owner}/${repository}`, segments, true, hosts)
}

/** The path of a URL of skills.sh: `owner/repository`, and the name of a skill. */
function readListed(rest: string, hosts: readonly string[]): TypedAddress {
  const [owner = '', repository = '', skill = ''] = rest.replace(/[?#].*$/s, '').split('/')
  const read = readShort(`${owner}/${repository}`, true, hosts)
  return read.kind === 'address' && skill !== '' ? { ...read, skill: decodeOr(skill) } : read
}

function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A ref and a path that follows it. `refs/heads/` and `refs/tags/` before the ref are left out: addresses need neither. */
function readTree(root: string, segments: readonly string[], isFile: boolean, hosts: readonly string[]): TypedAddress {
  const isFull = segments[0] === 'refs' && /^(?:heads|tags)$/.test(segments[1] ?? '')
  const all = isFull ? segments.slice(2) : segments
  if (all.length === 0) return readAddress(root, hosts)
  const readings: TypedAddress[] = []
  for (let length = 1; length <= Math.min(all.length, REF_SEGMENTS); length++) {
    const [ref, path] = [all.slice(0, length).join('%2F'), all.slice(length)]
    const read = readAddress([`${root}@${ref}`, ...path].join('/'), hosts)
    readings.push(read.kind === 'address' && isFile && path.length > 0 ? asFile(read) : read)
  }
  const [first, ...others] = readings
  if (first?.kind !== 'address') return first ?? readAddress(root, hosts)
  const longerRefs = others.flatMap(read => {
    if (read.kind !== 'address' || (isFile && read.file === undefined)) return []
    return [{ address: read.address, ...(read.file === undefined ? {} : { file: read.file }) }]
  })
  return longerRefs.length === 0 ? first : { ...first, longerRefs }
}

function asFile(read: TypedRepository): TypedRepository {
  return { ...read, address: { ...read.address, path: ROOT }, file: read.address.path }
}

function readAddress(rawAddress: string, hosts: readonly string[]): TypedAddress {
  try {
    return { kind: 'address', address: parseAddress(rawAddress, hosts) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const owner = readOwner(rawAddress.replace(/^\/?owners\//, '').replace(/[?#].*$/s, ''))
    if (owner && hosts.includes(owner.host)) return { kind: 'owner', owner }
    const isHostWrong = error.code === 'address.unknown_host'
    const said = t('problem.asTold', { reason: error })
    return unreadable(error.code, isHostWrong ? t('problem.startsWith', { problem: error, starts: startsOf(hosts) }) : said)
  }
}

function readOwner(raw: string): OwnerName | null {
  try {
    return parseOwner(raw, [ACCOUNT_HOST])
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return null
  }
}

function unreadable(code: string | null, message: string): TypedAddress {
  return { kind: 'unreadable', code, message }
}

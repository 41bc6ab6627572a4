import { type Address, atPath, formatAddress, parseAddress } from '#core/address.ts'
import type { ListedState } from '#core/listed-repositories.ts'
import { baseNameOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import {
  chooseReading,
  type Reading,
  readTypedAddress,
  type TypedAddress,
  type TypedRepository,
  withoutCommand,
} from '#core/typed-address.ts'
import type { ApiClient } from './api-client.ts'
import { ACCOUNT_HOST, contentHref, ownerHref, pageHref, searchHref } from './links.ts'
import { findNearRepositories } from './not-found.ts'
import { readAddress, readOwner } from './read-address.ts'
import type { Ui } from './ui.ts'
import { withContent } from './with-content.ts'

/** The page for a text in the address field, or the error to show. `isIncomplete`: no repository is named. */
export type OpenTarget = { location: string } | { message: string; isIncomplete: boolean } | GithubElsewhere

/** The text is of GitHub, which is not served. `local`: the page of the local repository of that owner and name, if everyone may open it. */
export interface GithubElsewhere {
  local: { name: string; href: string } | null
}

type Sources = Pick<App.Locals, 'client' | 'hosts' | 'baseUrl' | 'listLocal' | 'listed' | 'ui'>

/** The page of what a text in the address field means: of a repository, of an owner, or else of a search for its words. */
export async function openTarget(sources: Sources, text: string): Promise<OpenTarget> {
  const { client, hosts, ui, listLocal } = sources
  const typed = readTypedAddress(text, sources)
  switch (typed.kind) {
    case 'owner':
      return { location: ownerHref(typed.owner.owner) }
    case 'unreadable': {
      const elsewhere = await readOfGithub(sources, text)
      if (elsewhere !== null) return elsewhere
      const owner = localOwnerOf(text, hosts)
      if (owner !== null) return { location: ownerHref(owner, 1, 'local') }
      const search = isOfWords(typed, text) ? searchHref(text) : null
      return search === null ? unreadableWords(typed, text, hosts, ui) : { location: search }
    }
    case 'address': {
      const local = await listLocal()
      const { address, file } = await chooseReading(asSpelled(typed, local), async asked => {
        const mount = await client.get('mounts', formatAddress(asked), {})
        return mount.ok ? null : mount.error.code
      })
      const skill = file === undefined ? await skillHref(client, typed, address) : null
      return { location: skill ?? hrefOf(typed, { address, ...(file === undefined ? {} : { file }) }) }
    }
  }
}

/** The page of one reading of a text. */
function hrefOf({ query, other }: TypedRepository, { address, file }: Reading): string {
  if (file !== undefined) return contentHref(address, file)
  const asked = query ?? (other === undefined ? '' : `opened=${encodeURIComponent(other)}`)
  return formatAddress(address) + (asked === '' ? '' : `?${new URLSearchParams(asked)}`)
}

const OF_GITHUB_URL =
  /^(?:(?:https?:\/\/)?(?:(?:www\.)?github|raw\.githubusercontent)\.com(?:\/|$)|(?:ssh:\/\/)?git@github\.com[:/]|\/?(?:owners\/)?gh\/.)/i

/** `null` of a text that is not of GitHub, and where GitHub is served. */
export async function readOfGithub(sources: Omit<Sources, 'ui'>, text: string): Promise<GithubElsewhere | null> {
  const { hosts, listLocal, listed } = sources
  if (hosts.includes(ACCOUNT_HOST) || !OF_GITHUB_URL.test(withoutCommand(text.trim()))) return null
  const typed = readTypedAddress(text, { ...sources, hosts: [...hosts, ACCOUNT_HOST] })
  if (typed.kind !== 'address') return { local: null }
  const root = formatAddress({ ...typed.address, host: 'local', ref: null, path: ROOT })
  const same = (await listLocal()).filter(one => one.toLowerCase() === root.toLowerCase())
  const [found] = await withContent(listed, same.includes(root) ? [root] : same.slice(0, 1))
  return { local: found === undefined ? null : { name: found.slice(1), href: await localHref(sources, typed, found) } }
}

/** The same version and path of the local repository at an address; its default branch if it has no such version. */
async function localHref({ client }: Pick<Sources, 'client'>, typed: TypedRepository, root: string): Promise<string> {
  const { owner, repository } = parseAddress(root, ['local'])
  const toLocal = (reading: Reading): Reading => ({
    ...(reading.file === undefined ? {} : { file: reading.file }),
    address: { ...reading.address, host: 'local', owner, repository },
  })
  const longerRefs = (typed.longerRefs ?? []).map(toLocal)
  const ask = async (asked: Address) => {
    const mount = await client.get('mounts', formatAddress(asked), {})
    return mount.ok ? null : mount.error.code
  }
  const chosen = await chooseReading({ kind: 'address', ...toLocal(typed), longerRefs }, ask)
  return (await ask(atPath(chosen.address, ROOT))) === null ? hrefOf(typed, chosen) : root
}

/** With the owner and the name of a local repository in the case in which it is listed, if only one differs in case alone. */
function asSpelled(typed: TypedRepository, listed: readonly string[]): TypedRepository {
  const spell = (address: Address): Address => {
    if (address.host !== 'local') return address
    const root = formatAddress({ ...address, ref: null, path: ROOT })
    const same = listed.filter(one => one.toLowerCase() === root.toLowerCase())
    const [, , owner, repository] = (same.length === 1 && !listed.includes(root) ? (same[0] ?? '') : '').split('/')
    return owner === undefined || repository === undefined ? address : { ...address, owner, repository }
  }
  return { ...typed, address: spell(typed.address), ...(typed.local === undefined ? {} : { local: spell(typed.local) }) }
}

/** What skills.sh prints is `owner/repository@skill`. A ref of that name wins; several skills of it are a list. */
async function skillHref(client: ApiClient, typed: TypedRepository, address: Address): Promise<string | null> {
  const { ref, path } = address
  const root = { ...address, ref: null, path: ROOT }
  if (typed.skill !== undefined)
    return (await namedSkillHref(client, root, typed.skill)) ?? pageHref(root, 'find', { query: typed.skill })
  if (ref === null || path !== ROOT || typed.longerRefs !== undefined || typed.query !== undefined) return null
  const mount = await client.get('mounts', formatAddress(address), {})
  return mount.ok || mount.error.code !== 'mount.ref_not_found' ? null : await namedSkillHref(client, root, ref)
}

/** The page of the skill of this name, or of the search for it while that is not known, or where several have it; `null` where none has. */
async function namedSkillHref(client: ApiClient, address: Address, name: string): Promise<string | null> {
  const found = await client.get('find', formatAddress(address), { query: name, limit: SKILLS_LOOKED_AT })
  if (!found.ok) return null
  const search = pageHref(address, 'find', { query: name })
  if (found.answer.status !== 'ready') return search
  const wanted = name.toLowerCase()
  const named = found.answer.items.filter(item => {
    return item.kind === 'skill' && [item.name, baseNameOf(item.directory as RepoPath)].some(one => one.toLowerCase() === wanted)
  })
  if (named.length > 1) return search
  return named[0] === undefined ? null : contentHref(address, named[0].path)
}

const SKILLS_LOOKED_AT = '25'

/** The owner of local repositories, when the text names one and no repository. */
function localOwnerOf(text: string, hosts: readonly string[]): string | null {
  const read = readOwner(text.trim().replace(/^\/?local\//i, 'local/'), ['local'])
  return 'owner' in read && hosts.includes('local') ? read.owner : null
}

/** Whether a text that names no repository is words to search for: not where it is the beginning of an address, or a URL. */
function isOfWords({ code }: Extract<TypedAddress, { kind: 'unreadable' }>, text: string): boolean {
  const words = text.trim()
  if (code === null || /:\/\//.test(words)) return false
  return NAMES.has(code) && (/\s/.test(words) || !words.includes('/')) && !HOST_SEGMENT.test(words)
}

const HOST_SEGMENT = /^\/?(?:gh|local)\/?$/i

/** The address at another ref, as text; the words as they are if they are no address. */
export function atRef(words: string, ref: string, hosts: readonly string[]): string {
  const read = readAddress(words, hosts)
  return 'error' in read ? words : formatAddress({ ...read.address, ref })
}

/** A repository to name where none is: the first local one that can be read, else one of GitHub that exists. */
export async function exampleOf(
  { hosts, listed }: Pick<App.Locals, 'hosts' | 'listed'>,
  local: readonly string[],
): Promise<{ name: string; href: string } | null> {
  const peeked = await listed.peek(local.slice(0, PEEKED))
  const first = READABLE.flatMap(kind => peeked.filter(one => one?.state.kind === kind))[0]?.address
  if (first !== undefined) return { name: first.split('/').slice(2).join('/'), href: first }
  return hosts.includes(ACCOUNT_HOST) ? { name: OF_GITHUB, href: `/${ACCOUNT_HOST}/${OF_GITHUB}` } : null
}

const PEEKED = 20
/** States of a repository that may have something to read, the best first. */
const READABLE: readonly ListedState['kind'][] = ['ready', 'unread', 'indexing', 'unavailable']
const OF_GITHUB = 'obra/superpowers'

/** Codes of a text that does not name a repository. */
const NAMES: ReadonlySet<string> = new Set([
  'address.unknown_host',
  'address.incomplete',
  'address.invalid_owner',
  'address.invalid_repository',
])

/** What is wrong with a text that is no address, as a sentence. */
function unreadableWords(
  { code, message }: Extract<TypedAddress, { kind: 'unreadable' }>,
  text: string,
  hosts: readonly string[],
  { t, join }: Ui,
): Extract<OpenTarget, { message: string }> {
  if (text.trim() === '' || code === 'address.incomplete' || HOST_SEGMENT.test(text.trim()))
    return { message: t('open.incomplete'), isIncomplete: true }
  if (code === null)
    return { message: t(hosts.includes(ACCOUNT_HOST) ? 'open.foreignOrGithub' : 'open.foreign'), isIncomplete: false }
  const starts = join(
    hosts.map(host => `${host}/`),
    'disjunction',
  )
  const translated = t.find(`errorOnPage.${code}`)
  const where = code === 'address.unknown_host' ? `; ${t('open.starts', { starts })}` : ''
  return {
    message: t('open.noAddress', { message: translated === undefined ? message : translated + where }),
    isIncomplete: false,
  }
}

/** What a text that is no address may have meant. */
interface Suggestions {
  /** Addresses of local repositories: those of an owner of this name, and those with a similar name. */
  repositories: string[]
  /** The login of an account, which may not exist. */
  account: string | null
  /** Of a search for its words. */
  search: string | null
}

/** Repositories of one owner that are offered. */
const OFFERED = 5

/** Looks at the last name of a text. A URL means what it says, and no repository of another place. */
export async function findSuggestions(
  { hosts, listLocal, listed }: Pick<Sources, 'hosts' | 'listLocal' | 'listed'>,
  text: string,
): Promise<Suggestions> {
  const words = text.trim()
  if (isUrl(words)) return { repositories: [], account: null, search: null }
  const local = await listLocal()
  const name = /\s/.test(words) ? '' : (words.split(/[/:@?#]/).findLast(Boolean) ?? '')
  const read = readAddress(`local/any/${name}`, ['local'])
  const near = 'error' in read ? [] : findNearRepositories(local, read.address).map(formatAddress)
  const account = hosts.includes(ACCOUNT_HOST) ? readOwner(`${ACCOUNT_HOST}/${words}`) : null
  return {
    repositories: await withContent(listed, [...new Set([...repositoriesOf(local, name), ...near])]),
    account: account !== null && 'owner' in account ? account.owner : null,
    search: searchHref(text),
  }
}

function isUrl(words: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|[^\s/@:]+@[^\s/:]+:)/i.test(words) || OF_GITHUB_URL.test(words)
}

/** The addresses of the repositories of an owner, whatever the case of its name; a few of very many. */
export function repositoriesOf(local: readonly string[], owner: string): string[] {
  const start = `/local/${owner.toLowerCase()}/`
  return local.filter(address => address.toLowerCase().startsWith(start)).slice(0, OFFERED)
}

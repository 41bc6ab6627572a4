import { formatAddress } from '#core/address.ts'
import { chooseReading, readTypedAddress, type TypedAddress, type TypedContext } from '#core/typed-address.ts'
import type { ApiClient } from './api-client.ts'
import { ACCOUNT_HOST, contentHref, ownerHref } from './links.ts'
import { findNearRepositories } from './not-found.ts'
import { readAddress, readOwner } from './read-address.ts'
import type { Ui } from './ui.ts'

/** The page for a text in the address field, or the error to show. */
export type OpenTarget = { location: string } | { message: string }

/** The page of what a text in the address field means. The URL of an account leads to the page of the account. */
export async function openTarget(client: ApiClient, text: string, context: TypedContext, ui: Ui): Promise<OpenTarget> {
  const typed = readTypedAddress(text, context)
  switch (typed.kind) {
    case 'owner':
      return { location: ownerHref(typed.owner.owner) }
    case 'unreadable':
      return { message: unreadableWords(typed, text, context, ui) }
    case 'address': {
      const { address, file } = await chooseReading(typed, async asked => {
        const mount = await client.get('mounts', formatAddress(asked), {})
        return mount.ok ? null : mount.error.code
      })
      if (file !== undefined) return { location: contentHref(address, file) }
      const query = typed.query ?? (typed.other === undefined ? '' : `opened=${encodeURIComponent(typed.other)}`)
      return { location: formatAddress(address) + (query === '' ? '' : `?${new URLSearchParams(query)}`) }
    }
  }
}

/** The address at another ref, as text; the words as they are if they are no address. */
export function atRef(words: string, ref: string, hosts: readonly string[]): string {
  const read = readAddress(words, hosts)
  return 'error' in read ? words : formatAddress({ ...read.address, ref })
}

/** Examples of what can be opened. @param local addresses of local repositories that everyone may open */
export function examplesOf(hosts: readonly string[], local: readonly string[]): string[] {
  const served = local.slice(0, LOCAL_EXAMPLES).map(address => address.slice(1))
  return [
    ...(served.length > 0 || !hosts.includes('local') ? served : ['local/acme/tools']),
    ...(hosts.includes(ACCOUNT_HOST) ? OF_GITHUB : []),
  ]
}

const OF_GITHUB = [
  'acme/tools',
  'gh/acme/tools@v1/skills',
  'https://github.com/acme/tools/tree/main/skills',
  'git@github.com:acme/tools.git',
]
const LOCAL_EXAMPLES = 2

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
  { hosts }: TypedContext,
  { t, join }: Ui,
): string {
  const starts = join(
    hosts.map(host => `${host}/`),
    'disjunction',
  )
  if (text.trim() === '') return t('open.empty', { starts })
  if (code === null) return hosts.includes(ACCOUNT_HOST) ? t('open.foreignOrGithub') : t('open.foreign')
  if (NAMES.has(code) && /\s/.test(text.trim())) return t('open.words', { starts })
  if (code === 'address.unknown_host' && !text.includes('/')) return t('open.oneWord', { starts })
  const translated = t.find(`errorOnPage.${code}`)
  const where = code === 'address.unknown_host' ? `; ${t('open.starts', { starts })}` : ''
  return t('open.noAddress', { message: translated === undefined ? message : translated + where })
}

/** What a text that is no address may have meant. */
interface Suggestions {
  /** Addresses of local repositories: those of an owner of this name, and those with a similar name. */
  repositories: string[]
  /** The login of an account, which may not exist. */
  account: string | null
}

/** Repositories of one owner that are offered. */
const OFFERED = 5

/**
 * Looks at the last name of a text.
 *
 * @param local addresses of local repositories that everyone may open
 */
export function findSuggestions(text: string, local: readonly string[], hosts: readonly string[]): Suggestions {
  const words = text.trim()
  const name = /\s/.test(words) ? '' : (words.split(/[/:@?#]/).findLast(Boolean) ?? '')
  const read = readAddress(`local/any/${name}`, ['local'])
  const near = 'error' in read ? [] : findNearRepositories(local, read.address).map(formatAddress)
  const account = hosts.includes(ACCOUNT_HOST) ? readOwner(`${ACCOUNT_HOST}/${words}`) : null
  return {
    repositories: [...new Set([...repositoriesOf(local, name), ...near])],
    account: account !== null && 'owner' in account ? account.owner : null,
  }
}

/** The addresses of the repositories of an owner, whatever the case of its name; a few of very many. */
export function repositoriesOf(local: readonly string[], owner: string): string[] {
  const start = `/local/${owner.toLowerCase()}/`
  return local.filter(address => address.toLowerCase().startsWith(start)).slice(0, OFFERED)
}

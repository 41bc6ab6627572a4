import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { RepoPath } from '#core/repo-path.ts'

/** The path below which a repository is served to agents. */
const MCP = '/mcp/'

/** What a grant covers: a whole repository of a host whose accounts sign in here. */
export interface GrantedRepository {
  host: string
  owner: string
  name: string
}

/**
 * The repository of a resource (RFC 8707), which is the URL of the MCP server of an address; `null` for every other URL. Ref and folder of the
 * address do not count. Only the URL is parsed; the repository is not looked up, so the answer does not reveal whether it exists.
 *
 * @param baseUrl public origin
 * @param hosts host segments whose accounts sign in here
 */
export function repositoryOfResource(text: string, baseUrl: string, hosts: readonly string[]): GrantedRepository | null {
  // `new URL` completes `https:host`, and clients compare resources as texts.
  if (!/^https?:\/\/[^/]/i.test(text) || /[\s\\?#]|\p{Cc}/u.test(text) || !URL.canParse(text)) return null
  const { origin, username, password } = new URL(text)
  // As it was sent: `new URL` resolves segments such as `..`, so that the text would name another repository than the one that it leads to.
  const path = text.slice(text.indexOf('/', text.indexOf('://') + '://'.length))
  if (origin !== new URL(baseUrl).origin || username !== '' || password !== '' || !path.startsWith(MCP)) return null
  const address = parsedAddress(path.slice(MCP.length), hosts)
  return address && { host: address.host, owner: address.owner, name: address.repository }
}

/** The metadata of a protected resource (RFC 9728); `null` where the address is none of a host whose accounts sign in here. */
export function describeResource(rawAddress: string, baseUrl: string, hosts: readonly string[]) {
  const address = parsedAddress(rawAddress, hosts)
  if (address === null) return null
  return {
    // As the client wrote it: clients compare it with the URL that they were given.
    resource: `${baseUrl}${MCP}${rawAddress}`,
    authorization_servers: [baseUrl],
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
    resource_name: formatAddress(address),
  }
}

/** The address of a repository: without ref and folder, spelled as given. */
export function addressOf({ host, owner, name }: GrantedRepository): string {
  return formatAddress({ host, owner, repository: name, ref: null, path: '' as RepoPath })
}

/** The repository of an address that `addressOf` made. */
export function repositoryOf(address: string): GrantedRepository {
  const [, host = '', owner = '', name = ''] = address.split('/').map(decodeURIComponent)
  return { host, owner, name }
}

/** The same text for all spellings of a repository: hosts whose accounts sign in do not tell apart upper and lower case. */
export function identityOf(address: string): string {
  return address.toLowerCase()
}

function parsedAddress(raw: string, hosts: readonly string[]): Address | null {
  try {
    return parseAddress(raw, hosts)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** Where an authorization may lead back to, parsed. `text` is the URI as the client wrote it. */
export type RedirectUri =
  /** A page on the web. */
  | { kind: 'web'; text: string; host: string }
  /** An application on the person's own computer, which listens on a port of the moment (RFC 8252, 7.3). `rest`: path and query. */
  | { kind: 'loopback'; text: string; host: string; rest: string }
  /** A link that the system gives to an installed application. `host`: its scheme, without the colon. */
  | { kind: 'application'; text: string; host: string }

/** UTF-16 units. */
export const REDIRECT_URI_CHARACTERS = 1_000

/**
 * Parses a redirect URI; `null` when an authorization may not lead there. Neither fragments nor names of users are allowed, nor characters
 * that no URI has, since browsers disagree about them.
 */
export function parseRedirectUri(text: string): RedirectUri | null {
  if (text.length > REDIRECT_URI_CHARACTERS || !URI_CHARACTERS.test(text) || !URL.canParse(text)) return null
  const { protocol, username, password, hostname } = new URL(text)
  if (username !== '' || password !== '' || /^[^/]*:\/\/[^/?]*@/.test(text)) return null
  if (protocol === 'https:') return text.startsWith('https://') ? { kind: 'web', text, host: hostname } : null
  if (protocol === 'http:') return parseLoopback(text)
  if (!APPLICATION.test(text) || FORBIDDEN_SCHEMES.has(protocol)) return null
  return { kind: 'application', text, host: protocol.slice(0, -1) }
}

/** What RFC 3986 allows in a URI, without `#`. */
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/
const APPLICATION = /^[a-z][a-z0-9+.-]*:./
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/

/** Schemes that run code, open files, or leave the browser for something else than an application that waits for an authorization. */
const FORBIDDEN_SCHEMES = new Set(
  [
    ['javascript', 'data', 'vbscript', 'view-source', 'intent', 'about', 'blob', 'filesystem', 'jar', 'chrome', 'resource'],
    ['file', 'ftp', 'ftps', 'sftp', 'ssh', 'smb', 'ldap', 'ldaps', 'ws', 'wss', 'mailto', 'tel', 'sms', 'urn', 'cid', 'mid'],
  ]
    .flat()
    .map(scheme => `${scheme}:`),
)

function parseLoopback(text: string): RedirectUri | null {
  const [, host, rest] = LOOPBACK.exec(text) ?? []
  return host === undefined || rest === undefined ? null : { kind: 'loopback', text, host, rest }
}

/**
 * Whether an authorization may lead to `asked`, by what the client registered: the same text, or another port of the same loopback address.
 *
 * @param registered texts of redirect URIs
 */
export function isRegistered(asked: RedirectUri, registered: readonly string[]): boolean {
  return registered.includes(asked.text) || registered.some(text => isSameApplication(asked, parseRedirectUri(text)))
}

function isSameApplication(asked: RedirectUri, registered: RedirectUri | null): boolean {
  if (asked.kind !== 'loopback' || registered?.kind !== 'loopback') return false
  return asked.host === registered.host && asked.rest === registered.rest
}

/** The redirect URI with parameters appended to its query. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string>>): string {
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return `${uri}${separator}${new URLSearchParams(parameters)}`
}

import { type Address, formatAddress } from '#core/address.ts'
import { NOT_INSTALLABLE } from '#core/not-installable.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { PageT } from '#words/t.ts'

/** How one client uses an address. */
export interface Snippet {
  client: string
  /** The file that the code belongs into; `null` for a shell, and for what is the same everywhere. */
  place: string | null
  code: string
}

/**
 * What a person copies to use an address with the client they have.
 *
 * @param skillPath of a `SKILL.md`, where the page shows one
 * @param isPrivate leaves out what cannot send a token
 */
export function snippetsFor(address: Address, baseUrl: string, t: PageT, skillPath?: string, isPrivate = false): Snippet[] {
  const server = `${baseUrl}/mcp${formatAddress(address)}`
  // Many repositories are called "skills" or "agents".
  const name = `${address.owner}-${address.repository}`.replace(/[^A-Za-z0-9_-]/g, '-')
  const folder = skillPath === undefined ? address : { ...address, path: parentOf(skillPath as RepoPath) }
  const servers: [client: string, place: string | null, code: string][] = [
    ['Claude Code', null, `claude mcp add --transport http ${name} ${quote(server)}`],
    ['Codex', '~/.codex/config.toml', `[mcp_servers.${name}]\nurl = ${JSON.stringify(server)}`],
    ['Cursor', '.cursor/mcp.json', json({ mcpServers: { [name]: { url: server } } })],
    ['VS Code', '.vscode/mcp.json', json({ servers: { [name]: { type: 'http', url: server } } })],
    ['Gemini CLI', '~/.gemini/settings.json', json({ mcpServers: { [name]: { httpUrl: server } } })],
    [t('use.otherClient'), null, server],
  ]
  const snippets = servers.map(([client, place, code]): Snippet => ({ client, place, code }))
  if (isPrivate) return snippets
  return [...snippets, { client: t('use.files'), place: null, code: `npx skills add ${quote(baseUrl + formatAddress(folder))}` }]
}

/** Whether programs install the skill from here: they refuse some, and get those only that are served in full. */
export function isInstallable({
  describedOnly,
  warnings = [],
}: {
  describedOnly?: true | undefined
  warnings?: readonly { code: string }[] | undefined
}): boolean {
  return !describedOnly && !warnings.some(({ code }) => NOT_INSTALLABLE.has(code))
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** The URL as one word of a POSIX shell. */
function quote(url: string): string {
  return /^[\w@%+=:,./-]+$/.test(url) ? url : `'${url.replaceAll("'", '%27')}'`
}

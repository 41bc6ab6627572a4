import { type Address, formatAddress } from '#core/address.ts'
import { NOT_INSTALLABLE } from '#core/not-installable.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { PageT } from '#words/t.ts'
import { apiHref } from './links.ts'

/** How one client uses an address. */
export interface Snippet {
  client: string
  /** Where the code belongs: a file, or a shell. */
  place: string
  language: 'sh' | 'json' | 'toml' | 'text'
  code: string
  /** What an agent gets by it: the whole address, or the skill alone. */
  reach: 'address' | 'skill' | null
}

/**
 * What a person copies to use an address with the client they have.
 *
 * @param skillPath of a `SKILL.md`, where the page shows one
 * @param isPrivate leaves out clients that cannot send a token, and the badge, which shows public repositories only
 */
export function snippetsFor(address: Address, baseUrl: string, t: PageT, skillPath?: string, isPrivate = false): Snippet[] {
  const path = formatAddress(address)
  const server = `${baseUrl}/mcp${path}`
  // Many repositories are called "skills" or "agents".
  const name = `${address.owner}-${address.repository}`.replace(/[^A-Za-z0-9_-]/g, '-')
  const folder = skillPath === undefined ? path : formatAddress({ ...address, path: parentOf(skillPath as RepoPath) })
  const request = baseUrl + (skillPath === undefined ? `/api/v1/mounts${path}` : apiHref('skills', path, { path: skillPath }))
  const snippets: Omit<Snippet, 'reach'>[] = [
    {
      client: 'Claude Code',
      place: t('use.run'),
      language: 'sh',
      code: `claude mcp add --transport http ${name} ${quote(server)}`,
    },
    {
      client: 'Codex',
      place: '~/.codex/config.toml',
      language: 'toml',
      code: `[mcp_servers.${name}]\nurl = ${JSON.stringify(server)}`,
    },
    { client: 'Cursor', place: '.cursor/mcp.json', language: 'json', code: json({ mcpServers: { [name]: { url: server } } }) },
    {
      client: 'VS Code',
      place: '.vscode/mcp.json',
      language: 'json',
      code: json({ servers: { [name]: { type: 'http', url: server } } }),
    },
    {
      client: 'Gemini CLI',
      place: '~/.gemini/settings.json',
      language: 'json',
      code: json({ mcpServers: { [name]: { httpUrl: server } } }),
    },
    { client: t('use.otherClient'), place: isPrivate ? t('use.httpWithToken') : t('use.http'), language: 'text', code: server },
    { client: t('use.files'), place: t('use.runInProject'), language: 'sh', code: `npx skills add ${quote(baseUrl + folder)}` },
    { client: 'REST', place: t('use.run'), language: 'sh', code: `curl ${isPrivate ? WITH_TOKEN : ''}${quote(request)}` },
    {
      client: t('use.lock'),
      place: t('use.runMountglass'),
      language: 'sh',
      code: `mountglass pin --service ${quote(baseUrl)} ${quote(folder)}`,
    },
    { client: t('use.badge'), place: t('use.inReadme'), language: 'text', code: badge(baseUrl, path) },
  ]
  const ofSkill = skillPath === undefined ? [] : [t('use.files'), 'REST']
  const usable = isPrivate
    ? snippets.filter(({ client }) => ![t('use.files'), t('use.lock'), t('use.badge')].includes(client))
    : snippets
  return usable.map(snippet => ({ ...snippet, reach: reachOf(snippet.client) }))

  function reachOf(client: string): Snippet['reach'] {
    if (client === t('use.lock') || client === t('use.badge')) return null
    return ofSkill.includes(client) ? 'skill' : 'address'
  }
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

const WITH_TOKEN = '-H "Authorization: Bearer $TOKEN" '

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** A picture in Markdown that says how many skills the address has, and leads to its page. */
function badge(baseUrl: string, path: string): string {
  const url = (target: string) => (baseUrl + target).replaceAll('(', '%28').replaceAll(')', '%29')
  return `[![Mountglass](${url(`/badge${path}`)})](${url(path)})`
}

/** The URL as one word of a POSIX shell. */
function quote(url: string): string {
  return /^[\w@%+=:,./-]+$/.test(url) ? url : `'${url.replaceAll("'", '%27')}'`
}

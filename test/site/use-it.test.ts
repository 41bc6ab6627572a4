import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#core/address.ts'
import type { SkillListing } from '#core/contract/shared.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { ENGLISH } from '#site/lib/ui.ts'
import { snippetsFor } from '#site/lib/use-it.ts'
import { COMMIT, readyMount, skillPage } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const BASE = 'https://mountglass.example'
/** Addresses that a shell or a file format could misread. */
const ADDRESSES = ['/local/acme/tools', "/local/acme/a.b@it's%2F$(id)/c%20d/%22q%22", '/gh/acme/x-y_z@v1;ls/`id`/&|']

/** The words that a shell gives to a command of this name. */
function wordsOf(command: string, code: string): string[] {
  const stub = `${command}() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${code}`
  return execFileSync('sh', ['-c', stub], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

describe.each(ADDRESSES)('the text copied for %s', text => {
  const address = parseAddress(text, ['local', 'gh'])
  const path = formatAddress(address)
  const server = `${BASE}/mcp${path}`
  const snippets = snippetsFor(address, BASE, ENGLISH.t, 'skills/a b/SKILL.md')
  const codeOf = (client: string) => snippets.find(snippet => snippet.client === client)?.code ?? ''
  /** A shell gets an apostrophe as its escape, which is the same address. */
  const same = (url = '') => url.replaceAll('%27', "'")

  test('is a command of the shell with the address as one word', () => {
    const claude = wordsOf('claude', codeOf('Claude Code'))
    expect(claude.slice(0, 4)).toEqual(['mcp', 'add', '--transport', 'http'])
    expect(claude[4]).toMatch(/^[\w-]+$/)
    expect(same(claude[5])).toBe(same(server))
    const folder = formatAddress({ ...address, path: 'skills/a b' as RepoPath })
    expect(wordsOf('npx', codeOf('Install files instead')).map(same)).toEqual(['skills', 'add', same(BASE + folder)])
  })

  test('is a file that its client parses', () => {
    const name = `${address.owner}-${address.repository.replace('.', '-')}`
    expect(JSON.parse(codeOf('Cursor'))).toEqual({ mcpServers: { [name]: { url: server } } })
    expect(JSON.parse(codeOf('VS Code'))).toEqual({ servers: { [name]: { type: 'http', url: server } } })
    expect(JSON.parse(codeOf('Gemini CLI'))).toEqual({ mcpServers: { [name]: { httpUrl: server } } })
    const [, table, value = ''] = /^\[mcp_servers\.([\w-]+)\]\nurl = (".*")$/.exec(codeOf('Codex')) ?? []
    expect([table, JSON.parse(value)]).toEqual([name, server])
    expect(codeOf('Another MCP client')).toBe(server)
  })
})

test('pages of addresses and skills offer it, at the branch and pinned', async () => {
  const { get } = await open({ skills: () => skillPage() }, { baseUrl: BASE })
  for (const target of [PAGE, SKILL]) {
    const { html } = await get(target)
    expect(textOf(html)).toContain(`claude mcp add --transport http acme-tools ${BASE}/mcp${PAGE}`)
    const text = textOf(html).replaceAll(' ', '')
    const folder = target === SKILL ? '/skills/pdf' : ''
    expect(text).toContain(`npxskillsadd${BASE}${PAGE}@${COMMIT}${folder}`)
    expect(textOf(html).includes('Adds all skills of ')).toBe(target === SKILL)
  }
})

test.each([
  'skill.not_installable',
  'description.missing',
  'name.missing',
  'front_matter.missing',
  'front_matter.unterminated',
  'front_matter.invalid',
  'front_matter.repaired',
])('a skill that install programs refuse, because %s, is not offered to them', async code => {
  const warnings = [{ code, level: 'breaks', message: 'no description' }] as const
  const { get } = await open({ skills: () => skillPage({ warnings: [...warnings] }) }, { baseUrl: BASE })
  const text = textOf((await get(SKILL)).html)
  expect(text).toContain('This skill is not offered for installation')
  expect(text).not.toContain('npx skills add')
})

test('an address whose skills are only described offers nothing to install', async () => {
  const listing = { path: 'a/SKILL.md', directory: 'a', name: 'a', description: 'Does a.', warnings: [], translations: {} }
  const closed: SkillListing = { ...listing, license: { kind: 'restricted', name: null, source: null }, describedOnly: true }
  const { get } = await open(
    { mounts: () => readyMount({ skills: [closed], counts: { skills: 1, documents: 0 }, documents: [] }) },
    { baseUrl: BASE },
  )
  const text = textOf((await get(PAGE)).html)
  expect(text).toContain(`claude mcp add --transport http acme-tools ${BASE}/mcp${PAGE}`)
  expect(text).not.toContain('npx skills add')
})

test('a skill with rules has a note that installing its folder brings none of them', async () => {
  const rule = {
    path: 'SKILLSET.md',
    content: 'Be kind.\n',
    fragment: { index: 0, offset: 0, length: 9, totalLength: 9, totalBytes: 9, totalTokens: 4, last: true },
  }
  const { get } = await open({ skills: () => skillPage({ ruleChain: [rule] }) }, { baseUrl: BASE })
  const { html } = await get(SKILL)
  expect(textOf(html)).toContain('Copies the folder of the skill, without its rules and included files.')
  expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&path=SKILLSET.md`)
})

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import { ENGLISH } from '#site/lib/ui.ts'
import { type Snippet, snippetsFor } from '#site/lib/use-it.ts'
import { type Service, startService } from '#test/support/service.ts'

const HANDBOOK = '/local/mountglass/handbook'
const SKILL = 'reading/pin-a-commit/SKILL.md'
const CLI = join(import.meta.dirname, '..', '..', 'node_modules', 'skills', 'bin', 'cli.mjs')
const run = promisify(execFile)

let service: Service
let home: string
let commit: string
beforeAll(async () => {
  service = await startService({ MOUNTGLASS_GITHUB: 'off' })
  commit = (await service.get('mounts', HANDBOOK)).commit
  home = await mkdtemp(join(tmpdir(), 'mountglass-use-it-'))
  await mkdir(join(home, 'bin'))
  // The client prints the server that it is given; npx runs the installed package.
  const programs = {
    claude: 'printf "%s" "$6" > "$HOME/server"',
    npx: `shift; "${process.execPath}" "${CLI}" "$@" --yes --agent claude-code`,
  }
  for (const [name, text] of Object.entries(programs))
    await writeFile(join(home, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
})
afterAll(async () => {
  await service?.stop()
  await rm(home, { recursive: true, force: true })
})

/** Runs a command as a shell does. @returns what it prints */
async function runInShell(code: string): Promise<string> {
  const env = { ...process.env, HOME: home, PATH: [join(home, 'bin'), process.env.PATH].join(delimiter), CI: '1' }
  return (await run('sh', ['-c', code], { cwd: home, env, maxBuffer: 16 * 1024 * 1024 })).stdout
}

/** The name that an MCP server gives itself. */
async function nameOfServer(url: string): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  return /"serverInfo":\{[^}]*"name":"([^"]+)"/.exec(await answer.text())?.[1] ?? `${answer.status}`
}

/** The URL in the settings that a client reads. */
async function serverOf({ client, place, code }: Snippet): Promise<string> {
  if (client === 'Claude Code') {
    await runInShell(code)
    return await readFile(join(home, 'server'), 'utf8')
  }
  if (place?.endsWith('.toml')) return /^url = "(.*)"$/m.exec(code)?.[1] ?? ''
  if (place === null) return code
  const { mcpServers, servers } = JSON.parse(code) as Record<string, Record<string, { url?: string; httpUrl?: string }>>
  const [server] = Object.values(mcpServers ?? servers ?? {})
  return server?.url ?? server?.httpUrl ?? ''
}

test.each(['at the branch', 'pinned'])('the copied text of a page works as described, %s', async pin => {
  const address = parseAddress(pin === 'pinned' ? `${HANDBOOK}@${commit}` : HANDBOOK, ['local'])
  await service.get('mounts', `${HANDBOOK}${pin === 'pinned' ? `@${commit}` : ''}`)
  const snippets = snippetsFor(address, service.baseUrl, ENGLISH.t, SKILL)
  const servers = ['Claude Code', 'Codex', 'Cursor', 'VS Code', 'Gemini CLI', 'Another MCP client']
  for (const snippet of snippets) {
    const { client, code } = snippet
    if (servers.includes(client)) expect(await nameOfServer(await serverOf(snippet)), client).toMatch(/mountglass/i)
    else {
      await runInShell(code)
      const [folder = ''] = await readdir(join(home, '.claude', 'skills'))
      expect(await readFile(join(home, '.claude', 'skills', folder, 'SKILL.md'), 'utf8')).toContain('name: pin-a-commit')
      await rm(join(home, '.claude'), { recursive: true })
    }
  }
  expect(snippets.map(({ client }) => client)).toEqual([...servers, 'Install files instead'])
})

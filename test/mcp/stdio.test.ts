import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { serveOverStdio } from '#cli/mcp.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { message, textOf } from './scene.ts'

const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'mountglass.mjs')
const MIT = '{"license":"MIT"}\n'
const skill = (name: string, body = 'Do it.\n') => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`

let folder: string
let repositories: TestRepositories
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-stdio-'))
  await mkdir(join(folder, 'one'))
  await writeFile(join(folder, 'package.json'), MIT)
  await writeFile(join(folder, 'one', 'SKILL.md'), skill('one'))
  repositories = await createRepositories()
})
afterAll(async () => {
  await repositories.remove()
  await rm(folder, { recursive: true, force: true })
})

function transportOptions(args: readonly string[], env: Record<string, string> = {}) {
  return {
    command: process.execPath,
    args: [COMMAND, 'mcp', ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'pipe' as const,
  }
}

async function connect(args: readonly string[], env: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport(transportOptions(args, env)))
  return client
}

describe('a working folder', () => {
  test('is read as it is now, and every call sees the changes made before it', async () => {
    const client = await connect([folder])
    expect(client.getInstructions()).toContain('It has 1 skill and 0 documents.')
    const load = async () => textOf(await client.callTool({ name: 'load_skill', arguments: { path: 'one/SKILL.md' } }))
    expect(await load()).toContain('Do it.')
    await writeFile(join(folder, 'one', 'SKILL.md'), skill('one', 'Do something else.\n'))
    expect(await load()).toContain('Do something else.')
    await mkdir(join(folder, 'two'))
    await writeFile(join(folder, 'two', 'SKILL.md'), skill('two'))
    expect(textOf(await client.callTool({ name: 'browse_repo', arguments: {} }))).toContain('two/SKILL.md')
    const skills = new SkillsClient(client)
    const listed = (await skills.list()).skills
    expect(listed.map(one => one.frontmatter.name)).toEqual(['one', 'two'])
    for (const one of listed) expect((await skills.read(one)).verified).toBe(true)
    await client.close()
  })

  test('is identified as one, since git has no commit of it', async () => {
    const client = await connect([folder])
    const { content, _meta } = await client.callTool({ name: 'browse_repo', arguments: {} })
    const said = [textOf({ content }), client.getInstructions()]
    for (const text of said) expect(text).toMatch(/a working folder with its files as they are now \(state [0-9a-f]{40},/)
    expect(said.join('')).not.toContain('at commit')
    expect(_meta?.['dev.mountglass/source']).toMatchObject({ workingFolder: true })
    await client.close()
  })

  test('is read by clients of older revisions, too', async () => {
    const client = new OldClient({ name: 'test', version: '1' })
    await client.connect(new OldTransport(transportOptions([folder])))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['browse_repo', 'search_repo', 'load_skill', 'read_repo_file'])
    const found = await client.callTool({ name: 'search_repo', arguments: { query: 'one' } })
    expect(found.structuredContent).toMatchObject({ status: 'ready' })
    await client.close()
  })

  test('without a license shows only public facts, and all of it as a private one', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'mountglass-stdio-'))
    await mkdir(join(closed, 'a'))
    await writeFile(join(closed, 'a', 'SKILL.md'), skill('a', 'Hidden words.\n'))
    const told = async (...options: string[]) => {
      const client = await connect([...options, closed])
      const text = textOf(await client.callTool({ name: 'load_skill', arguments: { path: 'a/SKILL.md' } }))
      await client.close()
      return text
    }
    expect(await told()).not.toContain('Hidden words.')
    expect(await told('--private')).toContain('Hidden words.')
  })
})

test('an address is read as the service reads it', async () => {
  const repository = await repositories.create('acme', 'tools')
  await repository.commit({ 'package.json': MIT, 'one/SKILL.md': skill('one') })
  const client = await connect(['local/acme/tools'], { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
  expect(textOf(await client.callTool({ name: 'load_skill', arguments: { path: 'one/SKILL.md' } }))).toContain('Do it.')
  await client.close()
})

describe('the process', () => {
  async function end(args: readonly string[], input: string, env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [COMMAND, 'mcp', ...args], { env: { PATH: process.env.PATH, ...env } })
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => (out += chunk))
    child.stderr.on('data', chunk => (err += chunk))
    child.stdin.end(input)
    const code = await new Promise(resolve => child.once('close', resolve))
    return { code, out, err }
  }

  test('ends with its input, writes nothing but messages to stdout and leaves nothing in the folder', async () => {
    const before = await readdir(folder)
    expect(await end([folder], '')).toEqual({ code: 0, out: '', err: '' })
    expect(await readdir(folder)).toEqual(before)
  })

  test('answers every request read before its input ended, the last line included', async () => {
    const request = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const input = [
      request(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'printf', version: '1' } }),
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      request(2, 'tools/call', { name: 'load_skill', arguments: { path: 'one/SKILL.md' } }),
      request(3, 'tools/list', {}),
      request(4, 'tools/call', { name: 'search_repo', arguments: { query: 'one' } }),
    ].join('\n')
    const { code, out, err } = await end([folder], input)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const answers = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4])
    expect(answers.find(({ id }) => id === 4).result.structuredContent).toMatchObject({ status: 'ready' })
  })

  test('ends when it is stopped, while its input stays open', async () => {
    const child = spawn(process.execPath, [COMMAND, 'mcp', folder], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.write(ASKED)
    await new Promise(resolve => child.stdout.once('data', resolve))
    child.kill('SIGTERM')
    expect(await new Promise(resolve => child.once('close', resolve))).toBe(0)
  })

  const ASKED = `${message('initialize').payload}\n`

  const endsWith = (code: unknown, said: string, says: RegExp) => {
    expect(code).toBe(2)
    expect(said).toMatch(says)
    expect(said.split('\n')).toEqual([expect.stringMatching(/^mountglass: /), ''])
  }

  // A process takes long to start, so there is one for each of the three places that refuse, and every other reason is tried in this one.
  test.each([
    ['a folder that is not there', './none', ASKED, /the folder \.\/none does not exist/],
    ['no address, unasked', 'gh/acme', '', /gh\/acme is neither a folder nor the address of a repository/],
    ['a folder of a repository that is not there', 'local/acme/tools/oen', ASKED, /\/local\/acme\/tools\/oen: /],
  ])('ends with one line about %s', async (_what, target, input, says) => {
    const { code, out, err } = await end([target], input, { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
    expect(out).toBe('')
    endsWith(code, err, says)
  })

  test.each([
    ['an unknown host', 'https://elsewhere.example/a/b', /example\/a\/b is neither a folder nor the address of a repository/],
    ['a repository that is not there', 'local/acme/tolos', /\/local\/acme\/tolos: /],
    ['a branch that is not there', 'local/acme/tools@mian', /\/local\/acme\/tools@mian: /],
  ])('would end with one line about %s', async (_what, target, says) => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => stderr.mockRestore())
    const code = await serveOverStdio(target, {}, { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
    endsWith(code, stderr.mock.calls.map(([said]) => said).join(''), says)
  })
})

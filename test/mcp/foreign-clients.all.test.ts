import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS, type CorpusApp, corpusApp, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { type Service, startService } from '#test/support/service.ts'
import { openSignInScene, type SignInScene } from '#test/support/signed-in.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { ensureBuilt } from '../site/support/built-site.ts'
import { openPerson } from './person.ts'
import { listen, textOf } from './scene.ts'

/*
 * Programs that nobody here wrote, at their published versions. They are installed into a folder of their own, since they bring a hundred
 * megabytes that nothing else needs. Real repositories are left out where these do not lie beside the project.
 */

const PROGRAMS = ['@modelcontextprotocol/inspector@2.12.0', 'mcp-remote@0.15.1']
const run = promisify(execFile)
const HANDBOOK = 'mountglass/handbook'
const NAMES = ['obra/superpowers', 'getsentry/skills']

let folder: string
let corpus: CorpusApp
let origin: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-programs-'))
  await writeFile(join(folder, 'package.json'), '{"private":true}\n')
  // What npm has of these versions already is not asked for again. Meanwhile the repositories are indexed.
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', ...PROGRAMS]
  await Promise.all([run('npm', args, { cwd: folder }), openRepositories()])
})
afterAll(async () => {
  await corpus.close()
  await rm(folder, { recursive: true, force: true })
})

async function openRepositories(): Promise<void> {
  corpus = await corpusApp()
  origin = await listen(corpus.app)
  const repository = await corpus.app.repositories.create('mountglass', 'handbook')
  await repository.commit({
    'package.json': '{"license":"MIT"}\n',
    'one/SKILL.md': '---\nname: one\ndescription: One.\n---\nDo it.\n',
  })
  await corpus.app.open(`/local/${HANDBOOK}`)
  for (const one of CORPUS === null ? [] : corpusRepositories(CORPUS)) {
    if (!NAMES.includes(`${one.owner}/${one.name}`)) continue
    await unpackCorpus(CORPUS as string, one, corpus.root)
    await corpus.app.open(`/local/${one.owner}/${one.name}`)
  }
}

const REPOSITORIES = [HANDBOOK, ...(CORPUS === null ? [] : NAMES)]
const program = (name: string) => join(folder, 'node_modules', '.bin', name)

describe.each(REPOSITORIES)('%s', name => {
  const inspect = async (...args: string[]) => {
    const url = `${origin}/mcp/local/${name}`
    const { stdout, stderr } = await run(
      process.execPath,
      [program('mcp-inspector'), '--cli', url, '--transport', 'http', ...args],
      {
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    return stdout + stderr
  }

  test.each(['modern', 'legacy'])('the inspector finds no fault in the tools (%s)', async era => {
    expect(await inspect('--protocol-era', era, '--method', 'tools/list', '--strict')).toContain('0 errors')
  })

  test('the inspector reads every file of every skill, and its digest holds', async () => {
    const said = await inspect('--protocol-era', 'modern', '--method', 'skills/list', '--verify')
    expect(said).toMatch(/Verified \d+ skills? and \d+ files?: no conformance errors\./)
  })

  test('mcp-remote passes calls on', async () => {
    const args = [program('mcp-remote'), `${origin}/mcp/local/${name}`, '--allow-http']
    const env = { PATH: process.env.PATH ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder }
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
    expect((await client.listTools()).tools).toHaveLength(4)
    const answer = await client.callTool({ name: 'browse_repo', arguments: {} })
    expect(textOf(answer)).toContain(`From /local/${name} at commit `)
    await client.close()
  })
})

describe('a private repository', () => {
  let scene: SignInScene
  let service: Service
  let url: string
  beforeAll(async () => {
    await ensureBuilt()
    scene = await openSignInScene()
    service = await startService(scene.settings)
    url = `${service.baseUrl}/mcp${scene.address}`
  })
  afterAll(async () => {
    await service?.stop()
    await scene?.close()
  })

  test('the inspector shows that sign-in is required', async () => {
    const args = [program('mcp-inspector'), '--cli', url, '--transport', 'http', '--method', 'tools/list', '--stored-auth-only']
    const env = { PATH: process.env.PATH, HOME: folder }
    const ended = run(process.execPath, args, { cwd: folder, env })
    await expect(ended).rejects.toMatchObject({ stderr: expect.stringContaining('auth_required') })
  })

  test('the inspector sends the person to the service, keeps the approved grant, and ends it', async () => {
    const person = await openPerson(service.baseUrl, () => scene.signIn(service.baseUrl))
    const inspect = async (...args: string[]) => {
      const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`
      const all = ['--cli', url, '--transport', 'http', '--callback-url', callback, '--method', 'tools/call', ...args]
      const env = { PATH: process.env.PATH, HOME: folder, BROWSER: 'true', MCP_AUTO_OPEN_ENABLED: 'true' }
      const ended = run(process.execPath, [program('mcp-inspector'), ...all], { cwd: folder, env })
      let said = ''
      let visit: Promise<unknown> | null = null
      ended.child.stderr?.on('data', chunk => {
        said += chunk
        const location = /http\S+\/oauth\/authorize\?\S+/.exec(said)?.[0]
        if (location !== undefined && visit === null) visit = person.decide(new URL(location))
      })
      const { stdout } = await ended
      await visit
      return { stdout, isAsked: visit !== null }
    }
    const read = ['--tool-name', 'browse_repo']
    expect(await inspect(...read)).toEqual({ stdout: expect.stringContaining(`From ${scene.address} at commit `), isAsked: true })
    expect(await inspect(...read)).toEqual({
      stdout: expect.stringContaining(`From ${scene.address} at commit `),
      isAsked: false,
    })
    expect(await inspect(...read, '--relogin')).toMatchObject({ isAsked: true })
    await person.close()
  })

  test('mcp-remote sends the person to the service, and passes calls on after the approval', async () => {
    const person = await openPerson(service.baseUrl, () => scene.signIn(service.baseUrl))
    const args = [program('mcp-remote'), url, '--allow-http']
    // The helper of the desktop calls a program that does nothing; the person's browser is that of the test.
    const env = { PATH: process.env.PATH ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: join(folder, 'private'), BROWSER: 'true' }
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
    let said = ''
    let isSent = false
    const visited = new Promise<void>((resolve, reject) => {
      transport.stderr?.on('data', chunk => {
        said += chunk
        const location = /^http\S+\/oauth\/authorize\?\S+$/m.exec(said)?.[0]
        if (location === undefined || isSent) return
        isSent = true
        person.decide(new URL(location)).then(() => resolve(), reject)
      })
    })
    const client = new Client({ name: 'test', version: '1' })
    await Promise.all([client.connect(transport), visited])
    const answer = await client.callTool({ name: 'browse_repo', arguments: {} })
    expect(textOf(answer)).toContain(`From ${scene.address} at commit `)
    await client.close()
    await person.close()
  })
})

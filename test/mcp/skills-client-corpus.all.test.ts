import { execFile, execFileSync } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS, type CorpusApp, corpusApp, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { listen } from './scene.ts'

/*
 * The client of npm, unchanged, installs one skill, several, those of a folder and those of a commit from real repositories, and updates them.
 * Left out where real repositories do not lie beside the project.
 */

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '..', '..', 'node_modules', 'skills', 'bin', 'cli.mjs')
const NAMES = ['obra/superpowers', 'expo/skills', 'getsentry/skills']

let corpus: CorpusApp
let origin: string
let front: Server
/** Paths that were asked for since the last reset. */
let asked: string[] = []
beforeAll(async () => {
  if (CORPUS === null) return
  corpus = await corpusApp()
  const behind = await listen(corpus.app)
  front = createServer(async (request, response) => {
    asked.push(request.url ?? '')
    const answer = await fetch(behind + request.url, { headers: { 'accept-encoding': 'identity' } })
    const headers = Object.fromEntries(
      [...answer.headers].filter(([name]) => !/^(?:content-encoding|connection|keep-alive)$/.test(name)),
    )
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  for (const repository of corpusRepositories(CORPUS)) {
    const name = `${repository.owner}/${repository.name}`
    if (!NAMES.includes(name)) continue
    await unpackCorpus(CORPUS, repository, corpus.root)
    await corpus.app.open(`/local/${name}`)
  }
})
afterAll(async () => {
  front?.close()
  await corpus?.close()
})

const INDEX = '.well-known/agent-skills/index.json'

/** The client reads both indexes, and falls back to the older one without a word: then it asks for single files. */
function expectNewerIndex(): void {
  expect(asked.some(path => path.includes('/.well-known/agent-skills/archive/'))).toBe(true)
  expect(asked.filter(path => path.includes('/.well-known/skills/') && !path.endsWith('/index.json'))).toEqual([])
}

describe.runIf(CORPUS !== null).each(NAMES)('%s', name => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.org', ...args], {
      cwd: join(corpus.root, name),
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    })

  /** Names of the skills that an address offers. */
  async function offered(address: string): Promise<string[]> {
    const answer = await fetch(`${origin}${address}/${INDEX}`)
    return ((await answer.json()) as { skills: { name: string }[] }).skills.map(one => one.name).sort()
  }

  async function install(address: string, ...options: string[]) {
    const home = await mkdtemp(join(tmpdir(), 'mountglass-skills-'))
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      DISABLE_TELEMETRY: '1',
      NO_COLOR: '1',
      CI: '1',
    }
    const cli = async (...args: string[]) => (await run(process.execPath, [CLI, ...args], { cwd: home, env })).stdout
    asked = []
    await cli('add', `${origin}${address}`, ...options, '--agent', 'claude-code', '--copy', '-y')
    expectNewerIndex()
    const folder = join(home, '.claude', 'skills')
    return { cli, folder, names: (await readdir(folder)).sort() }
  }

  /** Compares every installed file of a skill with the commit, and every file of the commit with what is installed. @returns how many */
  async function compare(folder: string, skill: string, commit: string): Promise<number> {
    const { skill: found } = await corpus.app
      .askReady('find', `/local/${name}@${commit}`, { query: skill, limit: 25 })
      .then(({ items }) => ({ skill: items.find(item => item.kind === 'skill' && item.name === skill) }))
    const directory = found?.kind === 'skill' ? found.directory : ''
    const listed = git('ls-tree', '-r', '-z', '--name-only', commit, '--', `${directory}/`).toString().split('\0').filter(Boolean)
    const regular = (await readdir(join(folder, skill), { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
    expect(regular.length).toBeGreaterThanOrEqual(listed.length)
    for (const path of listed) {
      const installed = await readFile(join(folder, skill, path.slice(directory.length + 1)))
      expect(installed.equals(git('cat-file', 'blob', `${commit}:${path}`)), path).toBe(true)
    }
    return listed.length
  }

  test('one skill, several, and those of a folder equal the files of git', async () => {
    const address = `/local/${name}`
    const commit = git('rev-parse', 'HEAD').toString().trim()
    const [first = '', second = '', third = ''] = await offered(address)
    const one = await install(address, '--skill', second)
    expect(one.names).toEqual([second])
    expect(await compare(one.folder, second, commit)).toBeGreaterThan(0)

    const several = await install(address, '--skill', first, third)
    expect(several.names).toEqual([first, third])
    for (const skill of several.names) expect(await compare(several.folder, skill, commit)).toBeGreaterThan(0)

    const { entries } = await corpus.app.askReady('browse', address)
    const folder = entries.find(entry => entry.kind === 'directory' && entry.counts.skills > 0)?.path ?? ''
    const inside = await install(`${address}/${folder}`)
    expect(inside.names).toEqual(await offered(`${address}/${folder}`))
  })

  test('an update installs the changes and nothing else, and a pinned commit stays unchanged', async () => {
    const before = git('rev-parse', 'HEAD').toString().trim()
    const address = `/local/${name}`
    const [first = '', second = ''] = await offered(address)
    const moving = await install(address, '--skill', first, second)
    const pinned = await install(`${address}@${before}`, '--skill', first)
    expect(await moving.cli('update', '-y')).not.toMatch(/Updating .*…|Failed/)

    const path = (await corpus.app.askReady('find', address, { query: first, limit: 25 })).items.find(
      item => item.kind === 'skill' && item.name === first,
    )?.path
    await appendFile(join(corpus.root, name, path ?? ''), '\nA line more.\n')
    git('commit', '--quiet', '--all', '--message=change')
    await corpus.app.open(address)
    const after = git('rev-parse', 'HEAD').toString().trim()
    asked = []
    const said = await moving.cli('update', '-y')
    expect(said).toContain(`Updating ${first}…`)
    expect(said).not.toContain(`Updating ${second}…`)
    expectNewerIndex()
    expect(await compare(moving.folder, first, after)).toBeGreaterThan(0)
    expect(await pinned.cli('update', '-y')).not.toMatch(/Updating .*…|Failed/)
    expect(await compare(pinned.folder, first, before)).toBeGreaterThan(0)
  })
})

import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { listen } from '../mcp/scene.ts'

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '..', '..', 'node_modules', 'skills', 'bin', 'cli.mjs')
const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nDo it.\n`
const PNG = new Uint8Array([0x89, 0x50, 0xff, 0])
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  NOTICE: 'Made by Acme.\n',
  'SKILLSET.md': '---\nexclude: ["*.secret.md"]\n---\nBe kind.\n',
  'skills/one/SKILL.md': skill('one'),
  'skills/one/run.sh': { mode: '100755' as const, content: '#!/bin/sh\n' },
  'skills/one/assets/logo.png': PNG,
  'skills/one/assets/film.png': new Uint8Array(2_000_000).fill(9),
  'skills/one/assets/long.css': '/**/\n'.repeat(400_000),
  'skills/one/notes.secret.md': 'Excluded words.\n',
  'skills/two/SKILL.md': skill('two'),
  'skills/two/a..b#c.md': 'Odd name.\n',
  'skills/closed/SKILL.md': skill('closed', 'license: Proprietary\n'),
  'a/pdf/SKILL.md': skill('pdf'),
  'b/pdf/SKILL.md': skill('pdf'),
  'skills/other/SKILL.md': skill('another'),
}
const ADDRESS = '/local/acme/tools'
const INDEX = '/.well-known/agent-skills/index.json'

let app: TestApp
let origin: string
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES, 'acme/later': { 'a/SKILL.md': skill('a') } })
  await app.open(ADDRESS)
  origin = await listen(app)
})
afterAll(() => app.close())

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(origin + path, { headers })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

async function indexOf(path: string) {
  const { status, bytes } = await get(path)
  expect(status).toBe(200)
  return JSON.parse(bytes.toString())
}

describe('the index', () => {
  test('lists every installable skill once, with an archive of the given digest', async () => {
    const index = await indexOf(ADDRESS + INDEX)
    expect(index.$schema).toBe('https://schemas.agentskills.io/discovery/0.2.0/schema.json')
    expect(index.skills.map(({ name }: { name: string }) => name)).toEqual(['pdf', 'one', 'another', 'two'])
    const commit = app.commitOf('acme/tools')
    for (const { name, description, type, url, digest } of index.skills) {
      expect([type, description]).toEqual(['archive', `About ${name}.`])
      expect(url).toBe(`${ADDRESS}@${commit}/.well-known/agent-skills/archive/${digest.slice('sha256:'.length)}.tar.gz`)
      const archive = await get(url)
      expect(`sha256:${hash('sha256', archive.bytes, 'hex')}`).toBe(digest)
      expect(archive.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
  })

  test('of a folder lists the skills below it', async () => {
    const index = await indexOf(`${ADDRESS}/a${INDEX}`)
    expect(index.skills.map(({ name }: { name: string }) => name)).toEqual(['pdf'])
  })

  test('in the older format leaves out a skill whose file names its clients misread', async () => {
    const index = await indexOf(`${ADDRESS}/.well-known/skills/index.json`)
    expect(index).not.toHaveProperty('$schema')
    expect(index.skills.map(({ name }: { name: string }) => name)).toEqual(['pdf', 'one', 'another'])
    const one = index.skills.find(({ name }: { name: string }) => name === 'one')
    expect(one.files).toEqual(['SKILL.md', 'assets/film.png', 'assets/logo.png', 'assets/long.css', 'run.sh', 'NOTICE'])
    for (const file of one.files) expect((await get(`${ADDRESS}/.well-known/skills/one/${file}`)).status).toBe(200)
    const logo = await get(`${ADDRESS}/.well-known/skills/one/assets/logo.png`)
    expect(logo.bytes).toEqual(Buffer.from(PNG))
  })

  test('is 404 while the repository is being indexed, with Retry-After', async () => {
    const { status, headers, bytes } = await get(`/local/acme/later${INDEX}`)
    expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([404, '1', 'no-store'])
    expect(JSON.parse(bytes.toString()).error.code).toBe('index.indexing')
  })

  test.each([
    ['of nothing', `/local/acme/none${INDEX}`, 404, 'mount.repo_not_found'],
    ['of a folder that is not there', `${ADDRESS}/none${INDEX}`, 404, 'mount.path_not_found'],
    ['of an address that cannot be read', `/local/%zz/x${INDEX}`, 400, 'address.invalid_escape'],
    ['of another name', `${ADDRESS}/.well-known/agent-skills/other.json`, 404, 'file.not_found'],
    ['of an unknown archive', `${ADDRESS}/.well-known/agent-skills/archive/${'0'.repeat(64)}.tar.gz`, 404, 'file.not_found'],
    ['of an excluded file', `${ADDRESS}/.well-known/skills/one/notes.secret.md`, 404, 'file.not_found'],
    ['of a file without a license', `${ADDRESS}/.well-known/skills/closed/SKILL.md`, 404, 'file.not_found'],
    ['of a file outside of the skill', `${ADDRESS}/.well-known/skills/one/..%2Ftwo%2FSKILL.md`, 404, 'file.not_found'],
  ])('%s is refused', async (_what, path, status, code) => {
    const answer = await get(path)
    expect([answer.status, JSON.parse(answer.bytes.toString()).error.code]).toEqual([status, code])
  })
})

describe('an archive', () => {
  test('is compressed if the client accepts it, and 304 if the client has it', async () => {
    const [, , one] = (await indexOf(ADDRESS + INDEX)).skills
    const plain = await app.get(one.url)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const packed = await app.app.inject({ url: one.url, headers: { 'accept-encoding': 'gzip' } })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(packed.rawPayload.length).toBeLessThan(gunzipSync(packed.rawPayload).length / 4)
    expect(`sha256:${hash('sha256', gunzipSync(packed.rawPayload), 'hex')}`).toBe(one.digest)
    const again = await get(one.url, { 'if-none-match': String(packed.headers.etag) })
    expect([again.status, again.bytes.length]).toEqual([304, 0])
    const head = await app.app.inject({ method: 'HEAD', url: one.url, headers: { 'if-none-match': String(packed.headers.etag) } })
    expect([head.statusCode, head.headers['content-length']]).toEqual([304, undefined])
  })

  test.each([
    ['gzip', 'gzip'],
    ['br, GZIP;q=0.5', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.000, *', undefined],
    ['br', undefined],
    ['gzip;q=often', undefined],
    ['not-gzip', undefined],
    ['', undefined],
  ])('for a client that accepts %j has the encoding %s, and the same bytes', async (accepted, encoding) => {
    const [, , one] = (await indexOf(ADDRESS + INDEX)).skills
    const answer = await app.app.inject({ url: one.url, headers: { 'accept-encoding': accepted } })
    expect(answer.headers['content-encoding']).toBe(encoding)
    expect(answer.headers.vary).toBe('accept-encoding')
    const bytes = encoding === 'gzip' ? gunzipSync(answer.rawPayload) : answer.rawPayload
    expect(`sha256:${hash('sha256', bytes, 'hex')}`).toBe(one.digest)
  })

  test('holds nothing that is excluded or may not be copied', async () => {
    for (const { url } of (await indexOf(ADDRESS + INDEX)).skills) {
      const tar = gunzipSync((await get(url)).bytes).toString('latin1')
      expect(tar).not.toMatch(/secret|Excluded words|closed/)
    }
  })
})

describe('skills of npm, unchanged', () => {
  async function installed(args: readonly string[]) {
    const home = await mkdtemp(join(tmpdir(), 'mountglass-skills-'))
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      DISABLE_TELEMETRY: '1',
      NO_COLOR: '1',
      CI: '1',
    }
    const cli = async (...given: string[]) => (await run(process.execPath, [CLI, ...given], { cwd: home, env })).stdout
    const said = await cli('add', ...args, '--agent', 'claude-code', '--copy', '-y')
    const folder = join(home, '.claude', 'skills')
    return { home, folder, cli, said, names: (await readdir(folder).catch(() => [])).sort() }
  }

  test('installs all skills of an address, byte for byte', async () => {
    const { folder, names, said } = await installed([`${origin}${ADDRESS}`])
    expect(names, said).toEqual(['another', 'one', 'pdf', 'two'])
    expect(await readFile(join(folder, 'one', 'SKILL.md'), 'utf8')).toBe(FILES['skills/one/SKILL.md'])
    expect(await readFile(join(folder, 'one', 'assets', 'logo.png'))).toEqual(Buffer.from(PNG))
    for (const name of ['film.png', 'long.css'] as const) {
      expect((await readFile(join(folder, 'one', 'assets', name))).equals(Buffer.from(FILES[`skills/one/assets/${name}`]))).toBe(
        true,
      )
    }
    expect(await readFile(join(folder, 'one', 'NOTICE'), 'utf8')).toBe(FILES.NOTICE)
    // The older index lacks this skill: it came by the newer one.
    expect(await readFile(join(folder, 'two', 'a..b#c.md'), 'utf8')).toBe('Odd name.\n')
    expect(await stat(join(folder, 'one', 'notes.secret.md')).catch(() => null)).toBeNull()
  })

  test('installs one skill, those of a folder, and those of a commit', async () => {
    expect((await installed([`${origin}${ADDRESS}`, '--skill', 'two'])).names).toEqual(['two'])
    expect((await installed([`${origin}${ADDRESS}/skills`])).names).toEqual(['another', 'one', 'two'])
    expect((await installed([`${origin}${ADDRESS}@${app.commitOf('acme/tools')}/a`])).names).toEqual(['pdf'])
  })

  test('updates changed skills, and nothing else', async () => {
    const changing = await testApp({
      'acme/moving': { 'package.json': FILES['package.json'], 'one/SKILL.md': skill('one'), 'two/SKILL.md': skill('two') },
    })
    await changing.open('/local/acme/moving')
    const { cli, folder } = await installed([`${await listen(changing)}/local/acme/moving`])
    expect(await cli('update', '-y')).not.toMatch(/Updating (?:one|two)|Failed/)

    await changing.repository('acme/moving').commit({ 'two/SKILL.md': skill('two', 'version: "2"\n') })
    await changing.open('/local/acme/moving')
    const said = await cli('update', '-y')
    expect(said).toContain('Updating two…')
    expect(said).not.toContain('Updating one…')
    expect(await readFile(join(folder, 'two', 'SKILL.md'), 'utf8')).toContain('version: "2"')
    await changing.close()
  })
})

import { hash } from 'node:crypto'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { connect, listen, message } from './scene.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0])
const FILES = {
  NOTICE: 'Made by Acme.\n',
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nexclude: ["*.secret.md"]\n---\nBe kind.\n',
  'skills/one/SKILL.md': '---\nname: one\ndescription: The first.\nversion: 1.10\n---\nDo it.\n',
  'skills/one/references/a b.md': '# More\n',
  'skills/one/assets/logo.png': PNG,
  'skills/one/notes.secret.md': 'Excluded words.\n',
  'skills/one/copy.md': { link: 'references/a b.md' },
  'skills/closed/SKILL.md': '---\nname: closed\ndescription: Described.\nlicense: Proprietary\n---\nHidden words.\n',
  'skills/other/SKILL.md': '---\nname: another\ndescription: Another name.\n---\nDo it.\n',
  'docs/guide.md': '# Guide\n',
}

let app: TestApp
let origin: string
beforeAll(async () => {
  const skill = '---\nname: a\ndescription: A.\n---\nx\n'
  const copies = { 'package.json': '{"license":"MIT"}\n', 'skills/a/SKILL.md': skill, '.agents/skills/a/SKILL.md': skill }
  app = await testApp({ 'acme/tools': FILES, 'acme/later': { 'a/SKILL.md': skill }, 'acme/copies': copies })
  await app.open('/local/acme/copies')
  await app.open('/local/acme/tools')
  origin = await listen(app)
})
afterAll(() => app.close())

const BASE = 'skill://local/acme/tools'

async function clientOf(address: string) {
  const client = await connect(`${origin}/mcp${address}`)
  return { client, skills: new SkillsClient(client) }
}

describe('a client of the skills extension', () => {
  test('lists one of the copies of a skill, and reads each of them', async () => {
    const { client, skills } = await clientOf('/local/acme/copies')
    const uriOf = (folder: string) => `skill://local/acme/copies/${folder}/a/SKILL.md`
    expect((await skills.list()).skills.map(one => one.uri)).toEqual([uriOf('skills')])
    expect((await skills.get(uriOf('.agents/skills'))).skill.uri).toBe(uriOf('.agents/skills'))
    await client.close()
    const below = await clientOf('/local/acme/copies/.agents')
    expect((await below.skills.list()).skills.map(one => one.uri)).toEqual([uriOf('.agents/skills')])
    await below.client.close()
  })

  test('lists the installable skills, and reads every file with its digest', async () => {
    const { client, skills } = await clientOf('/local/acme/tools')
    expect([skills.supported, skills.directoryRead]).toEqual([true, true])
    const listing = await skills.list()
    expect(listing.skills.map(one => one.uri)).toEqual([`${BASE}/skills/one/SKILL.md`])
    const [one] = listing.skills
    if (one === undefined) throw new Error('no skill')
    expect(one.frontmatter).toEqual({ name: 'one', description: 'The first.', version: 1.1 })
    expect(one._meta?.['dev.mountglass/source']).toMatchObject({
      path: 'skills/one/SKILL.md',
      trust: 'untrusted',
      excludedFiles: 1,
    })
    const uris = (one.resources as { uri: string }[]).map(({ uri }) => uri.slice(`${BASE}/skills/one/`.length))
    expect(uris.sort()).toEqual(['NOTICE', 'SKILL.md', 'assets/logo.png', 'copy.md', 'references/a%20b.md'])
    const texts = new Map<string, Uint8Array>()
    for (const { uri } of one.resources as { uri: string }[]) {
      const file = await skills.read(one, uri)
      expect(file.verified).toBe(true)
      texts.set(uri.slice(`${BASE}/skills/one/`.length), file.bytes)
    }
    expect(Buffer.from(texts.get('copy.md') ?? []).toString()).toBe('# More\n')
    expect(Buffer.from(texts.get('assets/logo.png') ?? [])).toEqual(Buffer.from(PNG))
    const folder = await skills.readDirectory(`${BASE}/skills/one`)
    expect(folder.resources.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ['NOTICE', 'application/octet-stream'],
      ['SKILL.md', 'text/markdown'],
      ['assets', 'inode/directory'],
      ['copy.md', 'text/markdown'],
      ['references', 'inode/directory'],
    ])
    const resources = await client.listResources()
    expect(resources.resources.map(({ uri }) => uri)).toEqual([`${BASE}/skills/one/SKILL.md`])
    await client.close()
  })

  test('finds nothing of what is excluded, described only, or outside of a skill or of the mounted folder', async () => {
    const { client, skills } = await clientOf('/local/acme/tools')
    for (const path of [
      'skills/closed/SKILL.md',
      'skills/other/SKILL.md',
      'skills/none/SKILL.md',
      'skills/one/NOT-SKILL.md',
      'docs/guide.md',
    ])
      await expect(skills.get(`${BASE}/${path}`)).rejects.toMatchObject({ code: -32_602 })
    for (const path of [
      'skills/one/notes.secret.md',
      'skills/closed/SKILL.md',
      'docs/guide.md',
      'LICENSE',
      'skills/one',
      '%2E%2E/x',
    ])
      await expect(client.readResource({ uri: `${BASE}/${path}` })).rejects.toMatchObject({ code: -32_602 })
    for (const uri of ['skill://local/acme/other/skills/one/SKILL.md', 'file:///etc/passwd', 'skill://local'])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 })
    for (const path of ['docs', 'skills', 'skills/closed', 'skills/one/none'])
      await expect(skills.readDirectory(`${BASE}/${path}`)).rejects.toMatchObject({ code: -32_602 })
    await client.close()

    const inside = await clientOf('/local/acme/tools/docs')
    expect((await inside.skills.list()).skills).toEqual([])
    await expect(inside.skills.get(`${BASE}/skills/one/SKILL.md`)).rejects.toMatchObject({ code: -32_602 })
    await expect(inside.client.readResource({ uri: `${BASE}/skills/one/SKILL.md` })).rejects.toMatchObject({ code: -32_602 })
    await inside.client.close()
  })

  test('sees that a repository is being indexed, and never that it has no skills', async () => {
    const answer = await fetch(`${origin}/mcp/local/acme/later`, {
      method: 'POST',
      headers: message('skills/list').headers,
      body: message('skills/list').payload,
    })
    expect(await answer.json()).toMatchObject({ error: { code: -32_000, data: { code: 'index.indexing', retryAfter: 1 } } })
  })

  test('is refused a cursor that is not of this list', async () => {
    const { client, skills } = await clientOf('/local/acme/tools')
    const { nextCursor } = await app.askReady('browse', '/local/acme/tools', { limit: 1 })
    for (const cursor of ['x', String(nextCursor)])
      await expect(skills.list({ cursor })).rejects.toMatchObject({ code: -32_602, data: { code: 'request.invalid' } })
    await client.close()
  })
})

test('many skills are paged', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 250 }, (_, n) => [`s/a${n}/SKILL.md`, `---\nname: a${n}\ndescription: A.\n---\nx\n`]),
  )
  const large = await testApp({ 'acme/many': { 'package.json': '{"license":"MIT"}\n', ...files } })
  await large.open('/local/acme/many')
  const client = await connect(`${await listen(large)}/mcp/local/acme/many`)
  const skills = new SkillsClient(client)
  expect((await skills.list()).skills).toHaveLength(250)
  const pages = []
  for (let cursor: string | undefined; ; ) {
    const asked = message('resources/list', cursor === undefined ? {} : { cursor })
    const { result } = (await large.app.inject({ method: 'POST', url: '/mcp/local/acme/many', ...asked })).json()
    expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
    pages.push(result.resources.length)
    cursor = result.nextCursor
    if (cursor === undefined) break
    await expect(skills.list({ cursor })).rejects.toMatchObject({ code: -32_602, data: { code: 'request.invalid' } })
  }
  expect(pages).toEqual([100, 100, 50])
  expect(new Set((await client.listResources()).resources.map(one => one.uri)).size).toBe(250)
  await client.close()
  await large.close()
})

test('the digest of a file is that of its bytes on every door', async () => {
  const page = await app.ask('files', '/local/acme/tools', { path: 'skills/one/references/a b.md' })
  expect(page.sha256).toBe(hash('sha256', '# More\n', 'hex'))
  const skill = await app.askReady('skills', '/local/acme/tools', { path: 'skills/one/SKILL.md' })
  expect(skill.skill.fileDetails).toContainEqual({
    path: 'skills/one/assets/logo.png',
    size: PNG.length,
    sha256: hash('sha256', PNG, 'hex'),
  })
  expect(skill.skill.sha256).toMatch(/^[0-9a-f]{64}$/)
})

test('a file of more than 4 MiB is listed with its digest, and is no resource', async () => {
  const files = {
    'a/SKILL.md': '---\nname: a\ndescription: A.\n---\nx\n',
    'a/most.bin': new Uint8Array(4 * 1024 * 1024),
    'a/more.bin': new Uint8Array(4 * 1024 * 1024 + 1),
  }
  const large = await testApp({ 'acme/large': { 'package.json': '{"license":"MIT"}\n', ...files } })
  await large.open('/local/acme/large')
  const client = await connect(`${await listen(large)}/mcp/local/acme/large`)
  const uriOf = (name: string) => `skill://local/acme/large/a/${name}`
  const { skill } = await new SkillsClient(client).get(uriOf('SKILL.md'))
  expect(JSON.stringify(skill)).toContain('more.bin')
  expect((await client.readResource({ uri: uriOf('most.bin') })).contents).toHaveLength(1)
  await expect(client.readResource({ uri: uriOf('more.bin') })).rejects.toThrow('more.bin is larger than 4194304 bytes')
  await client.close()
  await large.close()
})

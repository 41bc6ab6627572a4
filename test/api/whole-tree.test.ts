import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const TOOLS = '/local/acme/tools'
const LARGE = new Uint8Array(1024 * 1024 + 1).fill(65)

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/tools': {
      LICENSE: MIT,
      'README.md': '# Tools\n\nAll of them.\n',
      'SKILLSET.md': '---\nname: Tools\nexclude: [drafts/**, "*.secret", secret-link]\n---\nRule.\n',
      'AGENTS.md': '# Agents\n\nDo it well.\n',
      'CLAUDE.md': { link: 'AGENTS.md' },
      'GEMINI.md': { link: 'drafts/plan.md' },
      '.github/copilot-instructions.md': 'Be brief.\n',
      'docs/guide.md': '# Guide\n',
      'docs/AGENTS.md': '# Of the documents\n',
      'docs/code.ts': 'export const x = 1\n',
      'docs/huge.md': LARGE,
      'docs/latin.md': new Uint8Array([0xff, 0xfe, 0xff]),
      'docs/picture.png': new Uint8Array([0x89, 0x50]),
      'docs/to-code': { link: 'code.ts' },
      'docs/to-folder': { link: '../skills' },
      'docs/to-nowhere': { link: 'gone.md' },
      'docs/to-itself': { link: '.' },
      'docs/to-disk': { link: '/etc/passwd' },
      'docs/to-outside': { link: '../../other' },
      'docs/to-module': { link: '../vendor/module' },
      'docs/to-drafts': { link: '../drafts' },
      'docs/to-readme': { link: '../README.md' },
      'docs/to-closed': { link: '../closed/inner.md' },
      'secret-link': { link: 'README.md' },
      'drafts/plan.md': '# Plan\n',
      'drafts/deep/more.md': '# More\n',
      'keys/a.secret': 'a',
      'vendor/module': { submodule: '1'.repeat(40) },
      'closed/SKILLSET.md': '---\nname: x\n',
      'closed/inner.md': '# Inner\n',
      'closed/below/deep.md': '# Deep\n',
      'skills/pdf/SKILL.md': skillText('pdf'),
      'skills/pdf/scripts/run.sh': '#!/bin/sh\n',
      'skills/pdf/logo.png': new Uint8Array([0x89, 0x50]),
      'skills/own/SKILL.md': skillText('own', 'Body.\n', 'license: Proprietary\n'),
      'skills/own/notes.md': '# Notes\n',
      'skills/own/to-notes.md': { link: 'notes.md' },
      'skills/inner/SKILL.md': skillText('inner', 'Body.\n', 'metadata:\n  internal: true\n'),
      'skills/inner/part.md': '# Part\n',
      'shared/README.md': '# Shared\n',
      'shared/part.md': '# Part\n',
      'docs/to-shared': { link: '../shared' },
      'src/main.c': 'int main;\n',
      'src/deep/util.c': 'int util;\n',
    },
  })
  await app.open(TOOLS)
})
afterAll(() => app.close())

async function listed(path = '', address = TOOLS): Promise<Map<string, BrowseEntry>> {
  const { entries } = await app.askReady('browse', address, { ...(path !== '' && { path }), files: 'all', limit: 200 })
  return new Map(entries.map(entry => [entry.path.slice(path === '' ? 0 : path.length + 1), entry]))
}

const off = (why?: string) => ({ delivered: false, ...(why === undefined ? {} : { why }) })

test('the root has every entry of the tree that no manifest excludes, in byte order of the paths', async () => {
  const entries = await listed()
  expect([...entries.keys()]).toEqual([
    '.github',
    'AGENTS.md',
    'CLAUDE.md',
    'GEMINI.md',
    'LICENSE',
    'README.md',
    'SKILLSET.md',
    'closed',
    'docs',
    'shared',
    'skills',
    'src',
    'vendor',
  ])
  expect(entries.get('README.md')).toEqual({
    path: 'README.md',
    kind: 'file',
    size: 22,
    sha256: expect.any(String),
    title: 'Tools',
  })
  expect(entries.get('LICENSE')).toMatchObject({ kind: 'file', size: MIT.length, sha256: expect.any(String) })
  expect(entries.get('SKILLSET.md')).not.toHaveProperty('delivered')
  expect(entries.get('CLAUDE.md')).toMatchObject({ kind: 'file', target: 'AGENTS.md', sha256: expect.any(String) })
  expect(entries.get('CLAUDE.md')).not.toHaveProperty('why')
  // It leads to what is excluded.
  expect(entries.get('GEMINI.md')).toEqual({ path: 'GEMINI.md', kind: 'file', ...off('link') })
  const none = { skills: 0, documents: 0 }
  expect(entries.get('src')).toEqual({ path: 'src', kind: 'directory', counts: { ...none, files: 2 }, ...off() })
  expect(entries.get('.github')).toEqual({ path: '.github', kind: 'directory', counts: { ...none, files: 1 }, ...off() })
  expect(entries.get('vendor')).toEqual({ path: 'vendor', kind: 'directory', counts: { ...none, files: 0 }, ...off() })
  expect(entries.get('closed')).toEqual({ path: 'closed', kind: 'directory', counts: { ...none, files: 0 }, ...off() })
  expect(entries.get('skills')).toEqual({ path: 'skills', kind: 'directory', counts: { skills: 2, documents: 0, files: 8 } })
})

test('each entry that is not delivered says why, and where a link leads if that may be told', async () => {
  const docs = await listed('docs')
  const states = [...docs].map(([name, entry]) => [name, entry.kind, entry.why ?? null, entry.target ?? null])
  expect(states).toEqual([
    ['AGENTS.md', 'file', null, null],
    ['code.ts', 'file', 'not_delivered', null],
    ['guide.md', 'file', null, null],
    ['huge.md', 'file', 'too_large', null],
    ['latin.md', 'file', 'not_text', null],
    ['picture.png', 'file', 'not_delivered', null],
    ['to-closed', 'file', 'link', null],
    ['to-code', 'file', 'link', 'docs/code.ts'],
    ['to-disk', 'file', 'link', null],
    ['to-drafts', 'file', 'link', null],
    ['to-folder', 'file', 'link', 'skills'],
    ['to-itself', 'file', 'link', 'docs'],
    ['to-module', 'file', 'link', 'vendor/module'],
    ['to-nowhere', 'file', 'link', null],
    ['to-outside', 'file', 'link', null],
    ['to-readme', 'file', null, 'README.md'],
    // Its README is listed by default, so it is a folder there, too.
    ['to-shared', 'directory', null, 'shared'],
  ])
  for (const entry of docs.values()) expect(entry.delivered).toBe(entry.why === undefined ? undefined : false)
  expect(docs.get('code.ts')).toMatchObject({ size: 19 })
  expect(docs.get('to-disk')).not.toHaveProperty('size')
  expect((await listed('vendor')).get('module')).toEqual({
    path: 'vendor/module',
    kind: 'directory',
    counts: { skills: 0, documents: 0, files: 0 },
    ...off('submodule'),
  })
})

test('a withheld file is exactly one that files refuses with 403', async () => {
  const paths = [...(await listed('skills/own')).values(), ...(await listed('skills/pdf')).values(), ...(await listed()).values()]
  const files = paths.filter(({ kind }) => kind === 'file')
  for (const { path, why } of files) {
    const { status } = await app.get(`/api/v1/files${TOOLS}?path=${encodeURIComponent(path)}`)
    // Of several reasons a link is the first.
    if (why !== 'link') expect([path, status === 403]).toEqual([path, why === 'withheld'])
    expect([path, status === 200]).toEqual([path, why === undefined])
  }
  expect((await listed('skills/own')).get('to-notes.md')).toMatchObject({ why: 'link', target: 'skills/own/notes.md' })
  expect((await listed('skills')).get('own')).toMatchObject({ ...off(), describedOnly: true })
  expect((await listed('skills/pdf')).get('logo.png')).toMatchObject(off('not_text'))
})

test('an internal skill is told as a skill', async () => {
  const skill = { path: 'skills/inner/SKILL.md', name: 'inner', description: 'What inner does.', translations: {} }
  expect((await listed('skills')).get('inner')).toMatchObject({ kind: 'directory', skill, license: { name: 'MIT' } })
  expect((await listed('skills/inner')).get('SKILL.md')).toMatchObject({ kind: 'file', skill, sha256: expect.any(String) })
  expect((await listed('skills/inner')).get('part.md')).toMatchObject({ title: 'Part', size: 7 })
})

describe('the parameter files', () => {
  test('delivered is the same request as none, also for cursors', async () => {
    const [none, delivered] = await Promise.all([
      app.get(`/api/v1/browse${TOOLS}?limit=1`),
      app.get(`/api/v1/browse${TOOLS}?limit=1&files=delivered`),
    ])
    expect(delivered.json).toEqual(none.json)
    expect(JSON.stringify(none.json)).not.toMatch(/"delivered"|"why"|"target"|"files"/)
    const cursor = none.json.nextCursor
    expect((await app.get(`/api/v1/browse${TOOLS}?files=delivered&cursor=${cursor}`)).status).toBe(200)
    expect((await app.get(`/api/v1/browse${TOOLS}?files=all&cursor=${cursor}`)).status).toBe(400)
    const all = await app.get(`/api/v1/browse${TOOLS}?files=all&limit=1`)
    expect((await app.get(`/api/v1/browse${TOOLS}?cursor=${all.json.nextCursor}`)).status).toBe(400)
  })

  test.for(['', 'ALL', 'some', 'all&files=all'])('%s is refused', async files => {
    const answer = await app.get(`/api/v1/browse${TOOLS}?files=${files}`)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
  })

  test.for([1, 2, 3, 200])('pages of %i, joined, are the whole', async limit => {
    const paths: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const more: { cursor?: string } = cursor === '' ? {} : { cursor }
      const page: BrowsePage = await app.askReady('browse', TOOLS, { path: 'docs', files: 'all', limit, ...more })
      paths.push(...page.entries.map(({ path }) => path))
      cursor = page.nextCursor
    }
    expect(paths).toEqual([...(await listed('docs')).values()].map(({ path }) => path))
  })

  test('what is listed without it is listed with it, with the same fields', async () => {
    for (const path of ['', 'docs', 'skills', 'skills/pdf', 'skills/own', 'closed']) {
      const all = await listed(path)
      const { entries } = await app.askReady('browse', TOOLS, { ...(path !== '' && { path }) })
      for (const entry of entries) expect(all.get(entry.path.slice(path === '' ? 0 : path.length + 1))).toMatchObject(entry)
    }
  })
})

describe('a folder by its path', () => {
  test.for(['src', 'src/deep', 'vendor', '.github', 'skills/inner'])('%s, where nothing is listed, is there', async path => {
    expect((await app.askReady('browse', TOOLS, { path })).entries).toEqual([])
    expect((await app.get(`/api/v1/mounts${TOOLS}/${path}`)).status).toBe(200)
    expect((await listed(path)).size).toBeGreaterThan(0)
  })

  test('a link to a folder has what that has', async () => {
    expect([...(await listed('docs/to-folder')).keys()]).toEqual(['inner', 'own', 'pdf'])
    expect((await listed('docs/to-folder/pdf')).get('SKILL.md')).toMatchObject({ kind: 'file', sha256: expect.any(String) })
  })

  test.for([
    'drafts',
    'drafts/deep',
    'keys',
    'closed/below',
    'vendor/module',
    'docs/to-nowhere',
    'docs/to-itself',
    'docs/to-drafts',
    'docs/to-code',
    'docs/guide.md',
    'CLAUDE.md',
    'nowhere',
  ])('%s is none', async path => {
    const absent = await app.get(`/api/v1/browse${TOOLS}?path=gone`)
    for (const files of ['', '&files=all', '&files=delivered']) {
      const answer = await app.get(`/api/v1/browse${TOOLS}?path=${path}${files}`)
      expect([answer.status, answer.json]).toEqual([404, absent.json])
    }
    expect((await app.get(`/api/v1/mounts${TOOLS}/${path}`)).json).toEqual(absent.json)
  })
})

describe('readFirst', () => {
  const readFirst = async (address: string) => {
    const { index } = await app.ask('mounts', address)
    return index.status === 'ready' ? index.readFirst : null
  }

  test('has the files that agents read first, in their order, with tokens of what is delivered', async () => {
    expect(await readFirst(TOOLS)).toEqual({
      files: [
        { path: 'AGENTS.md', size: 22, tokens: expect.any(Number), delivered: true },
        { path: 'CLAUDE.md', size: 22, tokens: expect.any(Number), target: 'AGENTS.md', delivered: true },
        { path: 'GEMINI.md', delivered: false },
        { path: '.github/copilot-instructions.md', size: 10, delivered: false },
      ],
      nested: 1,
    })
  })

  test('is of the mounted folder, and names no path outside of it', async () => {
    expect(await readFirst(`${TOOLS}/docs`)).toMatchObject({ files: [{ path: 'docs/AGENTS.md', delivered: true }], nested: 0 })
    expect(await readFirst(`${TOOLS}/skills`)).toEqual({ files: [], nested: 0 })
  })
})

test('a mount below the root names nothing above it', async () => {
  const docs = await listed('', `${TOOLS}/docs`)
  expect([...docs.values()].filter(({ target }) => target !== undefined).map(({ path, target }) => [path, target])).toEqual([
    ['docs/to-code', 'docs/code.ts'],
  ])
})

test('nothing of what is excluded or closed is in an answer', async () => {
  const folders = ['', 'docs', 'skills', 'vendor', 'src', '.github', 'closed', 'docs/to-folder']
  const answers = await Promise.all(
    folders.map(path => app.askReady('browse', TOOLS, { ...(path !== '' && { path }), files: 'all' })),
  )
  const mounts = await Promise.all(['', '/docs', '/closed'].map(path => app.ask('mounts', `${TOOLS}${path}`)))
  const said = JSON.stringify([answers.map(({ entries }) => entries), mounts])
  expect(said).not.toMatch(/drafts\/|"drafts|plan\.md|"keys|a\.secret|secret-link|inner\.md|closed\/below|passwd|"other"|\.\.\//)
})

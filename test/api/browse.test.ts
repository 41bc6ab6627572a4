import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { mistyped } from '#test/support/mistyped.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

let app: TestApp
beforeAll(async () => {
  const many = Object.fromEntries(
    Array.from({ length: 230 }, (_, number) => [`many/${String(number).padStart(3, '0')} é🎻.md`, `# ${number}\n`]),
  )
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'README.md': '# Welcome\n\nTo the handbook.\n',
      'skills/SKILLSET.md': '---\nname: Skills\ndescription: All of them.\n---\nRule.\n',
      'skills/README.md': '# About skills\n',
      'skills/pdf/SKILL.md': skillText('pdf'),
      'skills/pdf/notes.txt': 'notes',
      'skills/secret/SKILL.md': skillText('secret', 'Hidden.\n', 'license: Proprietary\n'),
      'src/main.c': 'int main;\n',
      'closed/SKILLSET.md': '---\nname: x\n',
      'closed/inner/a.md': '# A\n',
      ...many,
    },
  })
  await app.open('/local/acme/handbook')
})
afterAll(() => app.close())

test('the root shows folders with eligible content, their counts, manifests and overviews, and its own overview', async () => {
  const page = await app.askReady('browse', '/local/acme/handbook')
  expect(page).toMatchObject({
    status: 'ready',
    commit: app.commitOf('acme/handbook'),
    path: '',
    overview: { path: 'README.md', title: 'Welcome', description: 'To the handbook.' },
    nextCursor: null,
  })
  const entries = new Map(page.entries.map(entry => [entry.path, entry]))
  expect(entries.get('skills')).toMatchObject({
    kind: 'directory',
    counts: { skills: 2, documents: 0 },
    manifest: { path: 'skills/SKILLSET.md', name: 'Skills', description: 'All of them.' },
    overviewPath: 'skills/README.md',
  })
  expect(entries.get('many')).toMatchObject({ counts: { skills: 0, documents: 230 } })
  expect(entries.get('closed')).toMatchObject({ kind: 'directory', counts: { skills: 0, documents: 0 } })
  expect(entries.has('src')).toBe(false)
  expect(page.diagnostics).toMatchObject([{ code: 'manifest.unreadable', path: 'closed/SKILLSET.md', boundary: 'closed' }])
})

test('skill folders carry the skill and its license, and a described-only skill is marked', async () => {
  const { entries } = await app.askReady('browse', '/local/acme/handbook', { path: 'skills' })
  expect(entries.find(entry => entry.path === 'skills/pdf')).toMatchObject({
    skill: { path: 'skills/pdf/SKILL.md', name: 'pdf', description: 'What pdf does.' },
    license: { kind: 'open', name: 'MIT' },
  })
  expect(entries.find(entry => entry.path === 'skills/pdf')).not.toHaveProperty('describedOnly')
  expect(entries.find(entry => entry.path === 'skills/secret')).toMatchObject({
    describedOnly: true,
    license: { kind: 'restricted' },
  })
  const inside = await app.askReady('browse', '/local/acme/handbook/skills/pdf')
  expect(inside.entries).toMatchObject([
    { path: 'skills/pdf/SKILL.md', kind: 'file', skill: { name: 'pdf' }, license: { name: 'MIT' } },
    { path: 'skills/pdf/notes.txt', kind: 'file', size: 5 },
  ])
})

test.for([1, 7, 50, 200])('pages of %i entries, joined, are the folder in byte order of its paths', async limit => {
  const entries: BrowseEntry[] = []
  for (let cursor: string | null = '', pages = 0; cursor !== null; pages++) {
    expect(pages).toBeLessThan(300)
    const page: BrowsePage = await app.askReady('browse', '/local/acme/handbook', {
      path: 'many',
      limit,
      ...(cursor !== '' && { cursor }),
    })
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    entries.push(...page.entries)
    cursor = page.nextCursor
  }
  expect(entries.map(entry => entry.path)).toEqual(
    Array.from({ length: 230 }, (_, number) => `many/${String(number).padStart(3, '0')} é🎻.md`),
  )
})

test('limit may change between pages, and 50 is the default', async () => {
  const first = await app.askReady('browse', '/local/acme/handbook/many')
  expect(first.entries).toHaveLength(50)
  const second = await app.askReady('browse', '/local/acme/handbook/many', { cursor: String(first.nextCursor), limit: 3 })
  expect(second.entries.map(entry => entry.path)).toEqual(['many/050 é🎻.md', 'many/051 é🎻.md', 'many/052 é🎻.md'])
})

test('a cursor is refused for another folder, mount, route or commit, and after any edit', async () => {
  const { nextCursor } = await app.askReady('browse', '/local/acme/handbook', { path: 'many' })
  const cursor = String(nextCursor)
  const refuse = async (url: string) => {
    const answer = await app.get(url)
    expect([url, answer.status, answer.json.error.code]).toEqual([url, 400, 'request.invalid'])
  }
  const commit = app.commitOf('acme/handbook')
  const base = '/api/v1/browse/local/acme/handbook'
  await refuse(`${base}?path=skills&cursor=${cursor}`)
  await refuse(`${base}?cursor=${cursor}`)
  await refuse(`${base}/many?cursor=${cursor}`)
  await refuse(`/api/v1/find/local/acme/handbook?query=x&path=many&cursor=${cursor}`)
  await refuse(`/api/v1/skills/local/acme/handbook?path=skills/pdf/SKILL.md&cursor=${cursor}`)
  await refuse(`${base}?path=many&cursor=`)
  await refuse(`${base}?path=many&cursor=${cursor}A`)
  await refuse(`${base}?path=many&cursor=${cursor.slice(0, -1)}`)
  await refuse(`${base}?path=many&cursor=${mistyped(cursor, 9)}`)
  // The same snapshot under another ref is the same snapshot.
  expect((await app.get(`${base}@${commit}?path=many&cursor=${cursor}`)).status).toBe(200)

  await app.repository('acme/handbook').commit({ 'new.md': '# New\n' }, { branch: 'moved', parent: commit })
  await app.open('/local/acme/handbook@moved')
  await refuse(`${base}@moved?path=many&cursor=${cursor}`)
})

test.for([
  ['a folder that is not there', '', 'nowhere', 404, 'mount.path_not_found'],
  ['a file', '', 'README.md', 404, 'mount.path_not_found'],
  ['a folder outside the mount', '/skills', 'many', 404, 'mount.path_not_found'],
  ['the root, from a mounted folder', '/skills', '', 404, 'mount.path_not_found'],
  ['a folder that only begins like the mount', '/skills/pdf', 'skills/pdfs', 404, 'mount.path_not_found'],
  ['a path with a slash at its end', '', 'skills/', 400, 'request.invalid'],
  ['a path with a slash at its beginning', '', '/skills', 400, 'request.invalid'],
  ['a path that climbs', '', 'skills/../src', 400, 'request.invalid'],
  ['a path with a NUL', '', 'skills\0', 400, 'request.invalid'],
] as const)('%s answers %s?path=%s with its code', async ([, mount, path, status, code]) => {
  for (const [route, more] of [
    ['browse', ''],
    ['find', '&query=x'],
  ]) {
    const answer = await app.get(`/api/v1/${route}/local/acme/handbook${mount}?path=${encodeURIComponent(path)}${more}`)
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
  }
})

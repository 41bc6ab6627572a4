/* The whole tree of hostile repositories: many files, long names, links that lead to each other. */
import { expect, test } from 'vitest'
import type { BrowsePage } from '#core/contract/browse.ts'
import type { TestFile } from '#test/support/repository.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { app, open, overviewOf, useTrapScene } from './trap-scene.ts'

useTrapScene()

async function namesIn(address: string, path?: string): Promise<string[]> {
  const names: string[] = []
  let cursor: string | null = null
  do {
    const page: BrowsePage = await app.askReady('browse', address, {
      files: 'all',
      limit: 200,
      ...(path === undefined ? {} : { path }),
      ...(cursor ? { cursor } : {}),
    })
    names.push(...page.entries.map(entry => entry.path))
    cursor = page.nextCursor
  } while (cursor)
  return names
}

test('20,000 other files in one folder are listed in pages, and the default answer is as before', async () => {
  const sources = Array.from({ length: 20_000 }, (_, index) => `src/${String(index).padStart(5, '0')}.c`)
  const address = await open({
    LICENSE: MIT,
    'a/SKILL.md': skillText('a'),
    ...Object.fromEntries(sources.map(path => [path, 'int x;\n'])),
  })
  expect(await namesIn(address, 'src')).toEqual(sources)
  const { entries } = await app.askReady('browse', address, { files: 'all' })
  expect(entries.find(({ path }) => path === 'src')).toMatchObject({ counts: { files: 20_000 }, delivered: false })
  expect((await app.askReady('browse', address)).entries.map(({ path }) => path)).toEqual(['a'])
}, 60_000)

test('names of 200 characters, of HTML and of right-to-left and combining characters are names', async () => {
  const names = [
    'a'.repeat(200),
    '<b>x<b>&amp;.c',
    'שלום.c',
    'e\u0301\u0301\u0301.c',
    '\u202egpj.exe',
    '%2e%2e',
    'a b\u00a0c',
    '$&',
    '__proto__',
  ]
  const address = await open({ LICENSE: MIT, ...Object.fromEntries(names.map(name => [`x/${name}`, 'x'])) })
  const sorted = names.map(name => `x/${name}`).sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
  expect(await namesIn(address, 'x')).toEqual(sorted)
  for (const path of sorted) {
    const { status, json } = await app.get(`/api/v1/files${address}?path=${encodeURIComponent(path)}`)
    expect([path, status, json.error.code, json.error.sourceUrl.endsWith(encodeURIComponent(path.slice(2)))]).toEqual([
      path,
      404,
      'file.not_found',
      true,
    ])
  }
})

test('2,000 links, and links that lead to each other, are listed once and multiply nothing', async () => {
  const links: Record<string, TestFile> = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`links/${String(index).padStart(4, '0')}`, { link: `../deep/${index % 10}` }]),
  )
  // Each folder links to all others: followed without end, they would be 10 to the power of 10.
  const deep: Record<string, TestFile> = Object.fromEntries(
    Array.from({ length: 10 }, (_, from) => from).flatMap(from => [
      [`deep/${from}/source.c`, 'int x;\n'] as const,
      ...Array.from({ length: 10 }, (_, to) => [`deep/${from}/to-${to}`, { link: `../${to}` }] as const),
    ]),
  )
  const address = await open({
    LICENSE: MIT,
    'a.md': { link: 'b.md' },
    'b.md': { link: 'a.md' },
    'self.md': { link: 'self.md' },
    loop: { link: '.' },
    ...links,
    ...deep,
  })
  expect(await namesIn(address)).toEqual(['LICENSE', 'a.md', 'b.md', 'deep', 'links', 'loop', 'self.md'])
  const listed = await namesIn(address, 'links')
  expect(listed).toEqual(Object.keys(links))
  const { entries } = await app.askReady('browse', address, { files: 'all' })
  const counts = new Map(entries.map(entry => [entry.path, entry.kind === 'directory' ? entry.counts.files : entry.target]))
  expect([counts.get('links'), counts.get('deep')]).toEqual([2_000, 110])
  for (const name of ['a.md', 'b.md', 'self.md', 'loop']) expect([name, counts.get(name)]).toEqual([name, undefined])
  expect((await overviewOf(address)).counts).toEqual({ skills: 0, documents: 0 })
}, 60_000)

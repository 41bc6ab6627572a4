import { describe, expect, test } from 'vitest'
import { walkFolders } from '#test/support/joined.ts'
import { endpointUrl } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { app, codeOf, codes, open, overviewOf, skillOf, useTrapScene } from './trap-scene.ts'

useTrapScene()

describe('links of the tree', () => {
  test('a SKILL.md, README or LICENSE that is a link to itself or dangling is missing, without other effects', async () => {
    const address = await open({
      'a/SKILL.md': skillText('a'),
      'a/LICENSE': { link: 'LICENSE' },
      'b/SKILL.md': { link: '../a/SKILL.md' },
      'c/SKILL.md': { link: 'SKILL.md' },
      'd/SKILL.md': { link: '../gone/SKILL.md' },
      'd/README.md': { link: '../a/SKILL.md' },
      'README.md': { link: 'docs/README.md\n' },
      'docs/README.md': '# Docs\n',
      'docs/up.md': { link: '../../../../etc/passwd' },
      'docs/absolute.md': { link: '/etc/passwd' },
    })
    const overview = await overviewOf(address)
    expect(overview.skills.map(({ path, license }) => [path, license.kind, license.source])).toEqual([
      ['a/SKILL.md', 'open', 'LICENSE'],
    ])
    const browsed = await app.askReady('browse', address)
    expect(browsed).not.toHaveProperty('overview')
    expect(browsed.entries.map(({ path }) => path)).toEqual(['a', 'd', 'docs'])
    for (const path of ['c/SKILL.md', 'd/SKILL.md', 'README.md', 'docs/up.md', 'docs/absolute.md', 'a/LICENSE'])
      expect(await codeOf(address, path)).toBe('file.not_found')
  })

  test('a link of a folder to skills lists none of them twice', async () => {
    const address = await open({
      'skills/a/SKILL.md': skillText('a'),
      '.agents/skills': { link: '../skills' },
      '.claude/skills': { link: '../.agents/skills' },
      loop: { link: '.' },
    })
    expect((await overviewOf(address)).skills.map(({ path, warnings }) => [path, warnings])).toEqual([['skills/a/SKILL.md', []]])
    expect(await codeOf(address, '.claude/skills/a/SKILL.md')).toBe('ok')
    expect(await codeOf(address, 'loop/skills/a/SKILL.md')).toBe('file.not_found')
  })

  test('a link of a license to a text in the repository counts, a self-link leaves the one above', async () => {
    const address = await open({
      LICENSE: 'All rights reserved.\n',
      'licenses/MIT.txt': MIT,
      'a/LICENSE': { link: '../licenses/MIT.txt' },
      'a/SKILL.md': skillText('a'),
      'b/LICENSE': { link: 'LICENSE' },
      'b/SKILL.md': skillText('b'),
    })
    expect((await overviewOf(address)).skills.map(({ license }) => license.kind)).toEqual(['open', 'restricted'])
  })

  test('a submodule is named and not entered', async () => {
    const address = await open({
      'skills/sub': { submodule: 'a'.repeat(40) },
      'skills/a/SKILL.md': skillText('a'),
      'SKILLSET.md/x.md': '# X\n',
    })
    const overview = await overviewOf(address)
    expect(overview.diagnostics).toMatchObject([{ code: 'tree.submodule', severity: 'info', path: 'skills/sub' }])
    expect((await app.get(endpointUrl('mounts', `${address}/skills/sub`))).json.error.code).toBe('mount.path_not_found')
    expect(await codeOf(address, 'skills/sub')).toBe('file.not_found')
  })

  test('a missing blob is a diagnostic, and the rest of the repository is served', async () => {
    const address = await open(
      { 'a/SKILL.md': skillText('a', '[x](x.md)\n'), 'a/x.md': '# X gone\n', 'b.md': '# B\n' },
      async (repository, commit) => repository.dropObject(await repository.oidAt(commit, 'a/x.md')),
    )
    expect(codes((await overviewOf(address)).diagnostics)).toEqual(['file.unreadable'])
    expect(await codeOf(address, 'a/x.md')).toBe('file.not_found')
    expect((await skillOf(address)).references).toEqual([])
  })
})

describe('names', () => {
  const NAMES = [
    '%5Bboop%5D.md',
    'c++.md',
    '%.md',
    'a b.md',
    'e\u0301.md',
    '\u00e9.md',
    '~.md',
    '!.md',
    '#x.md',
    '-x.md',
    '[x].md',
    "it's.md",
    'a&b=c.md',
    'narrow\u202Fspace.md',
    '🙂.md',
    '漢字.md',
  ]

  test('odd names are listed, found and read unchanged, decoded exactly once', async () => {
    const address = await open(Object.fromEntries(NAMES.map(name => [`docs/${name}`, `# Garden ${name.length}\n`])))
    const listed = (await walkFolders({ get: (name, at, query) => app.ask(name, at, query) }, address, 'docs')).map(
      ({ path }) => path,
    )
    expect(listed.toSorted()).toEqual(NAMES.map(name => `docs/${name}`).toSorted())
    for (const path of listed) expect(await codeOf(address, path)).toBe('ok')
    expect(await codeOf(address, 'docs/[boop].md')).toBe('file.not_found')
    expect(await codeOf(address, 'docs/%255Bboop%255D.md')).toBe('file.not_found')
  })

  test('folders of odd names can be mounted', async () => {
    const folders = ['%5Bx%5D', 'a b', 'c++', 'e\u0301', '#', "special_dir  !@$^&()_+-=;',"]
    const address = await open(Object.fromEntries(folders.map(folder => [`${folder}/page.md`, '# Page\n'])))
    for (const folder of folders) {
      const { index, path } = await app.ask('mounts', `${address}/${encodeURIComponent(folder)}`)
      expect({ path, counts: index.status === 'ready' && index.counts }).toEqual({
        path: folder,
        counts: { skills: 0, documents: 1 },
      })
    }
  })

  test('files whose names differ in case only are two', async () => {
    const address = await open({
      'docs/Page.md': '# Upper\n',
      'docs/page.md': '# Lower\n',
      'a/SKILL.md': skillText('a'),
      'A/SKILL.md': skillText('A'),
    })
    expect(await overviewOf(address)).toMatchObject({
      counts: { skills: 2, documents: 2 },
      documents: [{ title: 'Upper' }, { title: 'Lower' }],
    })
  })

  test('a link finds a name with escapes as written first, decoded once after that', async () => {
    const address = await open({
      'a/SKILL.md': skillText('a', '[1](%5Bx%5D.md) [2](%5By%5D.md) [3](a%20b.md) [4](%255Bz%255D.md)\n'),
      'a/%5Bx%5D.md': '# X\n',
      'a/[x].md': '# Other\n',
      'a/[y].md': '# Y\n',
      'a/a b.md': '# B\n',
      'a/[z].md': '# Z\n',
    })
    const skill = await skillOf(address)
    expect(skill.references).toEqual(['a/%5Bx%5D.md', 'a/[y].md', 'a/a b.md'])
    expect(codes(skill.warnings)).toEqual(['reference.broken'])
  })

  test('300 nested folders are left out, and the index is partial', async () => {
    const address = await open({ [`${'d/'.repeat(300)}SKILL.md`]: skillText('d'), [`${'e/'.repeat(62)}page.md`]: '# Deep\n' })
    const overview = await overviewOf(address)
    expect(overview).toMatchObject({ truncated: true, counts: { skills: 0, documents: 1 } })
    expect(codes(overview.diagnostics)).toEqual(['tree.limit'])
  })
})

test('a path that differs in Unicode normalization or in case links to the existing one', async () => {
  const [decomposed, composed] = ['cafe\u0301', 'caf\u00e9']
  const address = await open({
    [`docs/${decomposed}/menu.md`]: '# Menu\n',
    [`skills/${decomposed}/SKILL.md`]: skillText('cafe'),
    'a/SKILL.md': skillText('a', `[menu](../docs/${composed}/menu.md) [menu](../Docs/${decomposed}/menu.md)\n`),
  })
  expect((await skillOf(address)).warnings).toMatchObject([
    { code: 'reference.broken', message: expect.stringContaining('another Unicode normalization (NFC or NFD)') },
    { code: 'reference.broken', message: expect.stringContaining(`docs/${decomposed}/menu.md differs in upper and lower case`) },
  ])
  for (const path of [`skills/${composed}/SKILL.md`, `skills/${composed}`, `Skills/${decomposed}/skill.md`]) {
    const { status, json } = await app.get(endpointUrl('skills', address, { path }))
    expect([status, json.error.message]).toEqual([
      404,
      `there is no skill at this path; did you mean skills/${decomposed}/SKILL.md?`,
    ])
  }
})

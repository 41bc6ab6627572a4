/*
 * Traps of real repositories, each once: what files contain here, their places and names in odd-trees.test.ts. Those that need no whole
 * repository are tested beside the rule they belong to:
 *
 * - `---` inside the body, `...` as the end, numbers as names, 5,000 brackets, aliases, tags: unit/indexer/rules/front-matter.test.ts
 * - unquoted colons, `[a] [b]`, `@` in front matter: unit/indexer/rules/front-matter.test.ts
 * - everything that makes a manifest unreadable, word by word: unit/indexer/rules/manifest.test.ts
 * - an excluded, oversized, binary or described-only include: indexer/snapshot.test.ts
 * - a blob of a gibibyte, a tree bomb, names that are not UTF-8: indexer/snapshot-odd-repositories.test.ts
 * - texts that only look like a license, 40 and more: unit/indexer/rules/license-lookalikes.test.ts
 * - links and conflicts among license files: unit/indexer/rules/license-files.test.ts
 * - hidden characters: unit/indexer, and on pages site/hidden-characters.test.ts
 * - exclusions against git itself: properties/exclusions.test.ts
 */
import { describe, expect, test } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { endpointUrl } from '#test/support/test-app.ts'
import { MIT, skillText } from '../api/support/texts.ts'
import { app, codeOf, codes, open, overviewOf, skillOf, useTrapScene } from './trap-scene.ts'

useTrapScene()

describe('front matter', () => {
  test('CRLF: fields are read, and the body keeps its line ends to the byte', async () => {
    const address = await open({ 'a/SKILL.md': '---\r\nname: a\r\ndescription: Windows.\r\n---\r\nOne.\r\nTwo.\r\n' })
    expect(await skillOf(address)).toMatchObject({ name: 'a', description: 'Windows.', body: 'One.\r\nTwo.\r\n', warnings: [] })
  })

  test('a byte order mark: fields are read, the mark is no part of the body, and there is a warning', async () => {
    const address = await open({ 'a/SKILL.md': `\uFEFF${skillText('a', 'Body.\n')}`, 'b/SKILL.md': '\uFEFFNo front matter.\n' })
    const skill = await skillOf(address)
    expect(skill).toMatchObject({ name: 'a', body: 'Body.\n' })
    expect(codes(skill.warnings)).toEqual(['encoding.bom'])
    expect((await skillOf(address, 'b/SKILL.md')).body).toBe('No front matter.\n')
    expect((await app.ask('files', address, { path: 'a/SKILL.md' })).content.startsWith('\uFEFF---')).toBe(true)
  })

  test('a rule inside the body ends nothing', async () => {
    const address = await open({ 'a/SKILL.md': skillText('a', 'One.\n---\nTwo.\n---\n') })
    expect((await skillOf(address)).body).toBe('One.\n---\nTwo.\n---\n')
  })

  test.for<[string, string, string, unknown]>([
    ['three dots at the end', '---\nname: a\ndescription: Dots.\n...\nBody.\n', 'Dots.', ['skill.not_installable']],
    [
      'a number for a name',
      '---\nname: 3000\ndescription: Number.\n---\nBody.\n',
      'Number.',
      ['name.directory_mismatch', 'skill.not_installable'],
    ],
    ['a folded description', '---\nname: a\ndescription: >\n  Folded\n  text.\n---\nBody.\n', 'Folded text.', []],
    [
      'an unquoted colon',
      '---\nname: a\ndescription: Use when: it rains\n---\nBody.\n',
      'Use when: it rains',
      ['front_matter.repaired'],
    ],
    [
      'bracketed hints',
      '---\nname: a\ndescription: Hint.\nargument-hint: [x] [y]\n---\nBody.\n',
      'Hint.',
      ['front_matter.repaired'],
    ],
    ['an anchor', '---\nname: &n a\ndescription: Anchor.\n---\nBody.\n', 'Anchor.', []],
    [
      'an alias',
      '---\nname: &n a\ndescription: *n\n---\nBody.\n',
      '*n',
      ['front_matter.repaired', 'name.invalid', 'name.directory_mismatch'],
    ],
    ['duplicate keys', '---\nname: a\nname: b\n---\nBody.\n', 'Body.', ['front_matter.repaired', 'description.missing']],
    ['5,000 brackets', `---\nname: ${'['.repeat(5_000)}\n---\nBody.\n`, 'Body.', undefined],
    [
      '17 KiB of it',
      `---\nname: a\nx: ${'y'.repeat(17 * 1024)}\n---\nBody.\n`,
      'Body.',
      ['front_matter.invalid', 'name.missing', 'description.missing'],
    ],
    [
      '17 levels',
      `---\nname: a\ndescription: Deep.\nx: ${'['.repeat(17)}${']'.repeat(17)}\n---\nBody.\n`,
      'Deep.',
      ['front_matter.repaired'],
    ],
  ])('%s: the skill is there, its body whole', async ([_name, text, description, warnings]) => {
    const skill = await skillOf(await open({ 'a/SKILL.md': text }))
    expect(skill).toMatchObject({ body: 'Body.\n', description })
    if (warnings !== undefined) expect(codes(skill.warnings)).toEqual(warnings)
  })

  test('__proto__ and constructor are keys like any other, and reach nothing', async () => {
    const keys =
      '__proto__: { name: evil, internal: yes }\nconstructor: { x: y }\nmetadata: { __proto__: { internal: "yes" }, toString: x }\n'
    const address = await open({
      'a/SKILL.md': skillText('a', 'Body.\n', keys),
      'm/SKILLSET.md': '---\n__proto__: { exclude: [page.md] }\nname: m\n---\n',
      'm/page.md': '# Page\n',
    })
    expect(await overviewOf(address)).toMatchObject({ counts: { skills: 1, documents: 1 } })
    const { json } = await app.get(endpointUrl('skills', address, { path: 'a/SKILL.md' }))
    expect(json.skill).toMatchObject({ name: 'a', body: 'Body.\n' })
    expect(Object.keys(json.skill.frontMatter)).toEqual(['metadata'])
    expect(({} as { name?: unknown }).name).toBeUndefined()
  })
})

describe('manifests', () => {
  test.for<[string, TestFile]>([
    ['no closing line', '---\nname: x\n'],
    ['invalid YAML', '---\nname: a: b\n---\n'],
    ['a list', '---\n- a\n---\n'],
    ['duplicate keys', '---\nexclude: [a]\nexclude: [b]\n---\n'],
    ['an alias', '---\nname: &n a\ndescription: *n\n---\n'],
    ['deep nesting', `---\nx: ${'['.repeat(5_000)}\n---\n`],
    ['an exclude list that is no list', '---\nexclude: drafts/\n---\n'],
    ['65 KiB', `---\nname: x\n---\n${'r'.repeat(65 * 1024)}\n`],
    ['UTF-16', new Uint8Array(Buffer.from('\uFEFF---\nname: x\n---\n', 'utf16le'))],
    ['a symlink to nothing', { link: 'none.md' }],
    ['a symlink to itself', { link: 'SKILLSET.md' }],
    ['a symlink to a folder', { link: 'a' }],
    ['a pointer to large storage', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'],
  ])('at the root, %s closes the whole repository, and the index is ready', async ([_name, manifest]) => {
    const address = await open({
      'SKILLSET.md': manifest,
      'rules.md': '---\nname: x\n---\n',
      'a/SKILL.md': skillText('a'),
      'b.md': '# B\n',
    })
    const overview = await overviewOf(address)
    expect(overview).toMatchObject({ counts: { skills: 0, documents: 0 }, skills: [], documents: [] })
    expect(overview.diagnostics).toMatchObject([
      { code: 'manifest.unreadable', severity: 'error', path: 'SKILLSET.md', boundary: '' },
    ])
    expect((await app.askReady('browse', address)).entries).toEqual([])
    expect((await app.askReady('find', address, { query: 'b' })).items).toEqual([])
    for (const path of ['b.md', 'rules.md', 'LICENSE', 'SKILLSET.md', 'a/SKILL.md'])
      expect(await codeOf(address, path)).toBe('file.not_found')
    expect((await app.get(endpointUrl('mounts', `${address}/a`))).json.error.code).toBe('mount.path_not_found')
  })

  test('a missing blob of a manifest closes its folder', async () => {
    const address = await open(
      { 'm/SKILLSET.md': '---\nname: gone\n---\n', 'm/a.md': '# A\n', 'b.md': '# B\n' },
      async (repository, commit) => repository.dropObject(await repository.oidAt(commit, 'm/SKILLSET.md')),
    )
    const overview = await overviewOf(address)
    expect(overview.documents.map(({ path }) => path)).toEqual(['b.md'])
    expect(overview.diagnostics).toMatchObject([
      { code: 'manifest.unreadable', boundary: 'm', message: expect.stringContaining('missing') },
    ])
  })

  test('a manifest of exactly 64 KiB is read', async () => {
    const head = '---\nname: x\n---\n'
    const address = await open({ 'SKILLSET.md': head + 'r'.repeat(64 * 1024 - head.length), 'a/SKILL.md': skillText('a') })
    expect((await overviewOf(address)).counts.skills).toBe(1)
  })

  test('no deeper manifest lifts an exclusion of an ancestor', async () => {
    const address = await open({
      'SKILLSET.md': '---\nexclude: ["*.md", "!SKILL.md"]\n---\n',
      'x/SKILLSET.md': '---\nexclude: ["!*.md", "!/page.md"]\n---\n',
      'x/page.md': '# Page\n',
      'x/a/SKILL.md': skillText('a'),
    })
    expect(await overviewOf(address)).toMatchObject({ counts: { skills: 1, documents: 0 } })
    expect(await codeOf(address, 'x/page.md')).toBe('file.not_found')
    expect(await codeOf(`${address}/x`, 'x/page.md')).toBe('file.not_found')
  })

  test('a skill with an excluded include is never complete, and the include is named nowhere', async () => {
    const address = await open({
      'SKILLSET.md': '---\nexclude: [hushed.md]\n---\n',
      'hushed.md': 'Hushed.\n',
      'a/SKILL.md': skillText('a', 'Body.\n', 'include: [/hushed.md]\n'),
    })
    const page = await app.askReady('skills', address, { path: 'a/SKILL.md' })
    expect(page).toMatchObject({ complete: false, diagnostics: [{ code: 'include.excluded', severity: 'error' }] })
    expect(page).not.toHaveProperty('nextCursor')
    expect(JSON.stringify(page)).not.toContain('hushed')
  })

  test('a catalogue named SKILLSET.md, without front matter, is a document', async () => {
    const address = await open({ 'SKILLSET.md': '# Catalogue\n\n- one\n', 'a/SKILL.md': skillText('a') })
    expect(await overviewOf(address)).toMatchObject({
      counts: { skills: 1, documents: 1 },
      documents: [{ path: 'SKILLSET.md', title: 'Catalogue' }],
    })
    expect(codes((await overviewOf(address)).diagnostics)).toEqual(['manifest.no_front_matter'])
  })
})

describe('skills', () => {
  test('nested skills and one at the root each own the files nearest to them', async () => {
    const address = await open({
      'SKILL.md': skillText('root'),
      'references/r.md': '# R\n',
      'docs/guide.md': '# Guide\n',
      'skills/a/SKILL.md': skillText('a'),
      'skills/a/x.md': '# X\n',
      'skills/a/inner/SKILL.md': skillText('inner'),
      'skills/a/inner/y.md': '# Y\n',
    })
    expect((await skillOf(address, 'SKILL.md')).files).toEqual(['LICENSE', 'references/r.md'])
    expect(await skillOf(address, 'skills/a/SKILL.md')).toMatchObject({
      files: ['skills/a/x.md'],
      references: ['skills/a/inner/SKILL.md'],
    })
    expect((await skillOf(address, 'skills/a/inner/SKILL.md')).files).toEqual(['skills/a/inner/y.md'])
    expect((await overviewOf(address)).documents.map(({ path }) => path)).toEqual(['docs/guide.md'])
  })

  test('other spellings of SKILL.md are documents with a warning', async () => {
    const address = await open({ 'web/skill.md': '# A page\n', 'b/Skill.md': '# B\n', 'c/SKILL.MD': '# C\n' })
    expect(await overviewOf(address)).toMatchObject({ counts: { skills: 0, documents: 3 } })
    expect(codes((await overviewOf(address)).diagnostics)).toEqual(['skill.file_name', 'skill.file_name', 'skill.file_name'])
  })
})

describe('licenses', () => {
  test.for<[string, Record<string, TestFile>, string]>([
    [
      'a heading of MIT over the Commons Clause',
      {
        LICENSE: `${MIT}\n\n"Commons Clause" License Condition v1.0\n\nThe License does not grant to you, the right to Sell the Software.\n`,
      },
      'unknown',
    ],
    [
      'MIT and one sentence more',
      { LICENSE: `${MIT}\nYou may not use the Software to train machine learning models.\n` },
      'unknown',
    ],
    [
      'an exception for images',
      { LICENSE: `This license applies to all files except for all image files.\n\n${MIT}` },
      'unknown',
    ],
    [
      'a file that is not there',
      { 'a/SKILL.md': skillText('a', 'Body.\n', 'license: Complete terms in LICENSE.txt\n') },
      'unknown',
    ],
    [
      'words that forbid, next to an open text',
      { 'a/SKILL.md': skillText('a', 'Body.\n', 'license: Proprietary. LICENSE.txt has complete terms\n'), 'a/LICENSE.txt': MIT },
      'restricted',
    ],
    ['a link of the license to itself, and nothing above', { LICENSE: { link: 'LICENSE' } }, 'none'],
    ['a binary called LICENSE', { LICENSE: new Uint8Array([0, 1, 2, 3]) }, 'unknown'],
    [
      'a manual page called license.md',
      { LICENSE: null, 'a/SKILL.md': skillText('a'), 'pages/license.md': '# license\n\nMIT\n' },
      'none',
    ],
    ['a README that names one', { LICENSE: null, 'README.md': '# X\n\n## License\n\nMIT\n' }, 'open'],
    [
      'a README that hedges',
      { LICENSE: null, 'README.md': '# X\n\n## License\n\nApache 2.0. Individual skills may have different licenses.\n' },
      'none',
    ],
  ])('%s', async ([_name, files, kind]) => {
    const address = await open({ 'a/SKILL.md': skillText('a', 'Body.\n'), ...files })
    const { serving, body } = await skillOf(address)
    expect({ kind: serving.license.kind, body }).toEqual({ kind, body: kind === 'open' ? 'Body.\n' : '' })
    expect(await codeOf(address, 'a/SKILL.md')).toBe(kind === 'open' ? 'ok' : 'file.not_served')
  })
})

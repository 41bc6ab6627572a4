import { describe, expect, test } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { indexFiles, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

describe('skills', () => {
  test('every SKILL.md is one, dot-folders and nested ones too; links, other spellings and generated folders are not', async () => {
    const { rows, header } = await indexFiles({
      'skills/a/SKILL.md': skill('a'),
      'skills/a/inner/SKILL.md': skill('inner'),
      '.claude/skills/b/SKILL.md': skill('b'),
      'skills/c/skill.md': skill('c'),
      'skills/d/SKILL.md': { link: '../a/SKILL.md' },
      '.agents/skills': { link: '../skills' },
      'node_modules/e/SKILL.md': skill('e'),
      'modules/f': { submodule: 'a'.repeat(40) },
    })
    expect([...rows('skills').keys()]).toEqual(['.claude/skills/b/SKILL.md', 'skills/a/SKILL.md', 'skills/a/inner/SKILL.md'])
    expect(header.root.folder.counts).toEqual({ skills: 3, documents: 1 })
    expect(header.root.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ['tree.submodule', 'modules/f'],
      ['skill.file_name', 'skills/c/skill.md'],
    ])
  })

  test('a file belongs to the nearest skill, and the outer skill refers to the inner one', async () => {
    const { rows } = await indexFiles({
      'a/SKILL.md': skill('a'),
      'a/data.json': '{}',
      'a/inner/SKILL.md': skill('inner'),
      'a/inner/x.md': '# X\n',
    })
    const contexts = rows('contexts')
    expect(contexts.get('a/SKILL.md')?.full).toMatchObject({ files: ['a/data.json'], references: ['a/inner/SKILL.md'] })
    expect(contexts.get('a/inner/SKILL.md')?.full).toMatchObject({ files: ['a/inner/x.md'], references: [] })
    expect(contexts.get('a/inner/SKILL.md')?.warnings).toContainEqual(expect.objectContaining({ code: 'skill.nested' }))
  })

  test('a skill at the root owns the root folder and the folders of the convention, not the repository', async () => {
    const { rows } = await indexFiles({
      'SKILL.md': skill('root'),
      'notes.txt': 'x',
      'references/a.md': '# A\n',
      'docs/guide.md': '# G\n',
    })
    expect(rows('contexts').get('SKILL.md')?.full?.files).toEqual(['LICENSE', 'notes.txt', 'references/a.md'])
    expect([...rows('documents').keys()]).toEqual(['docs/guide.md'])
  })

  test('an internal skill is in no listing, count or search, but can be loaded', async () => {
    const { rows, header, section } = await indexFiles({
      'a/SKILL.md': skill('a', 'Do.\n', 'metadata: { internal: true }\n'),
      'a/x.md': '# X\n',
    })
    expect(header.root.folder.counts).toEqual({ skills: 0, documents: 0 })
    expect([rows('skills').size, rows('entries').size, section]).toEqual([0, 0, null])
    expect(rows('contexts').get('a/SKILL.md')?.full?.body).toBe('Do.\n')
    expect(rows('files').get('a/x.md')).toHaveProperty('record')
  })

  test('skills of one name keep their paths and get a warning', async () => {
    const { rows } = await indexFiles({ 'x/a/SKILL.md': skill('a'), 'y/a/SKILL.md': skill('a', 'Other.\n') })
    for (const row of rows('skills').values())
      expect(row.warnings).toEqual([expect.objectContaining({ code: 'name.duplicate', field: 'name' })])
  })

  test('a SKILL.md that is no text is reported as unreadable and is no skill', async () => {
    const { header, rows } = await indexFiles({
      'a/SKILL.md': new Uint8Array([0xff, 0xfe, 0x00]),
      'b/SKILL.md': 'x'.repeat(1024 * 1024 + 1),
    })
    expect(header.root.folder.counts.skills).toBe(0)
    expect([rows('files').get('a/SKILL.md')?.refusal, rows('files').get('b/SKILL.md')?.refusal]).toEqual([
      'file.not_served',
      'file.not_served',
    ])
    expect(rows('entries').size).toBe(0)
    expect(header.root.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ['skill.unreadable', 'a/SKILL.md'],
      ['skill.unreadable', 'b/SKILL.md'],
    ])
  })
})

describe('rules and includes', () => {
  test('rules are ordered root first, then the body, then includes of manifests and of the skill, each file once', async () => {
    const { rows, text } = await indexFiles({
      'SKILLSET.md': '---\nname: Root\ninclude: [style.md]\n---\n\nRoot rules.\n\n',
      'style.md': 'Style.\n',
      'skills/SKILLSET.md': '---\nname: Skills\n---\n',
      'skills/x/SKILLSET.md': '---\ninclude: [/style.md, ../more.md]\n---\r\nNear rules.\r\n',
      'skills/more.md': 'More.\n',
      'skills/x/a/SKILL.md': skill('a', 'Body.\n', 'include: own.md ../../more.md\n'),
      'skills/x/a/own.md': 'Own.\n',
    })
    const { full } = rows('contexts').get('skills/x/a/SKILL.md') ?? {}
    const piece = (part: {
      path: string
      slice: { record: [number, number, number]; offsetBytes: number; lengthBytes: number }
    }) => [
      part.path,
      Buffer.from(text(part.slice.record))
        .subarray(part.slice.offsetBytes, part.slice.offsetBytes + part.slice.lengthBytes)
        .toString(),
    ]
    expect(full?.rules.map(piece)).toEqual([
      ['SKILLSET.md', 'Root rules.'],
      ['skills/x/SKILLSET.md', 'Near rules.'],
    ])
    expect(full?.body).toBe('Body.\n')
    expect(full?.includes.map(piece)).toEqual([
      ['style.md', 'Style.\n'],
      ['skills/more.md', 'More.\n'],
      ['skills/x/a/own.md', 'Own.\n'],
    ])
    expect(full?.incomplete).toBe(false)
  })

  test.each<[string, string, Record<string, TestFile>]>([
    ['include.missing', 'nowhere.md', {}],
    ['include.missing', '../../x.md', {}],
    ['include.missing', 'https://example.org/a.md', {}],
    ['include.missing', 'link.md', { 'a/link.md': { link: 'none.md' } }],
    ['include.missing', '/closed/a.md', { 'closed/SKILLSET.md': '---\nbroken', 'closed/a.md': 'x' }],
    ['include.excluded', '/hidden.md', { 'SKILLSET.md': '---\nexclude: [hidden.md]\n---\n', 'hidden.md': 'x' }],
    ['include.too_large', 'big.md', { 'a/big.md': 'x'.repeat(65_537) }],
    ['include.not_text', 'data.bin', { 'a/data.bin': new Uint8Array([0, 1, 2]) }],
    ['include.not_served', '/other/b.md', { 'other/LICENSE': 'All rights reserved.\n', 'other/b.md': 'x' }],
  ])('%s: required content is missing, so the context never becomes complete (%s)', async (code, include, files) => {
    const { rows } = await indexFiles({ ...files, 'a/SKILL.md': skill('a', 'Body.\n', `include: ["${include}"]\n`) })
    const context = rows('contexts').get('a/SKILL.md')
    expect(context?.full?.incomplete).toBe(true)
    expect(context?.diagnostics).toEqual([expect.objectContaining({ code, severity: 'error', path: 'a/SKILL.md' })])
    expect(context?.warnings).toContainEqual(expect.objectContaining({ code }))
    expect(JSON.stringify(context?.diagnostics)).not.toContain('hidden')
  })

  test.each([
    ['may be copied: reported', 'MIT', ['include.not_served']],
    ['may not be copied itself: not reported', 'Proprietary', []],
  ])('an include that may not be copied, of a manifest whose folder %s', async (_, license, codes) => {
    const { rows } = await indexFiles({
      'SKILLSET.md': `---\nlicense: ${license}\ninclude: [reserved/a.md]\n---\n`,
      'reserved/LICENSE': 'All rights reserved.\n',
      'reserved/a.md': 'x',
      'a/SKILL.md': skill('a'),
    })
    const told = [...rows('diagnostics').values()].map(({ code }) => code).filter(code => code.startsWith('include.'))
    expect(told).toEqual(codes)
  })

  test('an included file that is not delivered is not stored', async () => {
    const { stored, section } = await indexFiles({
      'SKILLSET.md': '---\nexclude: [hidden.md]\n---\n',
      'hidden.md': 'excluded words',
      'closed/SKILLSET.md': '---\nbroken',
      'closed/a.md': 'closed words',
      'reserved/LICENSE': 'All rights reserved.\n',
      'reserved/a.txt': 'reserved words',
      'a/SKILL.md': skill('a', 'Body.\n', 'include: /hidden.md /closed/a.md /reserved/a.txt own.md\n'),
      'a/own.md': 'delivered words',
    })
    expect(stored()).toContain('delivered words')
    expect(stored()).not.toMatch(/(?:excluded|closed|reserved) words/)
    expect([...(section?.terms.keys() ?? [])]).toContain('delivered')
    expect([...(section?.terms.keys() ?? [])].join(' ')).not.toMatch(/excluded|closed|reserved/)
  })

  test('a context includes at most 16 files, missing ones counted', async () => {
    const names = Array.from({ length: 100 }, (_, number) => `missing-${number}.md`)
    const { rows } = await indexFiles({ 'a/SKILL.md': skill('a', 'Body.\n', `include: [${names}, ${names}]\n`) })
    const codes = rows('contexts')
      .get('a/SKILL.md')
      ?.diagnostics.map(({ code }) => code)
    expect(codes).toEqual([...names.slice(0, 16).map(() => 'include.missing'), 'include.too_large'])
  })

  test('more rules than a chain may hold are missing, not cut', async () => {
    const rules = `---\nname: a\n---\n${'r'.repeat(60_000)}\n`
    const { rows } = await indexFiles({
      'SKILLSET.md': rules,
      'x/SKILLSET.md': rules,
      'x/y/SKILLSET.md': rules,
      'x/y/a/SKILL.md': skill('a'),
    })
    const context = rows('contexts').get('x/y/a/SKILL.md')
    expect(context?.full?.rules.map(part => part.path)).toEqual(['SKILLSET.md', 'x/SKILLSET.md'])
    expect(context?.diagnostics).toEqual([expect.objectContaining({ code: 'rules.missing' })])
    expect(context?.full?.incomplete).toBe(true)
  })
})

describe('references', () => {
  test('links and code spans name readable files once, in order; what is only linked becomes readable and nothing else', async () => {
    const { rows, section } = await indexFiles({
      'a/SKILL.md': skill(
        'a',
        'See [x](ref/x.md), `ref/x.md`, `scripts/run.py`, [source](../src/main.ts), [all](../docs/), [gone](gone.md), ![pic](pic.png).\n',
      ),
      'a/ref/x.md': '# X\n',
      'a/scripts/run.py': 'print()\n',
      'a/pic.png': new Uint8Array([0x89, 0x50, 0]),
      'src/main.ts': 'export {}\n',
      'src/other.ts': 'export {}\n',
      'docs/one.md': '[txt](notes.txt)\n',
      'docs/notes.txt': 'notes\n',
    })
    const context = rows('contexts').get('a/SKILL.md')
    expect(context?.full?.references).toEqual(['a/ref/x.md', 'a/scripts/run.py', 'src/main.ts', 'docs/one.md'])
    expect(context?.warnings).toEqual([{ code: 'reference.broken', values: { target: 'gone.md' } }])
    expect([...rows('files').keys()]).toEqual([
      'LICENSE',
      'a/SKILL.md',
      'a/pic.png',
      'a/ref/x.md',
      'a/scripts/run.py',
      'docs/notes.txt',
      'docs/one.md',
      'src/main.ts',
    ])
    expect(rows('files').get('a/pic.png')).toMatchObject({ refusal: 'file.not_text' })
    expect(section?.items.map(({ path }) => path)).toEqual(['a/SKILL.md', 'a/ref/x.md', 'a/scripts/run.py', 'docs/one.md'])
    expect([...rows('entries').keys()].map(key => key.replace('\0', '|'))).not.toContain('|src')
  })
})

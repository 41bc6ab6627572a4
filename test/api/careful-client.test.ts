import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OVERSIZED_FILES, READABLE_FILE_BYTES, REFERENCE_DIRECTORY_FILES, REFERENCES } from '#core/limits.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const ADDRESS = '/local/acme/tools'
const many = <File>(count: number, path: (number: number) => string, text: (number: number) => File) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [path(number), text(number)]))
const big = 'x'.repeat(READABLE_FILE_BYTES + 1)

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/tools': {
      LICENSE: MIT,
      'quiet/SKILLSET.md': '---\nname: Quiet\ndescription: Of its own.\nexclude: [SKILLSET.md]\n---\nBe quiet.\n',
      'quiet/page.md': '# Page\n',
      'bare/SKILLSET.md': '---\nname: Bare\nexclude: [SKILLSET.md]\n---\n',
      'pdf/SKILL.md': skillText('pdf', 'Garden of the skill.\n'),
      'pdf/references/one.md': '# One\n\nGarden one.\n',
      'pdf/references/deep/two.md': '# Two\n\nGarden two.\n',
      'pdf/references/data.json': '{"garden": 1}\n',
      'pdf/references/inner/SKILL.md': skillText('inner', 'Garden inner.\n'),
      'pdf/references/inner/three.md': '# Three\n\nGarden three.\n',
      'include/bad/SKILL.md': skillText('bad', 'Body.\n', 'include: { a: b }\n'),
      'include/below/SKILLSET.md': '---\nname: Below\ninclude: [[a.md]]\n---\n',
      'include/below/one/SKILL.md': skillText('one-below'),
      'include/below/two/SKILL.md': skillText('two-below'),
      'include/lost/SKILLSET.md': '---\nname: Lost\ninclude: [gone.md]\n---\n',
      'include/lost/alone/page.md': '# Page\n',
      'include/lost/closed/SKILL.md': skillText('closed', 'Body.\n', 'license: Proprietary\n'),
      'include/self/SKILLSET.md': '---\nname: Self\ninclude: [SKILLSET.md, .style/style.txt]\n---\nRule.\n',
      'include/self/.style/style.txt': 'Style of all.\n',
      'include/self/it/SKILL.md': skillText('it', 'Body.\n', 'include: [SKILL.md, ../.style/style.txt]\n'),
      'links/SKILL.md': skillText(
        'links',
        'See [binary](x.bin), [closed](../proprietary/a.md), [big](big.md), [link](link.md), [lost](lost.md), [src](../src/), `y.bin` and ![a](a.png).\n',
      ),
      'links/x.bin': new Uint8Array([0, 1]),
      'links/y.bin': new Uint8Array([0, 1]),
      'links/a.png': new Uint8Array([0, 1]),
      'links/big.md': big,
      'links/link.md': { link: 'SKILL.md' },
      'links/lost.md': { link: 'gone.md' },
      'proprietary/LICENSE': 'All rights reserved.\n',
      'proprietary/a.md': '# A\n',
      'src/main.ts': 'export {}\n',
      'wide/SKILL.md': skillText('wide', `${Array.from({ length: REFERENCES + 1 }, (_, n) => `[${n}](p/${n}.md)`).join(' ')}\n`),
      ...many(
        REFERENCES + 1,
        number => `wide/p/${number}.md`,
        number => `# ${number}\n`,
      ),
      'folder/SKILL.md': skillText('folder', 'See [all](all/).\n'),
      ...many(
        REFERENCE_DIRECTORY_FILES + 1,
        number => `folder/all/${number}.md`,
        number => `# ${number}\n`,
      ),
      'late/SKILL.md': skillText(
        'late',
        `See [shots](shots/). ${Array.from({ length: REFERENCES }, (_, n) => `[${n}](/raw/${n}.dat)`).join(' ')} [end](end.md)\n`,
      ),
      'late/end.md': '# End\n',
      'late/shots/z.md': '# Shot\n',
      ...many(
        REFERENCE_DIRECTORY_FILES + 1,
        number => `late/shots/${number}.png`,
        () => new Uint8Array([0, 1]),
      ),
      ...many(
        REFERENCES,
        number => `raw/${number}.dat`,
        number => new Uint8Array([0, 1, number]),
      ),
      'heavy/SKILL.md': skillText('heavy'),
      ...many(
        OVERSIZED_FILES + 1,
        number => `heavy/${number}.txt`,
        () => big,
      ),
      ...many(
        101,
        number => `same/${number}/SKILL.md`,
        () => skillText('same'),
      ),
    },
  })
  await app.open(ADDRESS)
})
afterAll(() => app.close())

async function ready(address: string) {
  const { index } = await app.ask('mounts', address)
  if (index.status !== 'ready') throw new Error(index.status)
  return index
}

async function skill(path: string, address = ADDRESS) {
  return await app.askReady('skills', address, { path })
}

const codes = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code)

describe('a manifest that is itself excluded', () => {
  test('introduces its folder to browse as to the mount, and stays unreadable', async () => {
    const manifest = { path: 'quiet/SKILLSET.md', name: 'Quiet', description: 'Of its own.', language: null, translations: {} }
    expect((await ready(`${ADDRESS}/quiet`)).manifest).toEqual(manifest)
    const { entries } = await app.askReady('browse', ADDRESS)
    expect(entries.find(({ path }) => path === 'quiet')).toMatchObject({ manifest })
    expect(entries.find(({ path }) => path === 'bare')).toMatchObject({ manifest: { name: 'Bare' } })
    const answer = await app.get(endpointUrl('files', ADDRESS, { path: 'quiet/SKILLSET.md' }))
    expect(answer.json.error.code).toBe('file.not_found')
  })
})

describe('a mount inside a skill', () => {
  const INSIDE = `${ADDRESS}/pdf/references`

  test('counts and lists the results of find', async () => {
    const { counts, documents, skills } = await ready(INSIDE)
    const { items } = await app.askReady('find', INSIDE, { query: 'garden' })
    const found = (kind: string) =>
      items
        .filter(item => item.kind === kind)
        .map(({ path }) => path)
        .sort()
    expect(found('document')).toEqual(['pdf/references/deep/two.md', 'pdf/references/one.md'])
    expect(documents).toEqual([
      { path: 'pdf/references/deep/two.md', title: 'Two', summary: 'Garden two.' },
      { path: 'pdf/references/one.md', title: 'One', summary: 'Garden one.' },
    ])
    expect(skills.map(({ path }) => path)).toEqual(found('skill'))
    expect(counts).toEqual({ skills: 1, documents: 2 })
  })

  test('counts the same in browse, where a mount around the skill counts no documents', async () => {
    const countsOf = async (address: string) => {
      const { entries } = await app.askReady('browse', address, { path: 'pdf/references' })
      return entries.flatMap(entry => (entry.kind === 'directory' ? [[entry.path, entry.counts]] : []))
    }
    expect(await countsOf(INSIDE)).toEqual([
      ['pdf/references/deep', { skills: 0, documents: 1 }],
      ['pdf/references/inner', { skills: 1, documents: 0 }],
    ])
    expect(await countsOf(ADDRESS)).toEqual([
      ['pdf/references/deep', { skills: 0, documents: 0 }],
      ['pdf/references/inner', { skills: 1, documents: 0 }],
    ])
    expect((await ready(`${ADDRESS}/pdf`)).counts).toEqual({ skills: 2, documents: 0 })
    expect((await ready(`${INSIDE}/inner`)).counts).toEqual({ skills: 1, documents: 0 })
  })
})

describe('includes', () => {
  test('an include of a manifest that failed is reported by every mount, whether a skill in it is served or not', async () => {
    const failed = expect.objectContaining({ code: 'include.missing', path: 'include/lost/SKILLSET.md', field: 'include' })
    for (const folder of ['include', 'include/lost', 'include/lost/alone', 'include/lost/closed'])
      expect((await ready(`${ADDRESS}/${folder}`)).diagnostics).toContainEqual(failed)
  })

  test.each([
    ['include/bad/SKILL.md', 'include/bad/SKILL.md'],
    ['include/below/one/SKILL.md', 'include/below/SKILLSET.md'],
  ])('a malformed include leaves %s incomplete, with a diagnostic', async (path, declaredBy) => {
    const page = await skill(path)
    expect(page.complete).toBe(false)
    expect(page).not.toHaveProperty('nextCursor')
    expect(page.diagnostics).toMatchObject([{ code: 'include.missing', severity: 'error', path: declaredBy, field: 'include' }])
  })

  test('a faulty manifest is listed once, even if it leaves several skills incomplete', async () => {
    const { diagnostics } = await ready(`${ADDRESS}/include/below`)
    expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([['include.missing', 'include/below/SKILLSET.md']])
  })

  test('a file that the context already contains is not included again', async () => {
    const { skill: it, complete } = await skill('include/self/it/SKILL.md')
    expect(it.ruleChain?.map(({ path }) => path)).toEqual(['include/self/SKILLSET.md'])
    expect(it.includes?.map(({ path }) => path)).toEqual(['include/self/.style/style.txt'])
    expect(complete).toBe(true)
  })

  test('an included file inside the mount is readable, and outside it is not', async () => {
    const path = 'include/self/.style/style.txt'
    expect((await app.ask('files', ADDRESS, { path })).content).toBe('Style of all.\n')
    const outside = await app.get(endpointUrl('files', `${ADDRESS}/include/self/it`, { path }))
    expect(outside.json.error.code).toBe('file.not_found')
  })
})

describe('references that exist and cannot be read', () => {
  test('produce a warning each, with the reason; pictures are not read', async () => {
    const { skill: links } = await skill('links/SKILL.md')
    expect(links.warnings).toEqual([
      {
        code: 'reference.unreadable',
        level: 'breaks',
        message: expect.stringMatching(/^lost\.md leads to a submodule, or to a symbolic link that leads to no file/),
      },
      { code: 'reference.unreadable', level: 'breaks', message: expect.stringContaining('../src/ leads to a folder without') },
      { code: 'reference.unreadable', level: 'breaks', message: 'links/x.bin cannot be read: it is not UTF-8 text' },
      { code: 'reference.unreadable', level: 'breaks', message: 'proprietary/a.md cannot be read: its license permits no copy' },
      { code: 'reference.unreadable', level: 'breaks', message: 'links/big.md cannot be read: it is larger than 1048576 bytes' },
      { code: 'reference.unreadable', level: 'breaks', message: 'links/y.bin cannot be read: it is not UTF-8 text' },
    ])
    expect(links.references).toEqual(['links/link.md'])
    expect(links.oversized?.map(({ path }) => path)).toEqual(['links/big.md'])
  })
})

describe('a truncated list is marked', () => {
  test('references', async () => {
    const wide = (await skill('wide/SKILL.md')).skill
    expect([wide.references?.length, codes(wide.warnings)]).toEqual([REFERENCES, ['references.truncated']])
    expect(wide.warnings[0]?.message).toBe('only the first 200 of 201 references are listed')
    const folder = (await skill('folder/SKILL.md')).skill
    expect([folder.references?.length, codes(folder.warnings)]).toEqual([REFERENCE_DIRECTORY_FILES, ['references.truncated']])
  })

  test('and does not count pictures and unreadable files against its limit', async () => {
    const late = (await skill('late/SKILL.md')).skill
    expect(late.references).toEqual(['late/shots/z.md', 'late/end.md'])
    expect(codes(late.warnings)).not.toContain('references.truncated')
  })

  test('oversized', async () => {
    const { oversized, warnings } = (await skill('heavy/SKILL.md')).skill
    expect([oversized?.length, codes(warnings)]).toEqual([OVERSIZED_FILES, ['oversized.truncated', 'skill.not_installable']])
  })

  test('directories', async () => {
    const { status, json } = await app.get(endpointUrl('skills', ADDRESS, { path: 'same' }))
    expect([status, json.error.directories.length]).toEqual([409, 100])
    expect(json.error.message).toContain('101 skills match')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FoundItem } from '#core/contract/find.ts'
import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT } from './support/texts.ts'

const GARDEN = '/local/acme/garden'

/** Front matter of the form that skills, manifests and documents share. */
const matter = (fields: string, body: string) => `---\n${fields}\n---\n${body}\n`

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/garden': {
      LICENSE: MIT,
      'SKILLSET.md': matter(
        'name: Zinnias\ndescription: About zinnias.\nexclude: [drafts/, "*.secret.md"]\ntranslations:\n  de: { name: Zinnien }',
        'A rule about zinnias.',
      ),
      'README.md': '# Asters\n\nAsters everywhere.\n',
      'docs/README.de.md': '# Asters\n\nAsters auf Deutsch.\n',
      'CHANGELOG.md': '# Asters\n\nAsters added.\n',
      'docs/bulbs.md': '# Bulbs\n\nTulips. See [the list](../data/list.txt), [code](../src/sow.ts) and [soil](soil.md).\n',
      'docs/soil.md': matter('title: Soil of peat\ndescription: What grows where.', '# Another heading\n\nLoam and clay.'),
      'docs/bed.txt': 'Begonias.\n',
      'data/list.txt': 'Begonias in a list.\n',
      'src/sow.ts': '// begonias\n',
      'drafts/plan.md': '# Crocuses\n',
      'drafts/skill/SKILL.md': matter('name: crocus\ndescription: Crocuses.', 'Crocuses.'),
      'docs/x.secret.md': '# Crocuses\n',
      'closed/SKILLSET.md': '---\nname: dahlias\nbroken',
      'closed/dahlias.md': '# Dahlias\n',
      'closed/below/SKILL.md': matter('name: dahlia\ndescription: Dahlias.', 'Dahlias.'),
      'skills/hidden/SKILL.md': matter('name: hidden-irises\ndescription: Irises.\nmetadata:\n  internal: true', 'Irises.'),
      'skills/hidden/notes.md': '# Irises\n',
      'skills/plant/SKILL.md': matter(
        'name: plant-bulbs\ndescription: Puts bulbs into the ground.\ntranslations:\n  de: { name: Zwiebeln stecken, description: Knollen. }',
        '# Digging\n\nDig with a spade.',
      ),
      'skills/plant/references/kinds.md': '# Kinds\n\nMany tulips.\n',
      'skills/plant/references/depths.rst': 'Depths\n======\n\nLilies go deeper.\n',
      'skills/plant/references/when.txt': 'Lilies in autumn.\n',
      'skills/plant/scripts/measure_depth.py': '# jonquils\ndef measure(): ...\n',
      'skills/plant/assets/picture.png': new Uint8Array([0x89, 0x50, 0, 1]),
      'skills/plant/inner/SKILL.md': matter('name: inner-freesias\ndescription: Plants freesias.', 'Freesias.'),
      'skills/plant/inner/notes.md': '# Notes\n\nLupins.\n',
      'skills/bread/SKILL.md': matter(
        'name: bake-bread\ndescription: A proprietary way to bake.\nlicense: Proprietary',
        '# Orchids\n\nOrchids and peonies.',
      ),
      'skills/bread/orchids.md': '# Orchids\n\nOrchids.\n',
      'skills/bread/scripts/orchids.py': 'orchids\n',
      'reserved/LICENSE': 'All rights reserved.\n',
      'reserved/shears.md': '---\ndescription: Which shears we use.\n---\n# Tools\n',
      'reserved/roses.md': '# Roses of ours\n\nHow we prune them.\n\n## Poppies\n\nPoppies grow beside them.\n',
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [`skills/many/notes/${at}.md`, `# Note ${at}\n\n${'A violet. '.repeat(8 - at)}\n`]),
      ),
      'skills/many/SKILL.md': matter('name: many-notes\ndescription: Keeps notes.', 'Nothing of them.'),
    },
    'acme/single': {
      LICENSE: MIT,
      'SKILL.md': matter('name: single\ndescription: One skill at the root.', 'Tulips.'),
      'notes.md': '# Tulips of the skill\n',
      'references/kinds.md': '# Tulips of the references\n',
      'docs/guide.md': '# Tulips of the guide\n',
    },
    'acme/empty': { 'x.bin': new Uint8Array([0]) },
  })
  await app.open(GARDEN)
  await app.open('/local/acme/single')
  await app.open('/local/acme/empty')
})
afterAll(() => app.close())

async function find(query: string, address = GARDEN, more: Record<string, string> = {}): Promise<FoundItem[]> {
  const { items, nextCursor } = await app.askReady('find', address, { query, limit: 25, ...more })
  expect(nextCursor).toBeNull()
  return items
}

/** Results by path, each with the files that it shows. */
async function found(query: string, address = GARDEN, more: Record<string, string> = {}): Promise<Record<string, string[]>> {
  const items = await find(query, address, more)
  return Object.fromEntries(items.map(item => [item.path, item.kind === 'skill' ? item.files.map(({ path }) => path) : []]))
}

const PLANT = 'skills/plant/SKILL.md'

describe('a result', () => {
  test('that is a skill equals its listing, with the files of it that match', async () => {
    expect(await find('lilies')).toEqual([
      {
        kind: 'skill',
        path: PLANT,
        directory: 'skills/plant',
        name: 'plant-bulbs',
        description: 'Puts bulbs into the ground.',
        translations: { de: { name: 'Zwiebeln stecken', description: 'Knollen.' } },
        license: { kind: 'open', name: 'MIT', source: 'LICENSE' },
        files: expect.arrayContaining([
          { path: 'skills/plant/references/when.txt', title: 'when.txt', summary: 'Lilies in autumn.' },
          {
            path: 'skills/plant/references/depths.rst',
            title: 'depths.rst',
            summary: expect.stringContaining('Lilies go deeper.'),
          },
        ]),
        moreFiles: 0,
      },
    ])
  })

  test('that is a document has its canonical path, title and summary', async () => {
    expect(await find('peat')).toEqual([
      { kind: 'document', path: 'docs/soil.md', title: 'Soil of peat', summary: 'What grows where.' },
    ])
  })

  test('stands in an answer with its query, commit and diagnostics', async () => {
    const answer = await app.askReady('find', GARDEN, { query: ' Lilies ' })
    const { commit, diagnostics } = await app.askReady('browse', GARDEN)
    expect(answer).toMatchObject({ query: ' Lilies ', commit: app.commitOf('acme/garden'), nextCursor: null })
    expect([answer.commit, answer.diagnostics]).toEqual([commit, diagnostics])
    expect(diagnostics).toMatchObject([
      { code: 'manifest.unreadable', boundary: 'closed' },
      { code: 'license.unrecognized', path: 'reserved/LICENSE' },
    ])
  })

  test('has its real path in every mount', async () => {
    expect(await find('lilies', `${GARDEN}/skills`)).toEqual(await find('lilies'))
    expect(await find('lilies', `${GARDEN}/skills/plant`)).toEqual(await find('lilies'))
    expect(await find('lilies', GARDEN, { path: 'skills/plant' })).toEqual(await find('lilies'))
    expect(await find('lilies', `${GARDEN}@main`)).toEqual(await find('lilies'))
  })

  test('lists five matching files, the best first, and counts the rest', async () => {
    const [item] = await find('violet')
    expect(item).toMatchObject({ path: 'skills/many/SKILL.md', moreFiles: 8 - FIND_FOLDED_FILES })
    expect(item?.kind === 'skill' && item.files.map(({ path }) => path)).toEqual(
      [0, 1, 2, 3, 4].map(at => `skills/many/notes/${at}.md`),
    )
  })
})

describe('find returns', () => {
  test.for<[string, Record<string, string[]>]>([
    ['spade', { [PLANT]: [] }],
    ['digging', { [PLANT]: [] }],
    ['ground', { [PLANT]: [] }],
    ['plant-bulbs', { [PLANT]: [] }],
    ['kinds', { [PLANT]: ['skills/plant/references/kinds.md'] }],
    ['measure_depth', { [PLANT]: ['skills/plant/scripts/measure_depth.py'] }],
    ['measure_depth.py', { [PLANT]: ['skills/plant/scripts/measure_depth.py'] }],
    ['freesias', { 'skills/plant/inner/SKILL.md': [] }],
    ['lupins', { 'skills/plant/inner/SKILL.md': ['skills/plant/inner/notes.md'] }],
    ['loam', { 'docs/soil.md': [] }],
    ['another heading', { 'docs/soil.md': [] }],
  ])('%s', async ([query, results]) => {
    expect(await found(query)).toMatchObject(results)
    expect(Object.keys(await found(query))[0]).toBe(Object.keys(results)[0])
  })

  test('a skill that is only described: by name and description, without files, and saying so', async () => {
    for (const query of ['bake-bread', 'proprietary way'])
      expect((await find(query))[0]).toEqual({
        kind: 'skill',
        path: 'skills/bread/SKILL.md',
        directory: 'skills/bread',
        name: 'bake-bread',
        description: 'A proprietary way to bake.',
        translations: {},
        license: expect.objectContaining({ kind: 'restricted' }),
        describedOnly: true,
        files: [],
        moreFiles: 0,
      })
  })

  test('a document that may not be delivered: by title and declared summary, saying so', async () => {
    const license = { kind: 'restricted', name: null, source: 'reserved/LICENSE' }
    expect(await find('roses')).toEqual([
      { kind: 'document', path: 'reserved/roses.md', title: 'Roses of ours', summary: '', license, describedOnly: true },
    ])
    expect(await found('prune')).toEqual({})
    expect(await found('shears')).toEqual({ 'reserved/shears.md': [] })
  })

  test('a skill at the root with its own files, and other documents separately', async () => {
    const results = await found('tulips', '/local/acme/single')
    expect(new Set(Object.keys(results))).toEqual(new Set(['SKILL.md', 'docs/guide.md']))
    expect(new Set(results['SKILL.md'])).toEqual(new Set(['notes.md', 'references/kinds.md']))
  })

  test('nothing if nothing is searchable', async () => {
    expect(await find('tulips', '/local/acme/empty')).toEqual([])
  })
})

describe('find does not return', () => {
  test.for([
    ['asters', 'READMEs describe folders, and community files are for those who work on them'],
    ['zinnias', 'manifests are rules and not content'],
    ['zinnien', 'translations of manifests'],
    ['knollen', 'translations of skills'],
    ['zwiebeln stecken', 'translations of skills'],
    ['begonias', 'files that are only linked'],
    ['crocuses', 'excluded files and folders'],
    ['dahlias', 'closed folders'],
    ['irises', 'internal skills'],
    ['orchids', 'bodies, headings and files of skills that are only described'],
    ['peonies', 'bodies of skills that are only described'],
    ['poppies', 'headings and bodies of documents that may not be delivered'],
    ['jonquils', 'the text of code'],
    ['picture', 'what is not text'],
  ] as const)('%s: %s', async ([query]) => {
    expect(await find(query)).toEqual([])
    expect(await find(`${query} ${query}`, `${GARDEN}/skills`)).toEqual([])
  })

  test('excluded content for a misspelled query', async () => {
    for (const query of ['zinnia', 'begonia', 'crocuse', 'orchid', 'orchds', 'peonie', 'dahlai'])
      expect(await find(query)).toEqual([])
  })

  test('a file that is only linked, though it can be read', async () => {
    expect(await app.ask('files', GARDEN, { path: 'data/list.txt' })).toMatchObject({ content: 'Begonias in a list.\n' })
  })
})

describe('before the index is ready', () => {
  test('find reports the state: indexing, or why there is no index', async () => {
    const repository = await app.repositories.create('acme', 'later')
    const commit = await repository.commit({ 'a.md': '# Tulips\n' })
    const url = endpointUrl('find', '/local/acme/later', { query: 'tulips' })
    expect((await app.get(url)).json).toEqual({ status: 'indexing', commit })
    expect((await app.get(endpointUrl('find', '/local/acme/later', { query: ' ' }))).json.error.code).toBe('request.invalid')
    await app.index()
    expect((await app.get(url)).json).toMatchObject({ status: 'ready', commit, items: [{ path: 'a.md' }] })
  })

  test('a cursor of the commit before is refused, and the search begins anew', async () => {
    const repository = await app.repositories.create('acme', 'moving')
    await repository.commit({ LICENSE: MIT, 'a.md': '# Tulips\n', 'b.md': '# Tulips\n' })
    await app.open('/local/acme/moving')
    const { nextCursor } = await app.askReady('find', '/local/acme/moving', { query: 'tulips', limit: 1 })
    const commit = await repository.commit({ 'c.md': '# Tulips\n' })
    await app.open('/local/acme/moving')
    const answer = await app.get(endpointUrl('find', '/local/acme/moving', { query: 'tulips', cursor: nextCursor ?? '' }))
    expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
    expect(await app.askReady('find', '/local/acme/moving', { query: 'tulips' })).toMatchObject({ commit })
    expect(await find('tulips', '/local/acme/moving')).toHaveLength(3)
  })
})

describe('order', () => {
  test('a skill ranks by its best member, even if only a file of it matches', async () => {
    const repository = await app.repositories.create('acme', 'ordered')
    await repository.commit({
      LICENSE: MIT,
      'a/first.md': `# Flowers\n\n${'Many other words. '.repeat(100)}Tulips.\n`,
      'b/SKILL.md': matter('name: gardening\ndescription: Keeps the beds.', 'Water them.'),
      'b/tulips.md': '# Tulips\n\nTulips.\n',
      'b/weak.md': `# Others\n\n${'Many other words. '.repeat(100)}Tulips.\n`,
      'z/last.md': '# Tulips and roses and all other flowers\n\nTulips.\n',
    })
    await app.open('/local/acme/ordered')
    const paths = (await find('tulips', '/local/acme/ordered')).map(({ path }) => path)
    expect(paths).toEqual(['b/SKILL.md', 'z/last.md', 'a/first.md'].slice(0, paths.length))
    expect(paths.length).toBeGreaterThan(1)
  })

  test('equal results stand in byte order of their paths', async () => {
    const repository = await app.repositories.create('acme', 'equal')
    const paths = ['a-b/x.md', 'a/x.md', 'a0/x.md', 'b/x.md', 'é/x.md', '漢/x.md', '\ufffd/x.md', '🌱/x.md']
    await repository.commit({ LICENSE: MIT, ...Object.fromEntries(paths.toReversed().map(path => [path, '# Tulips\n'])) })
    await app.open('/local/acme/equal')
    expect((await find('tulips', '/local/acme/equal')).map(({ path }) => path)).toEqual(paths)
  })
})

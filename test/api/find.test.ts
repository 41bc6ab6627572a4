import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { compareBytes } from '#core/text.ts'
import { createSearchBuilder } from '#indexer/build/search.ts'
import {
  type FindOptions,
  type FoundPage,
  type SearchApp,
  type Searchable,
  searchApp,
  searchInputs,
} from '../support/search-app.ts'
import { testApp } from '../support/test-app.ts'

const opened: SearchApp[] = []

async function open(files: Searchable): Promise<SearchApp> {
  const app = await searchApp(files)
  opened.push(app)
  return app
}

afterEach(async () => {
  for (const app of opened.splice(0)) await app.close()
})

const paths = (page: FoundPage) => page.items.map(item => item.path)

async function findAll(app: SearchApp, query: string, options: FindOptions = {}): Promise<FoundPage['items']> {
  const first = await app.find(query, { limit: 25, ...options })
  const items = [...first.items]
  for (let cursor = first.nextCursor; cursor !== null; ) {
    const page = await app.find(query, { limit: 25, ...options, cursor })
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}

const HANDBOOK: Searchable = {
  'docs/deploy.md': {
    title: 'Deploying',
    summary: 'How a release reaches production.',
    body: 'Set `max_tokens` first. Then deploy the service.',
  },
  'docs/guide/日本語.md': { title: '条件付きレンダリング', body: 'コンポーネント間でデータを渡す方法' },
  'docs/languages.md': { title: 'Languages', body: 'We write C++ and C# and a little Go.' },
  'skills/pdf/SKILL.md': {
    name: 'pdf',
    description: 'Fill in forms and extract tables from PDF files.',
    body: 'Use the scripts.',
  },
  'skills/pdf/reference.md': { title: 'Reference', summary: 'Every option.', body: 'Annotations, watermarks and encryption.' },
  'skills/pdf/scripts/extract.py': { title: 'extract.py' },
  'skills/review/SKILL.md': {
    name: 'receiving-code-review',
    description: 'What to do with the remarks of a reviewer.',
    body: 'Read them all.',
  },
  'skills/secret/SKILL.md': { name: 'secret', description: 'A proprietary way to bake bread.', describedOnly: true },
}

describe('what is found', () => {
  test('a skill carries what its listing says, a document its title and summary', async () => {
    const app = await open(HANDBOOK)
    expect((await app.find('extract tables')).items[0]).toEqual({
      kind: 'skill',
      path: 'skills/pdf/SKILL.md',
      directory: 'skills/pdf',
      name: 'pdf',
      description: 'Fill in forms and extract tables from PDF files.',
      translations: { de: { name: 'pdf (de)' } },
      license: { kind: 'open', name: 'MIT', source: 'LICENSE' },
      files: [{ path: 'skills/pdf/scripts/extract.py', title: 'extract.py', summary: '' }],
      moreFiles: 0,
    })
    expect((await app.find('production')).items).toEqual([
      { kind: 'document', path: 'docs/deploy.md', title: 'Deploying', summary: 'How a release reaches production.' },
    ])
  })

  test('the answer repeats the query and names the commit', async () => {
    const page = await (await open(HANDBOOK)).find('  Deploy ')
    expect(page).toMatchObject({ query: '  Deploy ', commit: 'c0ffee'.padEnd(40, '0'), diagnostics: [], nextCursor: null })
  })

  test.each([
    ['Forms', 'skills/pdf/SKILL.md'],
    ['form', 'skills/pdf/SKILL.md'],
    ['receiving code review', 'skills/review/SKILL.md'],
    ['receiving-code-review', 'skills/review/SKILL.md'],
    ['recieving cod reveiw', 'skills/review/SKILL.md'],
    ['max_tokens', 'docs/deploy.md'],
    ['maxTokens', 'docs/deploy.md'],
    ['tokens', 'docs/deploy.md'],
    ['c++', 'docs/languages.md'],
    ['C#', 'docs/languages.md'],
    ['レンダリング', 'docs/guide/日本語.md'],
    ['データを渡す', 'docs/guide/日本語.md'],
    ['渡', 'docs/guide/日本語.md'],
    ['ＤＥＰＬＯＹ', 'docs/deploy.md'],
    ['how do I get watermarks off', 'skills/pdf/SKILL.md'],
  ])('%j finds %s first', async (query, path) => {
    expect(paths(await (await open(HANDBOOK)).find(query))[0]).toBe(path)
  })

  test('nothing is found for words that stand nowhere, nor for signs alone', async () => {
    const app = await open(HANDBOOK)
    expect((await app.find('zzzzqqqq')).items).toEqual([])
    expect((await app.find('?! ...')).items).toEqual([])
  })

  test('nothing is found where nothing can be searched', async () => {
    expect(await (await open({})).find('anything')).toMatchObject({ items: [], nextCursor: null })
  })

  test('a skill that is only described says so', async () => {
    expect((await (await open(HANDBOOK)).find('bread')).items).toMatchObject([
      { path: 'skills/secret/SKILL.md', describedOnly: true },
    ])
  })
})

describe('folding', () => {
  const files: Record<string, string | { name: string; description: string }> = {
    'a/SKILL.md': { name: 'gardening', description: 'Plants.' },
    'b.md':
      'Tulips, and then a great many other flowers that also grow here in the shade of an old and crooked tree by the wall.',
    'c/SKILL.md': { name: 'baking', description: 'Bread and tulips.' },
  }
  for (let number = 0; number < 8; number++) files[`a/notes/${number}.md`] = `Tulips ${'in rows '.repeat(number)}`

  test('matching files fold into their skill: five summaries, and the number of the rest', async () => {
    const skill = (await (await open(files)).find('tulips')).items.find(item => item.path === 'a/SKILL.md')
    expect(skill).toMatchObject({ kind: 'skill', name: 'gardening', moreFiles: 8 - FIND_FOLDED_FILES })
    expect(skill?.kind === 'skill' && skill.files.map(file => file.path)).toEqual(
      [0, 1, 2, 3, 4].map(number => `a/notes/${number}.md`),
    )
  })

  test('a skill stands where its best member stands, even when only a file of it matches', async () => {
    const app = await open({
      'a/SKILL.md': { name: 'gardening', description: 'Plants.' },
      'a/tulips.md': { title: 'Tulips', body: 'Tulips.' },
      'b.md': { title: 'Flowers', body: `Roses. ${'Much else. '.repeat(200)} Tulips.` },
    })
    expect(paths(await app.find('tulips'))).toEqual(['a/SKILL.md', 'b.md'])
  })

  test('the limit counts results, not the files folded into them', async () => {
    const page = await (await open(files)).find('tulips', { limit: 2 })
    expect(page.items).toHaveLength(2)
    expect(page.nextCursor).not.toBeNull()
  })

  test('a file belongs to its nearest skill', async () => {
    const app = await open({
      'a/SKILL.md': { name: 'outer' },
      'a/b/SKILL.md': { name: 'inner' },
      'a/b/tulips.md': 'Tulips.',
      'a/notes.md': 'Roses.',
    })
    expect(paths(await app.find('tulips'))).toEqual(['a/b/SKILL.md'])
    expect(paths(await app.find('roses'))).toEqual(['a/SKILL.md'])
  })
})

describe('the searched folder', () => {
  const files: Searchable = {
    'a-b/x.md': 'tulips',
    'a/SKILL.md': { name: 'gardening', description: 'tulips' },
    'a/references/deep/x.md': 'tulips in depth',
    'a/references/list.txt': 'tulips in a list',
    'a/references/x.md': 'tulips and roses',
    'a.md': 'tulips',
    'b/x.md': 'tulips',
  }

  test('`path` restricts the search to a folder, not to names that begin alike', async () => {
    expect(paths(await (await open(files)).find('tulips', { path: 'a' }))).toEqual(['a/SKILL.md'])
    expect(paths(await (await open(files)).find('tulips', { path: 'a-b' }))).toEqual(['a-b/x.md'])
  })

  test('a folder inside a skill answers as the skill, with the files below it', async () => {
    const page = await (await open(files)).find('tulips', { path: 'a/references' })
    expect(page.items).toMatchObject([{ kind: 'skill', path: 'a/SKILL.md', moreFiles: 0 }])
    expect(page.items[0]?.kind === 'skill' && page.items[0].files.map(file => file.path).sort(compareBytes)).toEqual([
      'a/references/deep/x.md',
      'a/references/list.txt',
      'a/references/x.md',
    ])
  })

  test('a mount inside a skill does not show the skill: its Markdown files answer as documents', async () => {
    const page = await (await open(files)).find('tulips', { mount: 'a/references' })
    expect(page.items.map(({ kind, path }) => [kind, path]).sort()).toEqual([
      ['document', 'a/references/deep/x.md'],
      ['document', 'a/references/x.md'],
    ])
  })

  test.each([
    ['?query=x&path=b', 'a', 404, 'mount.path_not_found'],
    ['?query=x&path=', 'a', 404, 'mount.path_not_found'],
    ['?query=x&path=nowhere', '', 404, 'mount.path_not_found'],
    ['?query=x&path=b/x.md', '', 404, 'mount.path_not_found'],
    ['?query=x&path=a/', '', 400, 'request.invalid'],
    ['?query=x&path=a/../b', '', 400, 'request.invalid'],
    ['?query=', '', 400, 'request.invalid'],
    ['?query=%20%0A', '', 400, 'request.invalid'],
    [`?query=${'x'.repeat(501)}`, '', 400, 'request.invalid'],
    ['', '', 400, 'request.invalid'],
    ['?query=x&limit=0', '', 400, 'request.invalid'],
    ['?query=x&limit=26', '', 400, 'request.invalid'],
    ['?query=x&limit=1e1', '', 400, 'request.invalid'],
    ['?query=x&query=y', '', 400, 'request.invalid'],
    ['?query=x&cursor=abc', '', 400, 'request.invalid'],
  ])('%s in the mount %j: %d %s', async (parameters, mount, status, code) => {
    const answer = await (await open(files)).get(`${mount === '' ? '' : `/${mount}`}${parameters}`)
    expect([answer.status, answer.body.error?.code]).toEqual([status, code])
  })

  test('500 characters of any planes are a query', async () => {
    expect((await (await open(files)).get(`?query=${encodeURIComponent('𠮷'.repeat(500))}`)).status).toBe(200)
  })
})

describe('paging', () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, number) => [`docs/${number}.md`, `tulips ${'and more '.repeat(number % 7)}`]),
  )

  test('pages joined are the unpaged list, whatever the limits', async () => {
    const app = await open(files)
    const whole = await findAll(app, 'tulips')
    expect(whole).toHaveLength(40)
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.integer({ min: 1, max: 25 })), async limits => {
        const items: FoundPage['items'] = []
        let page = await app.find('tulips', { limit: limits.next().value })
        items.push(...page.items)
        while (page.nextCursor !== null) {
          page = await app.find('tulips', { limit: limits.next().value, cursor: page.nextCursor })
          items.push(...page.items)
        }
        expect(items).toEqual(whole)
      }),
      { numRuns: 20 },
    )
  })

  test('a cursor is good for its own search only', async () => {
    const app = await open(files)
    const { nextCursor } = await app.find('tulips', { limit: 3 })
    for (const target of ['?query=more', '?query=tulips&path=docs', '/docs?query=tulips']) {
      const answer = await app.get(`${target}&cursor=${nextCursor}`)
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'request.invalid'])
    }
  })
})

const WORDS = ['tulip', 'rose', 'garden', 'bread', 'oven', 'flour', '花', 'max_tokens', 'the']
const word = fc.constantFrom(...WORDS)
const repository = fc.uniqueArray(
  fc.record({
    folder: fc.constantFrom('', 'a/', 'a/b/', 'a-b/', 'a/b/c/', 'd/'),
    name: fc.constantFrom('SKILL.md', 'x.md', 'y.md', 'z.txt', 'tulip.md'),
    text: fc.array(word, { minLength: 1, maxLength: 30 }).map(words => words.join(' ')),
    title: word,
  }),
  { selector: ({ folder, name }) => folder + name, maxLength: 20 },
)

type Files = typeof repository extends fc.Arbitrary<infer Value> ? Value : never

function searchable(files: Files): Searchable {
  return Object.fromEntries(files.map(({ folder, name, text, title }) => [folder + name, { title, body: text }]))
}

test('the answer for a folder without skills above it is the whole answer without what lies elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(repository, fc.array(word, { minLength: 1, maxLength: 4 }), async (files, query) => {
      const content = searchable(files.filter(({ folder, name }) => !(folder === '' && name === 'SKILL.md')))
      const app = await searchApp(content)
      try {
        const whole = await findAll(app, query.join(' '))
        for (const path of ['a', 'd', 'a-b'].filter(folder => Object.keys(content).some(file => file.startsWith(`${folder}/`)))) {
          const expected = whole.filter(item => item.path.startsWith(`${path}/`))
          expect(await findAll(app, query.join(' '), { path })).toEqual(expected)
          expect(await findAll(app, query.join(' '), { mount: path })).toEqual(expected)
        }
      } finally {
        await app.close()
      }
    }),
    { numRuns: 40 },
  )
})

describe('the rows of a search index', () => {
  function build(files: Searchable) {
    const builder = createSearchBuilder()
    for (const input of searchInputs(files)) builder.add(input)
    const { items, terms, spelling, owners } = builder.finish()
    return { items: [...items], terms: [...terms], spelling: [...spelling], owners }
  }

  test('are the same for the same files', () => {
    fc.assert(
      fc.property(repository, files => {
        expect(build(searchable(files))).toEqual(build(searchable(files)))
      }),
    )
  })

  test('stand in byte order, every key once', () => {
    const { terms, spelling, items } = build({ ...HANDBOOK, 'x.md': '𠮷野 豈 ﾊﾝ ｱ zebra é 𝒳' })
    for (const rows of [terms, spelling, items]) {
      const keys = rows.map(([key]) => key)
      expect(keys).toEqual([...new Set(keys)].sort(compareBytes))
      expect(keys.length).toBeGreaterThan(5)
    }
  })

  test('name items by number, ascending, and the owner of each', () => {
    const { terms, items, owners } = build(HANDBOOK)
    for (const [, row] of terms) {
      const numbers = row.filter((_, at) => at % 2 === 0)
      expect(numbers).toEqual([...numbers].sort((left, right) => left - right))
    }
    const skill = items.findIndex(([path]) => path === 'skills/pdf/SKILL.md')
    expect(owners.slice(skill, skill + 3)).toEqual([skill, skill, skill])
    expect(owners[0]).toBe(-1)
  })

  test('a file alone decides its postings', () => {
    const file = { 'x.md': 'tulips in the garden' }
    const alone = build(file).terms.map(([term, row]) => [term, row[1]])
    expect(alone).toEqual(
      build({ 'a.md': 'roses', ...file })
        .terms.filter(([, row]) => row.includes(1) && row.indexOf(1) % 2 === 0)
        .map(([term, row]) => [term, row[row.indexOf(1) + 1]]),
    )
  })

  test('only the beginning of a large file is searched', () => {
    const terms = build({ 'x.md': `first ${'. '.repeat(200_000)} last` }).terms.map(([term]) => term)
    expect(terms).toContain('first')
    expect(terms).not.toContain('last')
  })

  test('paths out of order and files without their skill are refused', () => {
    const builder = createSearchBuilder()
    builder.add({ path: 'b', kind: 'document', owner: null, title: '', summary: '', fields: {} })
    expect(() => builder.add({ path: 'a', kind: 'document', owner: null, title: '', summary: '', fields: {} })).toThrow(
      RangeError,
    )
    builder.add({ path: 'c', kind: 'supporting', owner: 'SKILL.md', title: '', summary: '', fields: {} })
    expect(() => builder.finish()).toThrow(RangeError)
  })
})

describe('a repository that was indexed', () => {
  const skill = (fields: string, body: string) => `---\n${fields}\n---\n${body}\n`

  test('answers what may be found, and nothing of what is withheld, internal, only linked or only described', async () => {
    const app = await testApp({
      'acme/garden': {
        'README.md': '# Garden\n\ntulips',
        'CHANGELOG.md': 'tulips',
        'SKILLSET.md': skill('name: Garden\nlicense: MIT\nexclude: [drafts/]', 'tulips'),
        'drafts/x.md': 'tulips',
        'drafts/plan/SKILL.md': skill('name: plan\ndescription: tulips', 'tulips'),
        'docs/bulbs.md': '# Bulbs\n\nAbout tulips. See [the list](../data/list.txt).',
        'data/list.txt': 'tulips',
        'skills/hidden/SKILL.md': skill('name: hidden\ndescription: tulips\nmetadata:\n  internal: true', 'tulips'),
        'skills/hidden/notes.md': 'tulips',
        'skills/plant/SKILL.md': skill('name: plant\ndescription: Puts bulbs into the soil.', 'Dig.'),
        'skills/plant/references/kinds.md': '# Kinds\n\nMany tulips.',
        'skills/secret/SKILL.md': skill('name: secret\ndescription: Grows black tulips.\nlicense: Proprietary', 'orchids'),
        'skills/secret/notes.md': 'tulips and orchids',
        'skills/translated/SKILL.md': skill('name: other\ndescription: Roses.\ntranslations:\n  de: { name: Tulpen }', 'Water.'),
      },
    })
    try {
      await app.open('/local/acme/garden')
      const { items } = await app.askReady('find', '/local/acme/garden', { query: 'tulips' })
      expect(
        Object.fromEntries(items.map(item => [item.path, item.kind === 'skill' ? item.files.map(({ path }) => path) : []])),
      ).toEqual({
        'docs/bulbs.md': [],
        'skills/plant/SKILL.md': ['skills/plant/references/kinds.md'],
        'skills/secret/SKILL.md': [],
      })
      expect(items.find(item => item.path === 'skills/secret/SKILL.md')).toMatchObject({
        describedOnly: true,
        license: { kind: 'restricted' },
      })
      expect((await app.askReady('find', '/local/acme/garden', { query: 'orchids' })).items).toEqual([])
      expect((await app.askReady('find', '/local/acme/garden', { query: 'Tulpen' })).items).toEqual([])
    } finally {
      await app.close()
    }
  })
})

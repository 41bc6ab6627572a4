import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { compareBytes } from '#core/text.ts'
import { type FindOptions, type FoundPage, type SearchApp, type Searchable, searchApp } from '../support/search-app.ts'

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

describe('results of find', () => {
  test('a skill has the fields of its listing, a document title and summary', async () => {
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

  test.each([
    ['PR', 'Pull requests'],
    ['pull requests', 'The PR template'],
    ['k8s', 'Kubernetes'],
    ['Kubernetes', 'Secrets of k8s'],
  ])('%j finds what is called %j', async (query, title) => {
    const app = await open({ 'a.md': { title }, 'b.md': { title: 'Gardening' } })
    expect(paths(await app.find(query))).toEqual(['a.md'])
  })

  test('words that no file has, and punctuation, find nothing', async () => {
    const app = await open(HANDBOOK)
    expect((await app.find('zzzzqqqq')).items).toEqual([])
    expect((await app.find('?! ...')).items).toEqual([])
  })

  test('an index without searchable content finds nothing', async () => {
    expect(await (await open({})).find('anything')).toMatchObject({ items: [], nextCursor: null })
  })

  test('a described-only skill is marked as such', async () => {
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

  test('a skill ranks by its best member, even if only a file of it matches', async () => {
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

  test('a folder inside a skill finds the skill, with the files below the folder', async () => {
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
    ['b', 'a'],
    ['', 'a'],
    ['nowhere', ''],
    ['b/x.md', ''],
  ])('%j is no folder of the mount %j', async (path, mount) => {
    const answer = await (await open(files)).get(`${mount === '' ? '' : `/${mount}`}?query=x&path=${path}`)
    expect([answer.status, answer.body.error?.code]).toEqual([404, 'mount.path_not_found'])
  })
})

describe('paging', () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, number) => [`docs/${number}.md`, `tulips ${'and more '.repeat(number % 7)}`]),
  )

  test('pages joined are the unpaged list, for any limits', async () => {
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

  test('a page without a limit has ten results, and the last page has no cursor', async () => {
    const app = await open(files)
    const page = await app.find('tulips')
    expect(page.items).toHaveLength(10)
    expect((await app.find('tulips', { limit: 25, cursor: page.nextCursor ?? '' })).items).toHaveLength(25)
    const whole = await findAll(app, 'tulips')
    expect((await app.find('tulips', { path: 'docs', limit: 25 })).items).toEqual(whole.slice(0, 25))
    const exact = await (await open({ 'a.md': 'tulips', 'b.md': 'tulips' })).find('tulips', { limit: 2 })
    expect([exact.items.length, exact.nextCursor]).toEqual([2, null])
  })
})

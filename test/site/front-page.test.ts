import { afterEach, describe, expect, test } from 'vitest'
import type { Address } from '#core/address.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import type { ListedRepositories, ListedState } from '#core/listed-repositories.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { versionsOfClient } from '#site/lib/versions.ts'
import {
  type Answers,
  answering,
  COMMIT,
  HOSTILE,
  type Question,
  readyCard,
  readyMount,
  refusal,
  skillPage,
  whole,
} from './support/answers.ts'
import { attributesOf, dangersOf, textOf } from './support/html.ts'
import { openSite, type Site, type SiteSettings } from './support/site.ts'

let site: Site | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

async function open(answers: Answers, settings: SiteSettings = {}): Promise<Site> {
  site = await openSite(answers, { hosts: ['local', 'gh'], ...settings })
  return site
}

const indexing = (address: string) => readyCard({ address, index: { status: 'indexing' } })
const failed = { status: 'failed', errorCode: 'index.too_large', retryAt: '2026-03-04T05:06:07Z' } as const

test('the first that is ready is an example to begin with, and all are rows: those that cannot be read come last', async () => {
  const asked: Question[] = []
  const { get } = await open({
    featured: () => ({
      items: [
        readyCard({ address: '/gh/acme/broken', index: failed }),
        indexing('/gh/acme/later'),
        readyCard(),
        readyCard(
          { address: '/gh/acme/kit@v1/docs', verified: true },
          { counts: { skills: 1, documents: 0 }, skillNames: ['one'] },
        ),
      ],
    }),
    mounts: question => {
      asked.push(question)
      return readyMount({}, { address: '/gh/acme/tools' })
    },
    skills: () =>
      skillPage({
        ruleChain: [
          { path: 'SKILLSET.md', content: '# Rules\n\n1. **Say** where.\n', fragment: whole('x') },
          { path: 'skills/SKILLSET.md', content: 'Be brief.\n', fragment: whole('x') },
        ],
        references: ['a.md'],
      }),
  })
  const { status, html } = await get('/')
  expect(status).toBe(200)
  expect(asked.map(({ address }) => address)).toEqual(['gh/acme/tools'])
  expect(attributesOf(html, 'form', 'action')).toEqual(['/open'])
  const rows = html.slice(html.indexOf('<ul class="rows">'))
  expect(attributesOf(rows, 'a', 'href').filter(href => href.startsWith('/gh/'))).toEqual([
    '/gh/acme/later',
    '/gh/acme/tools',
    '/gh/acme/kit@v1/docs',
    '/gh/acme/broken',
  ])
  const text = textOf(html)
  for (const words of [
    'Paste a repository. See what your agents would read from it, word for word and in order, before you trust it.',
    'owner/repository or a GitHub link. Add @v1 for a version.',
    'What an agent reads with the skill pdf',
    'Rules for every skill SKILLSET.md Say where.',
    'Rules for skills/ skills/SKILLSET.md Be brief.',
    'The skill itself skills/pdf/SKILL.md When a PDF is at hand.',
    '1 other file, only listed The agent opens it if it must.',
    'being indexed',
    'verified',
    '1 skill ',
    'could not be indexed',
  ])
    expect(text).toContain(words)
})

test('while nothing is ready there is no example, and the page is asked for again', async () => {
  const { get } = await open({
    featured: () => ({ items: [indexing('/gh/acme/tools'), indexing('/gh/acme/kit')] }),
    mounts: () => readyMount({}, { address: '/gh/acme/tools', index: { status: 'indexing' } }),
  })
  const { html } = await get('/')
  expect(textOf(html)).toContain('being indexed')
  expect(html).not.toContain('class="example"')
  expect(attributesOf(html, 'meta', 'http-equiv')).toEqual(['refresh'])
})

describe('the address field is shown', () => {
  test.each<[string, Answers]>([
    ['without featured repositories', { featured: () => ({ items: [] }) }],
    ['with featured repositories that cannot be read', { featured: () => refusal('service.internal') }],
    [
      'if the example disappears meanwhile',
      { featured: () => ({ items: [readyCard()] }), mounts: () => refusal('mount.unavailable') },
    ],
  ])('%s', async (_name, answers) => {
    const { get } = await open(answers)
    const { status, html } = await get('/')
    expect(status).toBe(200)
    expect(attributesOf(html, 'form', 'action')).toEqual(['/open'])
    expect(textOf(html)).not.toContain('What an agent reads with')
  })
})

test('unreadable cards are reported, and a deployment without cards is not', async () => {
  const unread = await open({ featured: () => refusal('service.internal') })
  expect(textOf((await unread.get('/')).html)).toContain('The list of repositories cannot be loaded now.')
  await unread.close()
  const none = await open({ featured: () => ({ items: [] }) })
  expect(textOf((await none.get('/')).html)).not.toContain('cannot be loaded')
})

test('pictures are cut by this origin: no other is loaded', async () => {
  const images = [
    'https://mountglass.example/media/abc.png',
    'https://github.example/acme/tools/raw/abc/cover.png',
    'https://github.example/acme/other/raw/abc/cover.png',
    'https://raw.example/acme/tools/cover.png',
    'https://mountglass.example.evil.example/x.png',
    `javascript:${HOSTILE}`,
    null,
  ]
  const hostUrls = { gh: 'https://github.example' }
  const { get } = await open(
    {
      featured: () => ({ items: [readyCard(), ...images.map((image, at) => readyCard({ address: `/gh/acme/r${at}`, image }))] }),
    },
    { hostUrls },
  )
  const { html } = await get('/')
  expect(attributesOf(html, 'img', 'src')).toEqual(['/picture/gh/acme/r0', '/picture/gh/acme/r1'])
  expect(attributesOf(html, 'img', 'data-letter')).toEqual(['A', 'A'])
  expect(dangersOf(html).filter(tag => !tag.startsWith('<img class="row-picture" src="/picture/gh/acme/r'))).toEqual([])
})

test('without its own picture, a public repository has that of its owner', async () => {
  const repository = { ...readyCard().repository, avatar: 'https://avatars.example/u/1' }
  const items = [
    readyCard(),
    readyCard({ address: '/gh/acme/b@v1', repository, image: 'https://raw.example/x.png' }),
    readyCard({ address: '/gh/acme/c', repository: { ...repository, visibility: 'private' } }),
  ]
  const { get } = await open({ featured: () => ({ items }) })
  expect(attributesOf((await get('/')).html, 'img', 'src')).toEqual(['/icon/gh/acme/b@v1'])
})

test('hostile words of a card stay words', async () => {
  const license = { kind: 'open', name: HOSTILE, source: HOSTILE } as const
  const manifest = { path: HOSTILE, name: HOSTILE, description: HOSTILE, language: '"><script>', translations: {} }
  const card = readyCard(
    { repository: { ...readyCard().repository, description: HOSTILE } },
    { manifest, license, skillNames: [HOSTILE] },
  )
  const { get } = await open({
    featured: () => ({ items: [readyCard(), card] }),
    mounts: () => readyMount({ manifest, license }, { repository: card.repository }),
  })
  const { html } = await get('/')
  expect(html).toContain('alert(1)')
  expect(dangersOf(html)).toEqual([])
})

const LICENSE = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const FACTS = {
  sentence: 'What it is for.',
  language: null,
  skills: 3,
  documents: 1,
  withheld: 0,
  license: LICENSE,
  findings: 2,
  changedAt: '2026-03-04T05:06:07Z',
}

/** Lists in which every address has this state. */
const listing = (stateOf: (address: string) => ListedState): ListedRepositories => ({
  peek: async addresses => addresses.map(address => ({ address, description: null, state: stateOf(address) })),
  search: async () => ({ found: [], unread: [], isCut: false }),
})

test('local repositories follow what the operator features, each with its facts or its state in words', async () => {
  const states: Record<string, ListedState> = {
    '/local/acme/ready': { kind: 'ready', facts: { ...FACTS, withheld: 2 } },
    '/local/acme/empty': { kind: 'empty' },
    '/local/acme/damaged': { kind: 'damaged' },
    '/local/acme/unread': { kind: 'unread' },
    '/local/acme/failed': { kind: 'failed', errorCode: 'index.timeout' },
    '/local/acme/slow': { kind: 'late' },
  }
  const listLocal = async () => [
    '/local/acme/empty',
    '/local/acme/damaged',
    '/local/acme/failed',
    '/local/acme/ready',
    '/local/acme/slow',
    '/local/acme/unread',
  ]
  const { get } = await open(
    { featured: () => ({ items: [readyCard({ address: '/gh/acme/first' })] }) },
    { listLocal, listed: listing(address => states[address] ?? { kind: 'unavailable' }) },
  )
  const { html } = await get('/')
  const rows = html.slice(html.indexOf('<ul class="rows">'), html.indexOf('</ul>', html.indexOf('<ul class="rows">')))
  expect(attributesOf(rows, 'a', 'href')).toEqual([
    '/gh/acme/first',
    '/local/acme/ready',
    '/local/acme/ready',
    '/local/acme/ready?view=findings',
    '/local/acme/slow',
    '/local/acme/unread',
    '/local/acme/empty',
    '/local/acme/damaged',
    '/local/acme/failed',
  ])
  const text = textOf(rows)
  for (const words of [
    'What it is for.',
    '3 skills',
    'MIT 2 texts withheld',
    '2 findings',
    '4 Mar 2026',
    'not looked at yet',
    'not indexed yet',
    'no commits yet',
    'damaged',
    'could not be indexed',
  ])
    expect(text).toContain(words)
})

describe('three lines say what one gets, where it is to be seen', () => {
  const listLocal = async () => ['/local/acme/unread', '/local/acme/kit', '/local/acme/last']
  const listed = listing(address => (address.endsWith('unread') ? { kind: 'unread' } : { kind: 'ready', facts: FACTS }))
  const none = { skills: { added: 0, removed: 0, changed: 0, moved: 0 } }
  const versionsWith = (bases: Record<string, string>, changed: number | null) => () => ({
    ...versionsOfClient(createApiClient(answering({}))),
    indexedBase: async ({ repository }: Address) => {
      const ref = bases[repository]
      return ref === undefined ? null : { ref, commit: COMMIT, isIndexed: changed !== null }
    },
    changesIfIndexed: async () =>
      ({ counts: { ...none, documents: { ...none.skills, changed: changed ?? 0 } } }) as unknown as ChangesPage,
  })
  const hrefsIn = (html: string) => {
    const start = html.indexOf('<ul class="gains">')
    return attributesOf(html.slice(start, html.indexOf('</ul>', start)), 'a', 'href')
  }
  const featured = () => ({ items: [readyCard({ address: '/gh/acme/first' })] })
  const example = { featured, mounts: () => readyMount({}, { address: '/gh/acme/first' }), skills: () => skillPage() }

  test('of the example, or else of the first row that has it', async () => {
    const { get } = await open(example, { listLocal, listed, versions: versionsWith({ kit: COMMIT, last: 'v2' }, null) })
    const { html } = await get('/')
    expect(hrefsIn(html)).toEqual([
      '/gh/acme/first?view=skill&path=skills/pdf/SKILL.md',
      '/local/acme/last?view=changes&from=v2',
      '/gh/acme/first?view=findings',
    ])
    expect(textOf(html)).toContain('since v2')
  })

  test('changes are counted where both versions are indexed', async () => {
    const { get } = await open(example, { listLocal, listed, versions: versionsWith({ kit: COMMIT }, 3) })
    expect(textOf((await get('/')).html)).toMatch(/3 changes in local\/ acme \/ kit since a1b2c3d/)
  })

  test('as words alone, where nothing is indexed', async () => {
    const { get } = await open({ featured: () => ({ items: [] }) })
    const { html } = await get('/')
    expect(hrefsIn(html)).toEqual([])
    for (const words of ['What agents read, word for word', 'What changed between two versions', 'What to look at before'])
      expect(textOf(html)).toContain(words)
  })
})

test('an address that not everyone may open has no row, and one address has one', async () => {
  const listed = { ...listing(() => ({ kind: 'unread' })), peek: async (all: readonly string[]) => all.map(() => null) }
  const { get } = await open(
    { featured: () => ({ items: [readyCard({ address: '/local/acme/tools' })] }), mounts: () => readyMount() },
    { listLocal: async () => ['/local/acme/tools', '/local/acme/gone'], listed },
  )
  const { html } = await get('/')
  expect(html).not.toContain('acme/gone')
  expect(html.split('class="row ')).toHaveLength(2)
})

describe('of many repositories', () => {
  const listLocal = async () => Array.from({ length: 120 }, (_, index) => `/local/acme/r${index}`)
  const listed = listing(address => ({ kind: 'ready', facts: { ...FACTS, sentence: `Number ${address.slice(-1)}` } }))

  test('a hundred are shown, and a field filters all of them by Enter', async () => {
    const { get } = await open({ featured: () => ({ items: [] }) }, { listLocal, listed })
    const { html } = await get('/')
    expect(html.split('class="row ')).toHaveLength(101)
    expect(attributesOf(html, 'input', 'name')).toContain('words')
    const filtered = await get('/?words=R11+number')
    expect(attributesOf(filtered.html, 'a', 'href').filter(href => /^\/local\/[^?]+$/.test(href))).toEqual([
      '/local/acme/r11',
      ...Array.from({ length: 10 }, (_, index) => `/local/acme/r11${index}`),
    ])
    expect(textOf(filtered.html)).toContain('11 of 120')
    expect(attributesOf(filtered.html, 'meta', 'content')).toContain('noindex')
    expect(textOf((await get('/?words=none')).html)).toContain('No repository has these words.')
  })

  test('below thirty there is no field', async () => {
    const { get } = await open(
      { featured: () => ({ items: [] }) },
      { listLocal: async () => (await listLocal()).slice(0, 29), listed },
    )
    expect(attributesOf((await get('/')).html, 'input', 'name')).not.toContain('words')
  })

  test('names that contain a text are suggested, a few, best first', async () => {
    const { get } = await open(
      { featured: () => ({ items: [readyCard({ address: '/gh/acme/kit@v1/docs' })] }) },
      { listLocal, listed },
    )
    const answer = async (text: string) => JSON.parse((await get(`/suggest?q=${encodeURIComponent(text)}`)).html)
    expect(await answer('r119')).toEqual({ items: [{ text: 'local/acme/r119', href: '/local/acme/r119' }] })
    expect(await answer('KIT')).toEqual({ items: [{ text: 'gh/acme/kit@v1/docs', href: '/gh/acme/kit@v1/docs' }] })
    expect((await answer('acme')).items).toHaveLength(8)
    for (const none of ['', '  ', 'x'.repeat(5000), '\0']) expect(await answer(none)).toEqual({ items: [] })
    const { headers } = await get('/suggest?q=r1&q=r2')
    expect(headers).toMatchObject({ 'cache-control': 'public, max-age=30', 'content-type': 'application/json; charset=utf-8' })
  })
})

test('the page of a local owner has the same rows', async () => {
  const listLocal = async () => ['/local/Acme/one', '/local/Acme/two', '/local/other/kit']
  const { get } = await open({}, { listLocal, listed: listing(() => ({ kind: 'ready', facts: FACTS })) })
  expect(await get('/local/acme')).toMatchObject({ status: 301, headers: { location: '/owners/local/acme' } })
  expect(await get('/owners/local/acme')).toMatchObject({ status: 301, headers: { location: '/owners/local/Acme' } })
  const { status, html } = await get('/owners/local/Acme')
  expect(status).toBe(200)
  expect(attributesOf(html, 'a', 'href').filter(href => /^\/local\/[^?]+$/.test(href))).toEqual([
    '/local/Acme/one',
    '/local/Acme/two',
  ])
  const none = await get('/owners/local/none')
  expect(none.status).toBe(404)
  expect(attributesOf(none.html, 'a', 'href')).toContain('/')
})

test('a search says what it found where, and no more than is true', async () => {
  const skill = {
    kind: 'skill' as const,
    path: 'pdf/SKILL.md',
    directory: 'pdf',
    name: 'pdf',
    description: 'Fills forms.',
    translations: {},
    license: { kind: 'open' as const, name: 'MIT', source: 'LICENSE' },
    files: [{ path: 'pdf/colors.md', title: 'Colors', summary: 'Violet.' }],
    moreFiles: 0,
  }
  const listed: ListedRepositories = {
    ...listing(() => ({ kind: 'ready', facts: FACTS })),
    search: async () => ({ found: [{ address: '/local/acme/kit', skills: [skill], hasMore: false }], unread: [], isCut: false }),
  }
  const { get } = await open({}, { listLocal: async () => ['/local/acme/kit'], listed })
  const said = async (query: string) => textOf((await get(`/search?query=${query}`)).html)
  const inFile = await said('violet+ink')
  expect(inFile).toContain('Results for violet ink')
  expect(inFile).toContain('A result may have only some of the words.')
  expect(inFile).toMatch(/Found in its file pdf\/ ?colors\.md/)
  const inDescription = await said('forms')
  expect(inDescription).not.toContain('Found in its file')
  expect(inDescription).not.toContain('only some of the words')
})

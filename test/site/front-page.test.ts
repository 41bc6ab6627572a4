import { afterEach, describe, expect, test } from 'vitest'
import { type Answers, HOSTILE, type Question, readyCard, readyMount, refusal, skillPage, whole } from './support/answers.ts'
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

test('the first that is ready is an example to begin with, the others are cards in their order', async () => {
  const asked: Question[] = []
  const { get } = await open({
    featured: () => ({
      items: [
        indexing('/gh/acme/later'),
        readyCard(),
        readyCard(
          { address: '/gh/acme/kit@v1/docs', verified: true },
          { counts: { skills: 1, documents: 0 }, skillNames: ['one'] },
        ),
        readyCard({ address: '/gh/acme/broken', index: failed }),
      ],
    }),
    mounts: question => {
      asked.push(question)
      return readyMount({}, { address: '/gh/acme/tools' })
    },
    skills: () =>
      skillPage({
        ruleChain: [{ path: 'SKILLSET.md', content: '# Rules\n\n1. **Say** where.\n', fragment: whole('x') }],
        references: ['a.md'],
      }),
  })
  const { status, html } = await get('/')
  expect(status).toBe(200)
  expect(asked.map(({ address }) => address)).toEqual(['gh/acme/tools'])
  expect(attributesOf(html, 'form', 'action')).toEqual(['/open'])
  const links = attributesOf(html, 'a', 'href').filter(href => href.startsWith('/gh/'))
  expect(links).toEqual([
    '/gh/acme/tools',
    '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md',
    '/gh/acme/later',
    '/gh/acme/kit@v1/docs',
    '/gh/acme/broken',
  ])
  const text = textOf(html)
  for (const words of [
    'Example address',
    'rule SKILLSET.md Say where.',
    'skill skills/pdf/SKILL.md When a PDF is at hand.',
    '1 file to read when needed',
    'indexing',
    'verified',
    '1 skill ',
    'indexing failed',
  ])
    expect(text).toContain(words)
})

test('the form of addresses is named for every host, and programs find the API', async () => {
  const { get } = await open({})
  const { html } = await get('/')
  for (const host of ['local', 'gh']) expect(textOf(html)).toContain(`/${host}/owner/repository@ref/path`)
  expect(attributesOf(html, 'a', 'href')).toContain('/api/v1/openapi.json')
})

test('a card shows the description of its repository, and how many further skills there are', async () => {
  const manifest = { path: 'SKILLSET.md', name: 'Kit', description: 'What we work with.', language: 'en', translations: {} }
  const { get } = await open({
    featured: () => ({ items: [readyCard(), readyCard({ address: '/gh/acme/kit' }, { manifest })] }),
    mounts: () => readyMount(),
  })
  const text = textOf((await get('/')).html)
  for (const words of ['Kit What we work with.', 'pdf docx and 5 more', '7 skills 2 documents Apache-2.0'])
    expect(text).toContain(words)
})

test('while nothing is ready the example comes first, marked as such', async () => {
  const { get } = await open({
    featured: () => ({ items: [indexing('/gh/acme/tools'), indexing('/gh/acme/kit')] }),
    mounts: () => readyMount({}, { address: '/gh/acme/tools', index: { status: 'indexing' } }),
  })
  const { html } = await get('/')
  expect(textOf(html)).toContain('This repository is being indexed.')
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
    expect(textOf(html)).not.toContain('Example address')
  })
})

test('unreadable cards are reported, and a deployment without cards is not', async () => {
  const unread = await open({ featured: () => refusal('service.internal') })
  expect(textOf((await unread.get('/')).html)).toContain('The featured repositories cannot be loaded now.')
  await unread.close()
  const none = await open({ featured: () => ({ items: [] }) })
  expect(textOf((await none.get('/')).html)).not.toContain('eatured')
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
    { featured: () => ({ items: [readyCard(), ...images.map(image => readyCard({ image }))] }) },
    { hostUrls },
  )
  const { html } = await get('/')
  expect(attributesOf(html, 'img', 'src')).toEqual(['/picture/gh/acme/tools', '/picture/gh/acme/tools'])
  expect(dangersOf(html).filter(tag => !tag.startsWith('<img src="/picture/gh/acme/tools" alt=""'))).toEqual([])
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

test('without a selection of the operator, local repositories are listed', async () => {
  const listLocal = async () => [
    '/local/acme/tools',
    '/local/acme/others',
    ...Array.from({ length: 60 }, (_, index) => `/local/acme/r${index}`),
  ]
  const featured = () => ({ items: [readyCard({ address: '/local/acme/tools' })] })
  const { get } = await open({ featured, mounts: () => readyMount(), skills: () => skillPage() }, { listLocal })
  const { html } = await get('/')
  const links = attributesOf(html, 'a', 'href').filter(href => href.startsWith('/local/acme/'))
  expect(links.filter(href => href === '/local/acme/tools').length).toBe(1)
  expect(links).toContain('/local/acme/others')
  expect(textOf(html)).toContain('Local repositories 61')
  expect(textOf(html)).toContain('and 13 more: type their address')
})

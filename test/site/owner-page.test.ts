import { STATUS_CODES } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { ErrorCode } from '#core/errors.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import {
  type Answers,
  HOSTILE,
  listedRepository,
  ownerPage,
  type Question,
  readyCard,
  readyMount,
  refusal,
} from './support/answers.ts'
import { attributesOf, dangersOf, tagsOf, textOf, titleOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const PAGE = '/owners/gh/acme'
const MANY = ['a', 'b', 'c', 'd', 'e']

let site: Site | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

async function open(owners: Answers['owners'], hosts: readonly string[] = ['local', 'gh']): Promise<Site> {
  site = await openSite({ owners: owners ?? (() => ownerPage()), mounts: () => readyMount() }, { hosts })
  return site
}

describe('an account', () => {
  test('shows its profile, its indexed repositories, and the others', async () => {
    const { get } = await open(() => ownerPage({ repositories: [listedRepository({ fork: true, archived: true, stars: 1234 })] }))
    const { status, html } = await get(PAGE)
    expect(status).toBe(200)
    expect(titleOf(html)).toBe('acme · Mountglass')
    const text = textOf(html)
    for (const words of [
      'Acme Corporation',
      'We make everything.',
      'organization',
      '3 public repositories',
      'Indexed 1',
      'pdf',
      'and 5 more',
      '7 skills',
      'Our site.',
      'fork',
      'archived',
      '1,234 stars',
      'pushed 4 Mar 2026',
    ]) {
      expect(text).toContain(words)
    }
    const links = attributesOf(html, 'a', 'href')
    expect(links).toEqual(expect.arrayContaining(['https://github.com/acme', '/gh/acme/tools', '/gh/acme/site']))
    expect(attributesOf(html, 'link', 'href')).toContain('https://mountglass.example/owners/gh/acme')
  })

  test('leaves to a crawler no link that would have a repository indexed', async () => {
    const { get } = await open(undefined)
    const [link] = tagsOf((await get(PAGE)).html).filter(tag => tag.includes('href="/gh/acme/site"'))
    expect(link).toContain('rel="nofollow"')
  })

  test('without an indexed repository says so, and how to index one', async () => {
    const { get } = await open(() => ownerPage({ indexed: [] }))
    expect(textOf((await get(PAGE)).html)).toContain('The first visit to a repository indexes it.')
  })

  test('without repositories says so', async () => {
    const { get } = await open(() =>
      ownerPage({ indexed: [], repositories: [] }, { name: null, bio: null, publicRepositories: 0 }),
    )
    const { status, html } = await get(PAGE)
    expect(status).toBe(200)
    expect(textOf(html)).toContain('0 public repositories')
    expect(textOf(html)).toContain('This account has no other public repositories.')
  })

  test('is asked for by its login, and found under the spelling of the host', async () => {
    const asked: Question[] = []
    const { get } = await open(question => {
      asked.push(question)
      return ownerPage({}, { login: 'Acme' })
    })
    expect(await get('/owners/gh/acme/?page=2')).toMatchObject({ status: 301, headers: { location: '/owners/gh/Acme?page=2' } })
    expect((await get('/owners/gh/Acme')).status).toBe(200)
    expect(asked.map(({ address, query }) => `${address}?${query}`)).toEqual(['gh/acme?page=2', 'gh/Acme?'])
  })

  test('is where an address leads that ends behind its owner', async () => {
    const { get } = await open(undefined)
    for (const target of ['/gh/acme', '/gh/acme/'])
      expect(await get(target)).toMatchObject({ status: 301, headers: { location: PAGE } })
    expect(attributesOf((await get('/gh/acme/tools')).html, 'a', 'href')).not.toContain('/owners/local/acme')
  })

  test('has no page where GitHub is not served', async () => {
    const { get } = await open(undefined, ['local'])
    for (const path of [PAGE, '/owners/%zz']) {
      const { status, html } = await get(path)
      expect([path, status]).toEqual([path, 404])
      expect(textOf(html)).toContain('There is no page at')
    }
    expect((await get('/gh/acme')).status).toBe(400)
  })
})

describe('the pages of an account', () => {
  test('are one link apart, from the first to the hundredth', async () => {
    const { get } = await open(({ query }) => {
      const page = Number(query.get('page') ?? 1)
      const { indexed, ...rest } = ownerPage({ nextPage: page < 100 ? page + 1 : null })
      return page === 1 ? { ...rest, indexed: indexed ?? [] } : rest
    })
    const pages = async (target: string) => {
      const links = attributesOf((await get(target)).html, 'a', 'href')
      return links.filter(href => /^\/owners\/gh\/acme(?:\?|$)/.test(href))
    }
    expect(await pages(PAGE)).toEqual([`${PAGE}?page=2`])
    expect(await pages(`${PAGE}?page=2`)).toEqual([PAGE, `${PAGE}?page=3`])
    expect(await pages(`${PAGE}?page=3`)).toEqual([PAGE, `${PAGE}?page=2`, `${PAGE}?page=4`])
    expect(await pages(`${PAGE}?page=100`)).toEqual([PAGE, `${PAGE}?page=99`])
    const { html } = await get(`${PAGE}?page=2`)
    expect(textOf(html)).toContain('Repositories, page 2')
    expect(textOf(html)).not.toContain('Indexed')
    expect(titleOf(html)).toBe('Page 2 · acme · Mountglass')
    expect(attributesOf(html, 'meta', 'content')).toContain('noindex')
  })

  test('behind the last one are empty and lead back', async () => {
    const { indexed: _, ...rest } = ownerPage({ repositories: [] })
    const { get } = await open(() => rest)
    const { status, html } = await get(`${PAGE}?page=9`)
    expect(status).toBe(200)
    expect(textOf(html)).toContain('This page has no other repositories.')
    expect(attributesOf(html, 'a', 'href')).toContain(PAGE)
  })

  test('that do not exist are refused with a link to the first', async () => {
    const { get } = await open(() => refusal('request.invalid'))
    const { status, html } = await get(`${PAGE}?page=101`)
    expect(status).toBe(400)
    expect(html).toContain('data-code="request.invalid"')
    expect(attributesOf(html, 'a', 'href')).toContain(PAGE)
  })
})

describe('an account that cannot be shown', () => {
  const codes: ErrorCode[] = ['owner.invalid', 'owner.not_found', 'mount.rate_limited', 'mount.unavailable', 'skill.unavailable']
  test.each(codes)('because of %s keeps the status', async code => {
    const { get } = await open(() => refusal(code))
    const { status, reason, html } = await get(PAGE)
    expect([status, reason]).toEqual([ERROR_STATUS[code], STATUS_CODES[ERROR_STATUS[code]]])
    expect(html).toContain(`data-code="${code}"`)
  })

  test.each(['/owners', '/owners/', '/owners/gh', '/owners/gh/-a', '/owners/gh/a/b', '/owners/gh/%ZZ'])(
    'because %s names none causes no request to the host',
    async target => {
      const asked: Question[] = []
      const { get } = await open(question => {
        asked.push(question)
        return ownerPage()
      })
      const { status, html } = await get(target)
      expect(status).toBe(400)
      expect(html).toContain('data-code="owner.invalid"')
      expect(asked).toEqual([])
    },
  )

  test('because its host does not answer, leads to itself, to the host and to the local repositories of this owner', async () => {
    site = await openSite(
      { owners: () => refusal('mount.unavailable') },
      {
        hosts: ['gh', 'local'],
        hostUrls: { gh: 'https://github.example' },
        listLocal: async () => [
          '/local/Acme/kit',
          '/local/acme/tools',
          '/local/acmes/x',
          ...MANY.map(name => `/local/acme/${name}`),
        ],
      },
    )
    const { html } = await site.get(`${PAGE}?page=2`)
    const main = html.slice(html.indexOf('<main'))
    expect(textOf(main)).toMatch(/^gh\/ acme Temporarily unavailable/)
    const links = attributesOf(main, 'a', 'href')
    expect(links.slice(0, 4)).toEqual([`${PAGE}?page=2`, 'https://github.example/acme', '/local/Acme/kit', '/local/acme/tools'])
    expect(links.filter(href => href.startsWith('/local/'))).toHaveLength(5)
  })

  test('at present has the time of the next attempt', async () => {
    const { get } = await open(() => refusal('mount.rate_limited', { retryAfter: 1_500 }))
    const { headers, html } = await get(PAGE)
    expect(headers['retry-after']).toBe('1500')
    expect(textOf(html)).toMatch(/Wait 25 minutes, until \d{4}-\d\d-\d\d \d\d:\d\d UTC, then try again\./)
  })
})

test('hostile words of an account stay words', async () => {
  const license = { kind: 'open', name: HOSTILE, source: HOSTILE } as const
  const manifest = { path: HOSTILE, name: HOSTILE, description: HOSTILE, language: '"><script>', translations: {} }
  const repository = { ...readyCard().repository, description: HOSTILE }
  const { get } = await open(() =>
    ownerPage(
      {
        indexed: [readyCard({ repository, image: `javascript:${HOSTILE}` }, { manifest, license, skillNames: [HOSTILE] })],
        repositories: [listedRepository({ name: HOSTILE, description: HOSTILE })],
      },
      { name: HOSTILE, bio: HOSTILE, url: `javascript:${HOSTILE}` },
    ),
  )
  const { status, html } = await get(PAGE)
  expect(status).toBe(200)
  expect(html).toContain('alert(1)')
  expect(dangersOf(html)).toEqual([])
  expect(html).toContain('<img src="/picture/owners/gh/acme" alt="" width="48" height="48" decoding="async" data-letter="A">')
  expect(html.replace(/<bdi class="hidden-character"[^>]*>[^<]*<\/bdi>/g, '')).not.toContain('\u202e')
})

import { expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { chooseLanguage } from '#core/page-language.ts'
import { carryLanguage, readPhrase } from '#site/lib/ui.ts'
import { filePage, findingsPage, readyMount, skillPage } from './support/answers.ts'
import { attributesOf, tagsOf, textOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const GERMAN = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' }

test.each([
  ['de', '', 'de', true],
  ['DE-ch', 'en', 'de', true],
  ['en', 'de', 'en', true],
  ['fr', 'de', 'de', false],
  [null, '', 'en', false],
  [null, '*', 'en', false],
  [null, 'de-DE,de;q=0.9,en;q=0.8', 'de', false],
  [null, 'en;q=0.4, de;q=0.9', 'de', false],
  [null, 'de;q=0, en', 'en', false],
  [null, 'dex, ja', 'en', false],
  [null, `${'x,'.repeat(100_000)}de`, 'en', false],
] as const)('lang=%s with the preferences %s is %s', (named, accepted, language, isChosen) => {
  expect(chooseLanguage(named, accepted)).toEqual({ language, isChosen })
})

test.each([
  ['/docs', '/docs?lang=de'],
  ['/docs/rest#find', '/docs/rest?lang=de#find'],
  ['/gh/a/b?view=find', '/gh/a/b?view=find&lang=de'],
  ['/docs?lang=en', '/docs?lang=en'],
])('%s keeps the chosen language as %s', (href, carried) => {
  expect(carryLanguage(href, { language: 'de', isChosen: true })).toBe(carried)
  expect(carryLanguage(href, { language: 'de', isChosen: false })).toBe(href)
})

test('a sentence has links, code and values', () => {
  expect(readPhrase('Run `a {b}` in {place}, or [see {it}](there).')).toEqual([
    { kind: 'text', text: 'Run ' },
    { kind: 'code', text: 'a {b}' },
    { kind: 'text', text: ' in ' },
    { kind: 'slot', text: 'place' },
    { kind: 'text', text: ', or ' },
    { kind: 'link', text: 'see {it}', target: 'there' },
    { kind: 'text', text: '.' },
  ])
})

test('a page is in the preferred language of its visitor, and varies by Accept-Language', async () => {
  const { get } = await open({})
  const german = await get(PAGE, 'GET', GERMAN)
  expect(tagsOf(german.html)).toContain('<html lang="de" dir="ltr">')
  expect(textOf(german.html)).toContain('1 Skill')
  expect(String(german.headers.vary)).toContain('accept-language')
  const english = await get(PAGE)
  expect(tagsOf(english.html)).toContain('<html lang="en" dir="ltr">')
  expect(String(english.headers.vary)).toContain('accept-language')
})

test('a cached page is sent in its own language only', async () => {
  const { get } = await open({})
  for (let turn = 0; turn < 2; turn++) {
    expect(textOf((await get(PAGE)).html)).toContain('Add it to an agent')
    expect(textOf((await get(PAGE, 'GET', GERMAN)).html)).toContain('Zu einem Agenten hinzufügen')
    expect(textOf((await get(`${PAGE}?lang=de`)).html)).toContain('Zu einem Agenten hinzufügen')
    expect(textOf((await get(`${PAGE}?lang=en`, 'GET', GERMAN)).html)).toContain('Add it to an agent')
  }
})

test('a page names itself in every language, and leads to itself in the others', async () => {
  const { get } = await open({ skills: () => skillPage() })
  const { html } = await get(SKILL, 'GET', GERMAN)
  const canonical = 'https://mountglass.example/local/acme/tools?view=skill&path=skills/pdf/SKILL.md'
  const alternates = tagsOf(html).filter(tag => tag.includes(' hreflang='))
  const [english, deutsch, other] = alternates.filter(tag => tag.startsWith('<link'))
  expect(attributesOf(english ?? '', 'link', 'href')).toEqual([`${canonical}&lang=en`])
  expect(attributesOf(deutsch ?? '', 'link', 'href')).toEqual([`${canonical}&lang=de`])
  expect(attributesOf(other ?? '', 'link', 'href')).toEqual([canonical])
  const [shown] = alternates.filter(tag => tag.startsWith('<a '))
  const target = new URL(attributesOf(shown ?? '', 'a', 'href')[0] ?? '', `http://x${SKILL}`)
  expect(target.pathname).toBe(PAGE)
  expect(Object.fromEntries(target.searchParams)).toEqual({ view: 'skill', path: 'skills/pdf/SKILL.md', lang: 'en' })
  expect(attributesOf((await get(`${SKILL}&lang=de`)).html, 'link', 'href')).toContain(`${canonical}&lang=de`)
})

test('the switch of a page repeats no path of the request', async () => {
  const { get } = await open({})
  const { html } = await get('//evil.example/x?a="><b&lang=de')
  const [href = ''] = tagsOf(html).flatMap(tag => (tag.includes(' hreflang=') ? attributesOf(tag, 'a', 'href') : []))
  expect(href).toMatch(/^\?a=%22%3E%3Cb&lang=en$/)
})

test('a chosen language is kept by every link, form and redirect within the site', async () => {
  const { get } = await open({
    mounts: () => readyMount({ counts: { skills: 9, documents: 1 } }, { ref: 'v1' }),
    files: () => filePage({ content: '[other](b.md)\n\n<a href="/local/raw/text">x</a>\n' }),
  })
  for (const target of [`${PAGE}?lang=de`, `${PAGE}?view=file&path=docs/guide.md&lang=de`, '/docs?lang=de', '/nothing?lang=de']) {
    const { html } = await get(target)
    const links = attributesOf(html, 'a', 'href').filter(href => href.startsWith('/') && !/^\/(?:api|git)\//.test(href))
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) expect(link).toMatch(/[?&]lang=de(?:#|$)/)
    for (const form of html.match(/<form (?!method="dialog")[\s\S]*?<\/form>/g) ?? [])
      expect(form).toContain('name="lang" value="de"')
    expect(html).not.toContain('/local/raw/text?lang')
  }
  expect((await get('/open?address=local/acme/tools&lang=de')).headers.location).toBe(`${PAGE}?lang=de`)
  for (const link of attributesOf((await get(PAGE, 'GET', GERMAN)).html, 'a', 'href')) {
    if (!link.startsWith('?')) expect(link).not.toContain('lang=')
  }
})

test('a page as Markdown is in the words of the interface in every language', async () => {
  const { get } = await open({})
  const german = await get(`${PAGE}?format=markdown`, 'GET', GERMAN)
  expect(german.html).toBe((await get(`${PAGE}?format=markdown`)).html)
})

test('findings are in German if there is a sentence, and marked as English otherwise', async () => {
  const finding = { path: 'a/SKILL.md', level: 'breaks' as const }
  const known = withMessage({ ...finding, code: 'reference.broken', values: { target: 'b.md' } })
  const unknown = { ...finding, code: 'made.up', message: 'something is odd' }
  const { get } = await open({ mounts: () => readyMount(), findings: () => findingsPage([known, unknown]) })
  const { html } = await get(`${PAGE}?view=findings`, 'GET', GERMAN)
  expect(html).toContain('b.md</bdi> führt ins Leere')
  expect(html).toContain('<bdi lang="en">something is odd</bdi>')
  expect((await get(`${PAGE}?view=findings`)).html).toContain('b.md</bdi> leads to nothing')
})

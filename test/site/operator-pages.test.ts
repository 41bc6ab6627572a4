import { describe, expect, test } from 'vitest'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { refusal } from './support/answers.ts'
import { attributesOf, tagsOf, textOf } from './support/html.ts'
import { open, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

type Entry = AnswerOf<'showcase'>['items'][number]

const slot = (name: string, type: string) => ({ url: `/media/${name}`, type })
const TEXT = {
  title: 'A title',
  body: 'A body.',
  tags: ['one'],
  action: 'Open it',
  requirement: null,
  clip: null,
  credit: null,
  demo: null,
}
const entry = (more: Partial<Entry> = {}): Entry => ({
  id: 'first',
  address: '/local/acme/tools',
  position: 1,
  width: 640,
  height: 360,
  durationMs: null,
  published: null,
  media: { poster: slot('p.png', 'image/png'), clip: null, animation: null, reference: null, picture: null, social: null },
  texts: { de: { ...TEXT, title: 'Ein Titel' }, en: TEXT },
  ...more,
})
const featured = () => ({ items: [] })
const terms = (): AnswerOf<'legal'> => ({
  kind: 'terms',
  revised: '2026-02-03',
  texts: {
    en: {
      title: 'Terms <b>of use</b>',
      body: 'Read [this](/docs), not [that](javascript:alert(1)).\n\n<script>alert(1)</script>\n',
    },
    de: { title: 'Bedingungen', body: 'Worte.\n' },
  },
})

describe('the showcase of the front page', () => {
  test('has title, words and a link to its address, and is absent without entries', async () => {
    const { get } = await open({ featured, showcase: () => ({ items: [entry()] }) })
    const { html } = await get('/')
    for (const words of ['Showcase', 'A title', 'A body.', 'Open it', 'one']) expect(textOf(html)).toContain(words)
    expect(attributesOf(html, 'a', 'href')).toContain('/local/acme/tools')
    expect(attributesOf(html, 'img', 'src')).toEqual(['/media/p.png'])
    expect(attributesOf(html, 'img', 'width')).toEqual(['640'])
  })

  test('plays a clip when a visitor starts it, and never automatically', async () => {
    const media = { ...entry().media, clip: slot('c.webm', 'video/webm'), animation: slot('a.gif', 'image/gif') }
    const texts = { en: { ...TEXT, clip: 'What it shows.' } }
    const { get } = await open({ featured, showcase: () => ({ items: [entry({ media, texts, durationMs: 4_000 })] }) })
    const { html, headers } = await get('/')
    const [video = ''] = tagsOf(html).filter(tag => tag.startsWith('<video'))
    for (const attribute of [' controls', ' preload="none"', ' poster="/media/p.png"', ' aria-describedby="clip-first"'])
      expect(video).toContain(attribute)
    expect(video).not.toMatch(/autoplay|loop/)
    expect(attributesOf(html, 'source', 'src')).toEqual(['/media/c.webm'])
    expect(textOf(html)).toContain('What it shows.')
    // An animation moves only where a visitor opens it.
    expect(html).toMatch(/<details><summary>Show it move<\/summary>\s*<img src="\/media\/a\.gif"[^>]*loading="lazy"/)
    expect(headers['content-security-policy']).toContain("media-src 'self'")
  })

  test('is left out if its host is not served, or cannot be read', async () => {
    const elsewhere = await open({ featured, showcase: () => ({ items: [entry({ address: '/gh/acme/tools' })] }) })
    expect(textOf((await elsewhere.get('/')).html)).not.toContain('Showcase')
    await elsewhere.close()
    const failing = await open({ featured, showcase: () => refusal('service.internal') })
    const { status, html } = await failing.get('/')
    expect([status, textOf(html).includes('Showcase')]).toEqual([200, false])
  })
})

describe('a legal page', () => {
  test('is in the requested language, links the others, and escapes markup', async () => {
    const { get } = await open({ legal: terms })
    const { status, html, headers } = await get('/terms')
    expect([status, headers.vary]).toEqual([200, expect.stringContaining('accept-language')])
    expect(textOf(html)).toContain('Terms <b>of use</b>')
    expect(textOf(html)).toContain('Revised 3 Feb 2026')
    expect(html).not.toContain('<script>alert')
    expect(attributesOf(html, 'a', 'href')).toEqual(expect.arrayContaining(['/docs', '/terms?text=de']))
    expect(attributesOf(html, 'a', 'href').join()).not.toContain('javascript')
    for (const page of [
      await get('/terms?lang=de'),
      await get('/terms?text=de'),
      await get('/terms', 'GET', { 'accept-language': 'xx, de-AT;q=0.7' }),
    ])
      expect(textOf(page.html)).toContain('Bedingungen')
    expect(textOf((await get('/terms?text=xx', 'GET', { 'accept-language': 'de' })).html)).toContain('Terms')
  })

  test('has its revision, its language and its contents beside it', async () => {
    const body = '## What holds\n\nWords.\n\n## What does <b>not</b>\n\nWords.\n'
    const { get } = await open({ legal: () => ({ ...terms(), texts: { de: { title: 'Bedingungen', body } } }) })
    const { html } = await get('/terms')
    const [, contents = ''] = /<nav class="docs-contents"(.*?)<\/nav>/s.exec(html) ?? []
    expect(attributesOf(contents, 'a', 'href')).toEqual(['#what-holds', '#what-does-bnotb'])
    expect(attributesOf(contents, 'ul', 'lang')).toEqual(['de'])
    expect(contents).not.toContain('<b>')
    expect(textOf(html)).toContain('Revised 3 Feb 2026 Deutsch')
    const short = await open({ legal: terms })
    expect((await short.get('/terms')).html).not.toContain('docs-contents"')
  })

  test('is 404 while it is unwritten', async () => {
    const { get } = await open({ legal: () => refusal('legal.not_found') })
    for (const path of ['/terms', '/privacy']) {
      const { status, html } = await get(path)
      expect([status, textOf(html).includes('The operator of this server has published no such text.')]).toEqual([404, true])
    }
    expect(textOf((await get('/nothing')).html)).not.toContain('operator')
  })
})

import { expect, test } from 'vitest'
import { readyMount, refusal, skillPage } from './support/answers.ts'
import { tagsOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const ORIGIN = 'https://mountglass.example'

/** The tags by which other sites show a link, by name. */
function cardTagsOf(html: string): Record<string, string> {
  const tags = tagsOf(html).map(tag => /^<meta (?:property|name)="((?:og|twitter):[a-z:]+)" content="([^"]*)">$/.exec(tag))
  return Object.fromEntries(tags.flatMap(found => (found ? [[found[1], found[2]]] : [])))
}

const SIZE = {
  'og:image:width': '1200',
  'og:image:height': '630',
  'og:image:type': 'image/png',
  'twitter:card': 'summary_large_image',
}

test('pages link their card, with its size and its text', async () => {
  const { get } = await open({ skills: () => skillPage() })
  const expected = [
    [PAGE, `${ORIGIN}/social/local/acme/tools`, 'Tools · local/acme/tools'],
    [SKILL, `${ORIGIN}/social/local/acme/tools?skill=skills/pdf/SKILL.md`, 'pdf · local/acme/tools'],
    ['/docs/rules', `${ORIGIN}/social/docs/rules`, expect.stringContaining('Mountglass documentation')],
    ['/docs', `${ORIGIN}/social/docs`, expect.stringContaining('Mountglass documentation')],
    ['/', `${ORIGIN}/social/docs`, 'Mountglass: See what your agents read'],
  ] as const
  for (const [page, image, alt] of expected) {
    const { html } = await get(page)
    expect(cardTagsOf(html), page).toMatchObject({
      ...SIZE,
      'og:image': image,
      'twitter:image': image,
      'og:image:alt': alt,
      'twitter:image:alt': alt,
    })
  }
})

test('a page without a public address has the card of the service', async () => {
  const card = { 'og:image': `${ORIGIN}/social/docs` }
  const missing = await open({ mounts: () => refusal('mount.repo_not_found') })
  expect(cardTagsOf((await missing.get(PAGE)).html)).toMatchObject(card)
  await missing.close()
  const { repository } = readyMount()
  const hidden = await open({ mounts: () => readyMount({}, { repository: { ...repository, visibility: 'private' } }) })
  expect(cardTagsOf((await hidden.get(PAGE)).html)).toMatchObject(card)
})

test('pages of a service without pictures name none', async () => {
  const repository = { ...readyMount().repository, avatar: 'https://avatars.example/1' }
  const answers = { mounts: () => readyMount({}, { repository }) }
  const drawing = await open(answers)
  expect((await drawing.get(PAGE)).html).toContain('"/icon/local/acme/tools"')
  await drawing.close()
  const { html } = await (await open(answers, { hasPictures: false })).get(PAGE)
  expect(html).not.toMatch(/\/(?:social|icon|picture)\//)
  expect(cardTagsOf(html)).toMatchObject({ 'twitter:card': 'summary', 'og:title': expect.stringContaining('Tools') })
  expect(Object.keys(cardTagsOf(html)).filter(name => name.includes('image'))).toEqual([])
})

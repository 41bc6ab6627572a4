import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, expectPicture, getPicture } from './support/pictures.ts'

const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: Does ${name}.\nlicense: MIT\n${more}---\nDo it.\n`
const MANIFEST = `---
name: Handbook
description: How we work.
language: en
translations:
  de:
    name: Handbuch
    description: Wie wir arbeiten.
---
`
const FILES = {
  LICENSE: 'MIT',
  'SKILLSET.md': MANIFEST,
  'a/SKILL.md': skill('a', 'translations:\n  ja:\n    name: エー\n'),
  'b/SKILL.md': skill('b'),
}
const PNG = { type: 'image/png', cache: 'public, max-age=3600' }
const VARIED = { ...PNG, vary: 'accept-language' }

let at: TestApp
beforeAll(async () => {
  at = await testApp(
    { 'acme/handbook': FILES, 'acme/later': FILES, 'acme/failed': FILES, 'acme/denied': FILES, 'acme/hidden': FILES },
    {
      github: { withToken: false },
      // Only deployments with pages have cards.
      site: async app => void app.setNotFoundHandler((_request, reply) => reply.code(404).send('no page')),
      docs: [
        { slug: '', texts: { en: { label: 'What it is', section: 'Start' } } },
        { slug: 'rules', texts: { en: { label: 'Rules', section: 'Write' }, de: { label: 'Regeln', section: 'Schreiben' } } },
      ],
      deps: deps => ({ ...deps, deny: [({ repository }) => repository === 'denied'] }),
    },
  )
  await at.github.shown('acme', 'hidden', { visibility: 'private' })
  await at.open('/local/acme/handbook')
})
afterAll(() => at.close())

const CARD = '/social/local/acme/handbook'
const bytesOf = async (url: string, headers?: Record<string, string>) => {
  const { status, bytes } = await getPicture(at, url, headers)
  expect([status, url]).toEqual([200, url])
  return bytes
}

describe('the card of an address', () => {
  test('is a PNG of 1200 by 630, which varies by language only where the address names none', async () => {
    const { bytes } = await expectPicture(at, CARD, VARIED)
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 1200, height: 630 })
    await expectPicture(at, `${CARD}?lang=de`, PNG)
    await expectPicture(at, `${CARD}?lang=de&lang=en`, PNG)
  })

  test('is in the language that is asked for, by the parameter before the header', async () => {
    const [english, german] = [await bytesOf(`${CARD}?lang=en`), await bytesOf(`${CARD}?lang=de`)]
    expect(english.equals(german)).toBe(false)
    expect((await bytesOf(CARD)).equals(english)).toBe(true)
    expect((await bytesOf(CARD, { 'accept-language': 'xx, de-AT;q=0.8, en;q=0.5' })).equals(german)).toBe(true)
    expect((await bytesOf(`${CARD}?lang=en`, { 'accept-language': 'de' })).equals(english)).toBe(true)
    for (const lang of ['', 'xx', '%00', 'e', 'no-such-language-tag', '<script>'])
      expect((await bytesOf(`${CARD}?lang=${lang}`, { 'accept-language': 'de' })).equals(english), lang).toBe(true)
  })

  test('may be of a skill of the mount', async () => {
    const { bytes } = await expectPicture(at, `${CARD}?skill=a/SKILL.md`, VARIED)
    expect(bytes.equals(await bytesOf(CARD))).toBe(false)
    expect(bytes.equals(await bytesOf(`${CARD}?skill=a/SKILL.md&lang=ja`))).toBe(false)
    for (const path of ['nothing/SKILL.md', 'a', 'a/', '../a/SKILL.md', '', 'SKILLSET.md'])
      await expectNoPicture(at, `${CARD}?skill=${path}`)
    await expectNoPicture(at, `${CARD}/a?skill=b/SKILL.md`)
  })

  test('has less before the index is ready, starts it, and is drawn anew afterwards', async () => {
    const early = await expectPicture(at, '/social/local/acme/later', VARIED)
    expect(await at.index()).toBeGreaterThan(0)
    const ready = await expectPicture(at, '/social/local/acme/later', VARIED)
    expect(ready.headers.etag).not.toBe(early.headers.etag)
    expect(ready.bytes.equals(early.bytes)).toBe(false)
  })

  test('is there for a repository that cannot be indexed', async () => {
    await getPicture(at, '/social/local/acme/failed')
    const lease = await at.queue.take('test')
    if (lease) await at.queue.fail(lease, 'index.too_large')
    await expectPicture(at, '/social/local/acme/failed', VARIED)
  })
})

test('the cards of the documentation are those of its pages, and no others', async () => {
  const { bytes } = await expectPicture(at, '/social/docs', VARIED)
  expect(bytes.equals((await expectPicture(at, '/social/docs/rules?lang=de', PNG)).bytes)).toBe(false)
  expect((await bytesOf('/social/docs/rules?lang=de')).equals(await bytesOf('/social/docs/rules?lang=fr'))).toBe(false)
  for (const path of ['/social/docs/', '/social/docs/nothing', '/social/docs/rules/more', '/social/docs/rules.md'])
    await expectNoPicture(at, path)
})

test('what is no address, not there, not served or not public is the same plain 404', async () => {
  for (const address of [
    '/',
    '/local/acme',
    '/local/acme/nothing',
    '/local/acme/handbook@nothing',
    '/local/acme/handbook/nothing',
    '/local/acme/denied',
    '/gh/acme/hidden',
    '/gh/acme/nothing',
    '/gh/a%zz/b',
  ])
    await expectNoPicture(at, `/social${address}`)
})

test('a deployment without pages has no cards', async () => {
  const bare = await testApp(
    { 'acme/handbook': FILES },
    { docs: [{ slug: '', texts: { en: { label: 'What it is', section: 'Start' } } }] },
  )
  for (const path of [CARD, '/social/docs']) await expectNoPicture(bare, path)
  await bare.close()
})

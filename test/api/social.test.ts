import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { expectNoPicture, shownPicture } from './support/pictures.ts'

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

let at: TestApp
beforeAll(async () => {
  at = await testApp(
    { 'acme/handbook': FILES, 'acme/later': FILES },
    {
      // Only deployments with pages have cards.
      site: async app => void app.setNotFoundHandler((_request, reply) => reply.code(404).send('no page')),
      docs: [
        { slug: '', texts: { en: { label: 'What it is', section: 'Start' } } },
        { slug: 'rules', texts: { en: { label: 'Rules', section: 'Write' }, de: { label: 'Regeln', section: 'Schreiben' } } },
      ],
    },
  )
  await at.open('/local/acme/handbook')
})
afterAll(() => at.close())

const CARD = '/social/local/acme/handbook'
const bytesOf = async (url: string, headers?: Record<string, string>) => (await shownPicture(at, url, headers)).bytes

describe('the card of an address', () => {
  test('is a PNG of 1200 by 630', async () => {
    expect(await sharp(await bytesOf(CARD)).metadata()).toMatchObject({ format: 'png', width: 1200, height: 630 })
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
    const bytes = await bytesOf(`${CARD}?skill=a/SKILL.md`)
    expect(bytes.equals(await bytesOf(CARD))).toBe(false)
    expect(bytes.equals(await bytesOf(`${CARD}?skill=a/SKILL.md&lang=ja`))).toBe(false)
    for (const path of ['nothing/SKILL.md', 'a', 'a/', '../a/SKILL.md', '', 'SKILLSET.md'])
      await expectNoPicture(at, `${CARD}?skill=${path}`)
    await expectNoPicture(at, `${CARD}/a?skill=b/SKILL.md`)
  })

  test('has less before the index is ready, starts indexing, and is drawn again afterwards', async () => {
    const early = await shownPicture(at, '/social/local/acme/later')
    expect(await at.index()).toBeGreaterThan(0)
    const ready = await shownPicture(at, '/social/local/acme/later')
    expect(ready.headers.etag).not.toBe(early.headers.etag)
    expect(ready.bytes.equals(early.bytes)).toBe(false)
  })
})

test('the cards of the documentation are those of its pages, in their languages', async () => {
  const [first, german, english] = await Promise.all(
    ['', '/rules?lang=de', '/rules?lang=fr'].map(of => bytesOf(`/social/docs${of}`)),
  )
  expect(new Set([first, german, english].map(bytes => bytes?.toString('base64'))).size).toBe(3)
})

test('a deployment without pages has no cards', async () => {
  const bare = await testApp(
    { 'acme/handbook': FILES },
    { docs: [{ slug: '', texts: { en: { label: 'What it is', section: 'Start' } } }] },
  )
  for (const path of [CARD, '/social/docs']) await expectNoPicture(bare, path)
  await bare.close()
})

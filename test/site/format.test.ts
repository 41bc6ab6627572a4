import { expect, test } from 'vitest'
import { pathHtml } from '#site/lib/text-html.ts'
import { ENGLISH, uiFor } from '#site/lib/ui.ts'

const NOW = new Date('2026-03-04T05:06:07.500Z')

test.each([
  [1, '1 second'],
  [60, '60 seconds'],
  [61, '2 minutes, until 2026-03-04 05:08 UTC'],
  [112.5, '2 minutes, until 2026-03-04 05:08 UTC'],
  [113, '2 minutes, until 2026-03-04 05:09 UTC'],
  [3_600, '60 minutes, until 2026-03-04 06:07 UTC'],
])('a wait of %d seconds is %s', (seconds, words) => {
  expect(ENGLISH.wait(seconds, NOW)).toBe(words)
})

test('a count has the words of its number', () => {
  expect([0, 1, 1_200].map(count => ENGLISH.t('counts.skill', { n: count }))).toEqual(['0 skills', '1 skill', '1,200 skills'])
  const german = uiFor({ language: 'de', isChosen: false })
  expect([0, 1, 1_200].map(count => german.t('counts.document', { n: count }))).toEqual([
    '0 Dokumente',
    '1 Dokument',
    '1.200 Dokumente',
  ])
})

test('names of a path that are written from right to left stand in their order, each by itself', () => {
  const alone = (name: string) => `<bdi dir="ltr">${name}</bdi>`
  expect(pathHtml('docs/guide.md')).toBe('<bdi class="path" dir="ltr">docs/<wbr>guide.md</bdi>')
  expect(pathHtml('')).toBe('<bdi class="path" dir="ltr">/</bdi>')
  expect(pathHtml('وثائق/البدء.md')).toBe(`<bdi class="path" dir="ltr">${alone('وثائق')}/<wbr>${alone('البدء.md')}</bdi>`)
  expect(pathHtml('docs/מדריך/<a>')).toBe(
    `<bdi class="path" dir="ltr">${alone('docs')}/<wbr>${alone('מדריך')}/<wbr>${alone('&#60;a&#62;')}</bdi>`,
  )
})

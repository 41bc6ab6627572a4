import { expect, test } from 'vitest'
import { keepFinding } from '#core/finding-messages.ts'
import { sentenceOfFinding } from '#site/lib/finding.ts'
import { FINDINGS } from '#words/en/findings.ts'
import { messageOf } from '#words/findings.ts'
import { LANGUAGES, PAGE_T } from '#words/t.ts'

/** What a page says of a finding whose values are all the same name. */
function said(key: string, language: (typeof LANGUAGES)[number]): string {
  const [code = '', of] = key.split(':')
  const names = [...(FINDINGS[key as keyof typeof FINDINGS] as string).matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x.md'])
  const found = { code, case: of, values: Object.fromEntries(names) }
  const parts = sentenceOfFinding(keepFinding({ code, field: 'field', message: messageOf(found) }, found), PAGE_T[language])
  return parts.map(({ text, isCode }) => (isCode ? `\`${text}\`` : text)).join('')
}

test.each(LANGUAGES)(
  'every finding is a sentence on pages in %s: it begins with a capital letter, a name or code, and ends',
  language => {
    const sentences = Object.keys(FINDINGS).map(key => said(key, language))
    expect(
      sentences.filter(sentence => !/^(?:[\p{Lu}`\d]|x\.md)[\s\S]*[.?!]$/u.test(sentence) || /\.\.$/.test(sentence)),
    ).toEqual([])
  },
)

test('a name keeps its spelling where a sentence begins with it', () => {
  expect(said('reference.broken', 'en')).toBe('x.md leads to nothing.')
  expect(said('body.empty', 'en')).toBe('The file has no text below the front matter.')
})

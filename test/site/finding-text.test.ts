import { expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { partsOfFinding } from '#site/lib/finding.ts'
import { type Finding, finding, reason } from '#words/findings.ts'
import { PAGE_T } from '#words/t.ts'

/** As an answer tells it. What it was made of is not copied with its properties. */
const partsOf = (found: Finding, language: 'en' | 'de' = 'en', field?: string) =>
  partsOfFinding(Object.assign(withMessage({ ...found }), { field }), PAGE_T[language])

/** Each part with its kind, code between backticks. */
function spelled(parts: ReturnType<typeof partsOfFinding>): string[] {
  return parts.filter(({ text }) => text !== '').map(({ kind, text, isCode }) => `${kind}: ${isCode ? `\`${text}\`` : text}`)
}

test('names of a repository are parts of their own, whatever they look like', () => {
  const name = '\u05d0\u05d1 `{n}` line 3'
  expect(spelled(partsOf(finding('reference.broken', { target: name })))).toEqual([`path: ${name}`, 'words:  leads to nothing'])
})

test('the words that name lines are one part, in both languages', () => {
  const found = finding('text.hidden_characters', { characters: 'U+200B', lines: reason('lines', { list: '3, 5' }) })
  expect(spelled(partsOf(found)).at(-1)).toBe('line: lines 3, 5')
  expect(spelled(partsOf(found, 'de')).at(-1)).toBe('line: den Zeilen 3, 5')
  expect(spelled(partsOf(finding('front_matter.comment', { n: 7 })))[1]).toBe('line: line 7')
  const why = reason('ofField', { name: 'a', why: reason('onLine', { reason: reason('malformed'), n: 2 }) })
  expect(spelled(partsOf(finding('front_matter.invalid', { why }), 'de')).at(-1)).toBe('line: Zeile 2')
})

test('a field of SKILLSET.md is named by the sentence', () => {
  const found = finding('manifest.unknown_field:similar', { name: 'name' })
  expect(spelled(partsOf(found, 'en', 'title'))).toEqual([
    'words: SKILLSET.md has no field ',
    'name: `title`',
    'words: ; did you mean ',
    'name: `name`',
    'words: ?',
  ])
})

test('of a skill that is only described its kind is told, in the language of the page', () => {
  const found = { code: 'reference.broken', case: 'described' }
  expect(spelled(partsOf(found, 'de'))).toEqual(['words: Toter Link'])
})

test('what another process answered stays as it is', () => {
  const parts = partsOfFinding({ code: 'x.y', message: 'the field `a` is new' }, PAGE_T.de)
  expect(spelled(parts)).toEqual(['message: the field ', 'message: `a`', 'message:  is new'])
})

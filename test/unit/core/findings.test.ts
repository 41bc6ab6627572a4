import { expect, test } from 'vitest'
import { ERROR_STATUS } from '#core/errors.ts'
import { withMessage } from '#core/finding-messages.ts'
import { parseYamlMapping } from '#indexer/rules/front-matter.ts'
import { ERRORS as GERMAN_ERRORS } from '#words/de/errors.ts'
import { ADVICE } from '#words/en/advice.ts'
import { ERRORS, ERRORS_ON_PAGES } from '#words/en/errors.ts'
import { FINDINGS } from '#words/en/findings.ts'
import { type Finding, finding, keyOfFinding, lineOf, reason } from '#words/findings.ts'
import { PAGE_T, type Value } from '#words/t.ts'

const german = (found: Finding) => PAGE_T.de.find(keyOfFinding(found), found.values)

test('what the code of an error says is there in German, too', () => {
  expect(Object.keys(ERRORS).filter(key => !Object.hasOwn(GERMAN_ERRORS, key))).toEqual([])
  const onPages = Object.keys({ ...ERRORS, ...ERRORS_ON_PAGES })
  expect(Object.keys(GERMAN_ERRORS).filter(key => !onPages.includes(key))).toEqual([])
  expect(
    Object.keys(ERRORS)
      .filter(key => !key.includes(':'))
      .sort(),
  ).toEqual(Object.keys(ERROR_STATUS).sort())
})

/** What the parser says, as a finding tells it. */
function faultOf(yaml: string): Value {
  const parsed = parseYamlMapping(yaml)
  return parsed.ok ? '' : parsed.fault
}

test.each([
  ['a: b: c', '`a`: bad indentation of a mapping entry on line 2', '`a`: ein Eintrag ist falsch eingerückt, in Zeile 2'],
  [
    'a: {x: 1 y: 2}',
    '`a`: missed comma between flow collection entries on line 2',
    '`a`: zwischen Einträgen in Klammern fehlt ein Komma, in Zeile 2',
  ],
  ['a: 1\na: 2', 'duplicated mapping key on line 3', 'ein Schlüssel steht zweimal da, in Zeile 3'],
  ['b: 1\na: "', '`a`: a quote is not closed on line 3', '`a`: in Zeile 3 ist ein Anführungszeichen nicht geschlossen'],
])('the fault of the YAML %j is said in both languages, with its line', (yaml, english, said) => {
  const found = finding('front_matter.invalid', { why: faultOf(yaml) })
  expect(withMessage(found).message).toBe(`the front matter is not a YAML mapping: ${english}`)
  expect(german(found)).toBe(`das Frontmatter ist nicht lesbar: ${said}`)
  expect(lineOf(found)).toBe(Number(/\d+$/.exec(english)?.[0]))
})

test('a finding about hidden text names its lines, and an included file before it', () => {
  const values = { characters: 'U+200B', lines: reason('lines', { list: '3, 5' }) }
  const found = finding('text.hidden_characters:in', { path: 'docs/{n}: b.md', ...values })
  expect(withMessage(found)).toEqual({
    code: 'text.hidden_characters',
    message: 'docs/{n}: b.md: hidden characters (U+200B) on lines 3, 5',
  })
  expect(german(found)).toBe('docs/{n}: b.md: unsichtbare Zeichen (U+200B) in den Zeilen 3, 5')
  expect([lineOf(found), lineOf(finding('body.empty')), lineOf(finding('front_matter.comment', { n: 7 }))]).toEqual([3, null, 7])
})

test('a finding of an unknown code says its code', () => {
  expect(withMessage({ code: 'made.up', values: { n: 1 } })).toEqual({ code: 'made.up', message: 'made.up' })
})

test('every finding with advice has a sentence', () => {
  const codes = new Set(Object.keys(FINDINGS).map(key => key.split(':', 1)[0]))
  expect(Object.keys(ADVICE).filter(code => !codes.has(code))).toEqual([])
})

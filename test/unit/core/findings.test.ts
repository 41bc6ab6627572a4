import { expect, test } from 'vitest'
import { ADVICE } from '#core/advice.ts'
import { CASE_MESSAGE, ERROR_STATUS } from '#core/errors.ts'
import { parseYamlMapping } from '#indexer/rules/front-matter.ts'
import { ADVICE as GERMAN_ADVICE } from '#words/de/advice.ts'
import { ERRORS as GERMAN_ERRORS } from '#words/de/errors.ts'
import { FINDINGS as GERMAN, REASONS as GERMAN_REASONS } from '#words/de/findings.ts'
import { FINDINGS, REASONS } from '#words/en/findings.ts'
import { say, sayIn, why } from '#words/findings.ts'

const GERMAN_WORDS = { findings: GERMAN, reasons: GERMAN_REASONS }
const german = (code: string, message: string) => sayIn(code, message, GERMAN_WORDS)

/** Values that a template takes: numbers where it says so, else a path with what regular expressions and templates find special. */
function valuesOf(template: string): Record<string, string | number> {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name, index) => [name, /^n$|limit$/i.test(name) ? 1_000 + index : `a (b)/{n}.${index}`]))
}

const fill = (template: string, values: Readonly<Record<string, string | number>>) =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))

test.each(Object.entries(FINDINGS))('%s is said in German with the same values', (key, template) => {
  const values = valuesOf(template)
  const message = say(key as keyof typeof FINDINGS, values)
  expect(german(key.split(':', 1)[0] ?? '', message)).toBe(fill(GERMAN[key as keyof typeof FINDINGS], values))
})

test.each(Object.entries(REASONS))('the reason %s is said in German with the same values', (key, template) => {
  const values = valuesOf(template)
  const message = say('reference.unreadable', { path: 'a.md', why: why(key as keyof typeof REASONS, values) })
  expect(german('reference.unreadable', message)).toBe(
    `a.md ist nicht lesbar: ${fill(GERMAN_REASONS[key as keyof typeof REASONS], values)}`,
  )
})

test('advice and error codes have German texts', () => {
  expect(Object.keys(ADVICE).filter(code => !Object.hasOwn(GERMAN_ADVICE, code))).toEqual([])
  expect(Object.keys(GERMAN_ERRORS).sort()).toEqual([...Object.keys(ERROR_STATUS), ...Object.keys(CASE_MESSAGE)].sort())
})

/** What the parser says, as a finding tells it. */
function faultOf(yaml: string): string {
  const parsed = parseYamlMapping(yaml)
  return parsed.ok ? '' : parsed.message
}

test.each([
  ['front_matter.invalid', '`name`: bad indentation on line 4', '`name`: bad indentation, in Zeile 4'],
  ['front_matter.invalid', faultOf('a: {x: 1 y: 2}'), '`a`: zwischen Einträgen in Klammern fehlt ein Komma, in Zeile 2'],
  ['front_matter.invalid', faultOf('a: 1\na: 2'), 'ein Schlüssel steht zweimal da, in Zeile 3'],
  [
    'front_matter.repaired',
    '`a`: a quote is not closed on line 3',
    '`a`: in Zeile 3 ist ein Anführungszeichen nicht geschlossen',
  ],
] as const)('%s names the field and the line of its fault in German', (code, fault, said) => {
  expect(german(code, say(code, { why: fault }))).toBe(fill(GERMAN[code], { why: said }))
})

test('the path of an included file stays before a finding about hidden text', () => {
  const message = say('text.hidden_characters', { characters: 'U+200B', lines: why('lines', { list: '3, 5' }) })
  expect(german('text.hidden_characters', `docs/a: b.md: ${message}`)).toBe(
    'docs/a: b.md: unsichtbare Zeichen (U+200B) in den Zeilen 3, 5',
  )
})

test('a message of an older version, and one of an unknown code, stay unchanged', () => {
  expect(german('body.empty', 'there is nothing')).toBe('there is nothing')
  expect(german('made.up', 'there is nothing')).toBe('there is nothing')
})

test('every finding with advice has a sentence, and every sentence has advice', () => {
  const codes = new Set(Object.keys(FINDINGS).map(key => key.split(':', 1)[0]))
  expect(Object.keys(ADVICE).filter(code => !codes.has(code))).toEqual([])
})

import { describe, expect, test } from 'vitest'
import { ADVICE } from '#core/advice.ts'
import { CASE_MESSAGE, ERROR_STATUS, ServiceError } from '#core/errors.ts'
import { DE } from '#core/words/de.ts'
import { EN } from '#core/words/en.ts'
import { messageIn, SentenceError, sentence } from '#core/words/sentence.ts'
import { ENGLISH_SPEECH, fill, speechOf } from '#core/words/speech.ts'
import { countsOf, sharedFacts, tokensOf, whatOf } from '#indexer/check/difference-words.ts'
import { translateMessage } from '../../../bin/program.ts'

const GERMAN = speechOf({ LANG: 'de_DE.UTF-8' })

/** Every sentence of a catalogue by its key, without advice and errors, which are listed by code. */
function sentencesOf(words: object, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(words).flatMap(([name, value]) => {
      if (name === 'advice' || name === 'errors') return []
      const key = `${prefix}${name}`
      return typeof value === 'string' ? [[key, value] as const] : [...sentencesOf(value, `${key}.`)]
    }),
  )
}

const placesOf = (sentence: string) => (sentence.match(/\{\w+\}/g) ?? []).sort()

test('both languages have the same sentences with the same places for values, and say them differently', () => {
  const [english, german] = [sentencesOf(EN), sentencesOf(DE)]
  expect([...german.keys()].sort()).toEqual([...english.keys()].sort())
  const same: string[] = []
  for (const [key, sentence] of english) {
    expect(placesOf(german.get(key) ?? ''), key).toEqual(placesOf(sentence))
    if (german.get(key) === sentence && /\p{L}{3}/u.test(sentence.replace(/\{\w+\}/g, ''))) same.push(key)
  }
  expect(same, 'the same in both languages').toEqual(['diff.kinds.skill', 'diff.allowedTools'])
})

test('what to do about a finding, and what the code of an error says, is there in German, too', () => {
  expect(Object.keys(ADVICE).filter(code => !Object.hasOwn(DE.advice, code))).toEqual([])
  const keys = [...Object.keys(ERROR_STATUS), ...Object.keys(CASE_MESSAGE)]
  expect(Object.keys(DE.errors).sort()).toEqual(keys.sort())
  for (const [key, message] of Object.entries(CASE_MESSAGE))
    expect(messageIn({ code: key.split(':')[0], message }, GERMAN)).toBe(DE.errors[key])
})

test.each([
  [{}, 'en'],
  [{ LANG: 'C.UTF-8' }, 'en'],
  [{ LANG: 'POSIX' }, 'en'],
  [{ LANG: 'de' }, 'de'],
  [{ LANG: 'de_AT.UTF-8@euro' }, 'de'],
  [{ LANG: 'den_CA' }, 'en'],
  [{ LANG: 'fr_FR', LC_MESSAGES: 'de_DE' }, 'de'],
  [{ LANG: 'de_DE', LC_MESSAGES: 'en_GB' }, 'en'],
  [{ LANG: 'de_DE', LC_MESSAGES: 'de_DE', LC_ALL: 'C' }, 'en'],
  [{ LC_ALL: '', LC_MESSAGES: '', LANG: 'de_DE' }, 'de'],
])('%j speaks %s', (env, language) => {
  expect(speechOf(env).language).toBe(language)
})

test('numbers and counted words are those of the language', () => {
  expect([ENGLISH_SPEECH.number(12_345), GERMAN.number(12_345)]).toEqual(['12,345', '12.345'])
  expect([ENGLISH_SPEECH.tenths(1234.25), GERMAN.tenths(1234.25)]).toEqual(['1234.3', '1234,3'])
  expect([0, 1, 2].map(n => ENGLISH_SPEECH.count(n, EN.counts.error))).toEqual(['0 errors', '1 error', '2 errors'])
  expect([0, 1, 2].map(n => GERMAN.count(n, DE.counts.page))).toEqual(['0 Seiten', '1 Seite', '2 Seiten'])
  expect(fill('{a} {b}', { a: '{b}' }), 'a value is no template').toBe('{b} {b}')
})

test('an error says its sentence in the language of the terminal, with the sentences inside of it, and in English to programs', () => {
  const error = new SentenceError(
    sentence('ofText', { text: '{problem}', problem: sentence('or', { first: new ServiceError('token.limit'), last: 'b' }) }),
  )
  expect(error.message).toBe('{problem}: one person holds at most 50 tokens; delete one that is no longer used or b')
  expect(messageIn(error, GERMAN)).toBe(
    '{problem}: eine Person hat höchstens 50 Tokens; löschen Sie eines, das nicht mehr verwendet wird oder b',
  )
})

test('an error without a sentence says what it says', () => {
  expect(messageIn(new Error('disk full'), GERMAN)).toBe('disk full')
  expect(messageIn(new ServiceError('file.not_found', { message: 'no a.md' }), GERMAN)).toBe('no a.md')
  expect(messageIn({ code: 'ENOENT', message: 'not there' }, GERMAN)).toBe('not there')
  expect(messageIn('plain', GERMAN)).toBe('plain')
})

describe('what the library says of arguments', () => {
  test.each([
    ["error: unknown option '--nope'\n(Did you mean --note?)\n", 'Fehler: unbekannte Option „--nope“\n(Meinten Sie --note?)\n'],
    [
      "error: unknown command 'p'\n(Did you mean one of pin, publish?)\n",
      'Fehler: unbekannter Befehl „p“\n(Meinten Sie eines von pin, publish?)\n',
    ],
    ["error: missing required argument 'address'\n", 'Fehler: Das Argument „address“ fehlt\n'],
    ["error: option '--label <label>' argument missing\n", 'Fehler: Der Wert der Option „--label <label>“ fehlt\n'],
    [
      "error: too many arguments for 'check'. Expected 1 argument but got 2: a, b.\n",
      'Fehler: zu viele Argumente für „check“: 1 Argument erwartet, 2 erhalten: a, b.\n',
    ],
    [
      'error: too many arguments. Expected 0 arguments but got 1: a.\n',
      'Fehler: zu viele Argumente: 0 Argumente erwartet, 1 erhalten: a.\n',
    ],
    [
      "error: option '-d <n>' argument 'x' is invalid. It is.\n",
      'Fehler: Der Wert „x“ der Option „-d <n>“ ist ungültig. It is.\n',
    ],
    ['error: something new\n', 'error: something new\n'],
  ])('%j', (english, german) => {
    expect(translateMessage(english, ENGLISH_SPEECH)).toBe(english)
    expect(translateMessage(english, GERMAN)).toBe(german)
  })
})

test('what changed is said in the language of the terminal, with the names of parts as they are', () => {
  const item = {
    kind: 'skill',
    path: 'b/SKILL.md',
    change: 'moved',
    movedFrom: 'a/SKILL.md',
    parts: ['body', 'rules'],
    causes: [{ part: 'rules', path: 'SKILLSET.md', change: 'removed' }],
    facts: { executables: ['x.sh'], allowedTools: { before: null, after: 'Read' } },
    before: { tokens: 1_200 },
    after: { tokens: null },
  } as unknown as Parameters<typeof whatOf>[0]
  const none = { added: 0, removed: 0, changed: 0, moved: 0 }
  const counts = { manifests: none, skills: { ...none, changed: 2, added: 1 }, documents: { ...none, removed: 1 } }
  const said = (speech: typeof ENGLISH_SPEECH) => [
    whatOf(item, [], speech),
    tokensOf([item], speech),
    ...sharedFacts([item], speech).map(({ text }) => text),
    countsOf({ counts, notCompared: { skills: 0, documents: 0 } }, speech),
  ]
  expect(said(ENGLISH_SPEECH)).toEqual([
    'moved from a/SKILL.md; body; rules by SKILLSET.md (removed)',
    '1,200 → 0 tokens',
    'allowed-tools: none → Read',
    'new executable file: x.sh',
    '2 skills changed, 1 added; 1 document removed',
  ])
  expect(said(GERMAN)).toEqual([
    'verschoben von a/SKILL.md; body; rules durch SKILLSET.md (entfernt)',
    '1.200 → 0 Tokens',
    'allowed-tools: keine → Read',
    'neue ausführbare Datei: x.sh',
    '2 Skills geändert, 1 hinzugekommen; 1 Dokument entfernt',
  ])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADVICE } from '#core/advice.ts'
import { CASE_MESSAGE, ServiceError } from '#core/errors.ts'
import { WORDS } from '#words/words.ts'
import manifest from '../../package.json' with { type: 'json' }
import { type Answers, ERROR_CODES, type Question } from './support/answers.ts'
import { spokenOf } from './support/html.ts'
import { ANSWERS, PAGES } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

const OTHERS = ['de'] as const

let site: Site
beforeAll(async () => {
  site = await openSite(remembering, { hosts: ['local', 'gh'] })
})
afterAll(() => site.close())

/** Every sentence of a catalogue by its path. */
function* sentencesOf(value: object, path = ''): Generator<[path: string, sentence: string]> {
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string') yield [`${path}${key}`, inner]
    else yield* sentencesOf(inner, `${path}${key}.`)
  }
}

const namesOf = (sentence: string) => [...sentence.matchAll(/\{\w+\}|\]\(\w+\)|`[^`]+`/g)].map(([name]) => name).sort()

test.each(OTHERS)('%s has the values, links and code of every English sentence', language => {
  const translated = new Map(sentencesOf(WORDS[language]))
  const faults = [...sentencesOf(WORDS.en)].filter(([path, sentence]) => {
    const other = translated.get(path)
    return other === undefined || other.trim() === '' || `${namesOf(other)}` !== `${namesOf(sentence)}`
  })
  expect(faults.filter(([path]) => path !== 'home.pasted')).toEqual([])
})

test.each(OTHERS)('%s has words for every error, and advice for every finding', language => {
  expect(Object.keys(WORDS[language].errors).sort()).toEqual([...ERROR_CODES, ...Object.keys(CASE_MESSAGE)].sort())
  expect(Object.keys(WORDS[language].advice).sort()).toEqual(Object.keys(ADVICE).sort())
})

/** Texts of repositories and hosts that the pages were given. */
const ANSWERED = new Set<string>()

function collect(value: unknown, key = ''): void {
  if (typeof value === 'string' && !SPOKEN_KEYS.includes(key)) ANSWERED.add(value.replace(/\s+/g, ' '))
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) collect(inner, Array.isArray(value) ? key : name)
}

/** Keys of answers whose values the pages say in words. */
const SPOKEN_KEYS = ['status', 'kind', 'severity']

/** Remembers what each answer says. The message of an error is for the pages to say. */
const remembering: Answers = Object.fromEntries(
  Object.entries(ANSWERS).map(([name, answer]) => [
    name,
    (question: Question) => {
      const given = (answer as (question: Question) => unknown)(question)
      collect(question.address)
      collect(given instanceof ServiceError ? [given.code, given.details] : given)
      return given
    },
  ]),
)

const ENGLISH = new Map(sentencesOf(WORDS.en))
/** What two languages may share: names, and words that are the same in both. */
const SHARED = new Set([
  ...[...sentencesOf(WORDS.de)].filter(([path, sentence]) => ENGLISH.get(path) === sentence).map(([, sentence]) => sentence),
  // The last word of a path that is no page, which that page names.
  'nothing',
  ...['Mountglass', '/local/', '/gh/', 'SKILL.md', 'README', `Version ${manifest.version}`],
  ...['Claude Code', 'Codex', 'Cursor', 'VS Code', 'Gemini CLI', 'REST', 'mountglass check', 'owner/repository'],
])

function mayBeShared(words: string): boolean {
  return (
    !/\p{L}{3}/u.test(words) ||
    /^[~.]\S+$/.test(words) ||
    SHARED.has(words) ||
    [...ANSWERED].some(answered => answered.includes(words))
  )
}

test.each(PAGES.filter(path => !path.startsWith('/docs')))('%s says nothing in English to a German visitor', async target => {
  const english = new Set(spokenOf((await site.get(target)).html))
  const german = spokenOf((await site.get(target, 'GET', { 'accept-language': 'de' })).html)
  expect(german.length).toBeGreaterThan(8)
  expect(german.filter(words => english.has(words) && !mayBeShared(words))).toEqual([])
})

test('an English sentence on a German page is detected', async () => {
  const { html } = await site.get('/gh/acme/tools')
  expect(spokenOf(html).filter(words => !mayBeShared(words)).length).toBeGreaterThan(30)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { ServiceError } from '#core/errors.ts'
import { DE } from '#words/de/de.ts'
import { PAGES as EN } from '#words/en/en.ts'
import { sentencesOf as keysOf } from '#words/t.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Answers, Question } from './support/answers.ts'
import { spokenOf } from './support/html.ts'
import { ANSWERS, PAGES } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

const OTHERS = { de: DE }

let site: Site
beforeAll(async () => {
  site = await openSite(remembering, { hosts: ['local', 'gh'] })
})
afterAll(() => site.close())

/** Every sentence of a catalogue by its key, each form of a counted word by its own. */
function sentencesOf(catalogue: object): [key: string, sentence: string][] {
  return [...keysOf(catalogue)].flatMap(([key, text]) => {
    return typeof text === 'string' ? [[key, text]] : Object.entries(text).map(([form, said]) => [`${key} ${form}`, said])
  }) as [string, string][]
}

const namesOf = (sentence: string) => [...sentence.matchAll(/\{\w+\}|\]\(\w+\)|`[^`]+`/g)].map(([name]) => name).sort()

test.each(Object.entries(OTHERS))('%s has the values, links and code of every English sentence, and no other one', (_, words) => {
  const translated = new Map(sentencesOf(words))
  const faults = sentencesOf(EN).filter(([path, sentence]) => {
    const other = translated.get(path)
    return other === undefined || other.trim() === '' || `${namesOf(other)}` !== `${namesOf(sentence)}`
  })
  expect(faults.filter(([path]) => !/^home\.hint/.test(path) && !path.startsWith('errorOnPage.'))).toEqual([])
  // English pages show the contract and most errors in the words of the interface.
  const own = [...translated.keys()].filter(key => !key.startsWith('contract.') && !key.startsWith('errorOnPage.'))
  expect(own.filter(key => !new Map(sentencesOf(EN)).has(key))).toEqual([])
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

const ENGLISH = new Map(sentencesOf(EN))
/** What two languages may share: names, and words that are the same in both. */
const SHARED = new Set([
  ...sentencesOf(DE)
    .filter(([path, sentence]) => ENGLISH.get(path) === sentence)
    .map(([, sentence]) => sentence),
  // Paths that are no page, which the page of the error names.
  'nothing',
  'two',
  ...['Mountglass', '/local/', '/gh/', 'SKILL.md', 'README', `Version ${manifest.version}`],
  ...['Claude Code', 'Codex', 'Cursor', 'VS Code', 'Gemini CLI', 'REST', 'mountglass check', 'owner/repository'],
])

function mayBeShared(words: string): boolean {
  return (
    !/\p{L}{3}/u.test(words) ||
    /^[~.]\S+$/.test(words) ||
    // The status and the code of an error.
    /^\d{3} [a-z]+\.[a-z_]+$/.test(words) ||
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

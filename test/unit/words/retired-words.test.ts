import { expect, test } from 'vitest'
import { DE } from '#words/de/de.ts'
import { PAGES } from '#words/en/en.ts'
import { ERRORS, ERRORS_ON_PAGES } from '#words/en/errors.ts'
import { sentencesOf } from '#words/t.ts'

/** Words of the interface that readers need not know, with what pages say instead. */
const RETIRED = {
  en: {
    mount: /\bmount(?:s|ed|ing)?\b/i,
    'ref: version': /\brefs?\b/i,
    'manifest: SKILLSET.md': /\bmanifests?\b/i,
    'deliver: send': /\b(?:un)?deliver(?:s|ed|y)?\b/i,
    'deployment: server': /\bdeployments?\b/i,
    'permits: allows': /\bpermit(?:s|ted)?\b/i,
    'receive: get': /\breceiv/i,
    'warning, diagnostic: finding': /\b(?:warning|diagnostic)s?\b/i,
    'service: server': /\bservices?\b/i,
    'pinned link: permalink': /\b(?:pinned|permanent) link/i,
    'at GitHub: on GitHub': /\bat (?:GitHub|the git host)\b/i,
  },
  de: {
    mount: /\b(?:ge)?mount(?!glass)/i,
    'Ref: Version': /\brefs?\b/i,
    'Manifest: SKILLSET.md': /manifest/i,
    'ausliefern: senden': /liefer/i,
    'Installation: Server': /\b(?:installation(?!en)|deployments?)\b/i,
    'erhalten: bekommen': /\berh[aä]lt/i,
    'Warnung: Befund': /warnung/i,
    'Werkzeug: Programm': /werkzeug/i,
    'Dienst: Server': /\bdienst/i,
    'bei GitHub: auf GitHub': /\bbei GitHub\b/i,
  },
} as const

/** Sentences about installing skills. */
const OTHER_SENSE = /^findingKind\.skill\.not_installable$|^use\./

/** The sentences of these have a word that is retired, and where. Text between backticks is code, which the reader may have to type. */
function retiredIn(catalogue: object, words: Readonly<Record<string, RegExp>>): string[] {
  return [...sentencesOf(catalogue)].flatMap(([key, text]) => {
    // The documentation, and what the contract of the interface says in it, are for authors of programs.
    if (/^(?:contract|reference)\./.test(key) || OTHER_SENSE.test(key)) return []
    const said = (typeof text === 'string' ? [text] : Object.values(text)).map(one =>
      one.replace(/`[^`]*`|\{\w+\}|\]\(\w+\)/g, ' '),
    )
    return Object.entries(words).flatMap(([word, pattern]) => (said.some(one => pattern.test(one)) ? [`${key}: ${word}`] : []))
  })
}

test('no page has a retired word, in English and in German', () => {
  const english = { ...PAGES, errorOnPage: { ...ERRORS, ...ERRORS_ON_PAGES } }
  expect(retiredIn(english, RETIRED.en)).toEqual([])
  expect(retiredIn(DE, RETIRED.de)).toEqual([])
})

test('and a retired word is detected, but not in code', () => {
  expect(retiredIn({ a: { b: 'The Mounted folder.', c: 'Set `ref` {ref} [x](ref).' } }, RETIRED.en)).toEqual(['a.b: mount'])
  expect(retiredIn({ a: { one: 'one ref', other: '{n} permits' } }, RETIRED.en)).toEqual([
    'a: ref: version',
    'a: permits: allows',
  ])
  expect(retiredIn({ a: 'Manifeste werden ausgeliefert' }, RETIRED.de)).toEqual([
    'a: Manifest: SKILLSET.md',
    'a: ausliefern: senden',
  ])
  expect(retiredIn({ a: 'Agents receive it, see the warnings.' }, RETIRED.en)).toEqual([
    'a: receive: get',
    'a: warning, diagnostic: finding',
  ])
})

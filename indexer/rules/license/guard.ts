import type { Candidate } from './candidates.ts'
import { licenseNames } from './data.ts'
import { type Run, wordDifference } from './difference.ts'
import { kindOfExpression } from './kind.ts'
import { readLicenseWords } from './license-words.ts'
import { type NormalizedText, wordsOf } from './normalize.ts'
import { CONDITIONAL, ESSENTIAL, FORBIDDING, FORBIDDING_ABROAD, LATIN, NAMES, SENTENCE } from './significant-words.ts'

/**
 * Whether the text is the candidate's license with unchanged permissions: headings, names of authors and typing errors may differ.
 * In doubt it returns `false`: an unrecognised license keeps content unserved, a wrongly recognised one publishes it against its terms.
 */
export function isUnchanged(text: NormalizedText, candidate: Candidate): boolean {
  const { id, words, before, after } = candidate
  const maxInserted = Math.max(INSERTED.least, Math.min(INSERTED.most, words.length * INSERTED.share))
  const maxDeleted = Math.max(DELETED.least, words.length * DELETED.share)
  const maxOptional = Math.min(OPTIONAL_WORDS, before + after)
  const difference = wordDifference(words, text.words, Math.ceil(maxInserted + maxDeleted + maxOptional))
  if (difference === null || difference.insertedWords > maxInserted) return false
  const bodyEnd = words.length - after
  const deleted = difference.deleted
    .flatMap(({ at, words: run }) => run.map((word, index) => ({ word, at: at + index })))
    .filter(({ at }) => at >= before && at < bodyEnd)
  if (deleted.length > maxDeleted) return false
  // A license that is not open needs no guard: its files are not served.
  if (kindOfExpression(id) !== 'open') return true

  const own = ownWords(id)
  const titleEnd = words.findIndex(word => !own.has(word))
  const replaces = ({ at }: Run): boolean => difference.deleted.some(run => run.at <= at && at <= run.at + run.words.length)
  const placeOf = ({ at }: Run): Place => {
    if (at <= titleEnd) return 'start'
    if (at === words.length) return 'end'
    return (before > 0 && at <= before) || at >= bodyEnd ? 'optional' : 'body'
  }
  return (
    deleted.every(({ word, at }) => at < titleEnd || !ESSENTIAL.test(word)) &&
    difference.inserted.every(run => isHarmless(run.words, placeOf(run), own, replaces(run))) &&
    text.copyright.every(line => isCopyrightOnly(line, own))
  )
}

type Place = 'start' | 'body' | 'optional' | 'end'

const INSERTED = { least: 45, share: 0.04, most: 120 }
const DELETED = { least: 22, share: 0.03 }
const OPTIONAL_WORDS = 600
/** Longest insertion inside the terms: copies replace the name of an author there. */
const BODY_RUN_WORDS = 8
const NEUTRAL = /^(?:the|a|an|and|or|of|to|in|any|its|this|that|including|next|paragraph|\p{N}{1,4}|\p{L}|[ivx]{1,4})$/u

function isHarmless(run: readonly string[], place: Place, own: ReadonlySet<string>, replaces: boolean): boolean {
  const rest = withoutKnownPhrases(run)
  if (place === 'body') {
    const significant = rest.filter(word => !own.has(word) && !NEUTRAL.test(word))
    if (significant.length > (replaces ? BODY_RUN_WORDS : 0)) return false
  }
  if (place === 'start' && isOpenTitle(rest)) return true
  return rest.every(word => isHarmlessWord(word, place, own))
}

function isHarmlessWord(word: string, place: Place, own: ReadonlySet<string>): boolean {
  if (/[./]/.test(word)) {
    return partsOfAddress(word).every(
      part => own.has(part) || !(FORBIDDING.test(part) || NAMES.test(part) || TERMS_ADDRESS.test(part)),
    )
  }
  if (!LATIN.test(word) || FORBIDDING.test(word)) return false
  if (own.has(word)) return true
  return !NAMES.test(word) && (!CONDITIONAL.test(word) || (place === 'optional' && ADVICE.has(word)))
}

/** Parts of URLs that lead to further terms. */
const TERMS_ADDRESS = /^(?:terms|tos|conditions|agreement|legal|pricing)$/

/** URLs in a known variant of the appendix of Apache-2.0. */
const ADVICE = new Set(['clauses', 'contracts'])

/** Whether a heading is only the name of an open license: then the license is open, whichever of the two the author meant. */
function isOpenTitle(run: readonly string[]): boolean {
  const meaning = run.length <= TITLE_WORDS ? readLicenseWords(run.join(' ')) : null
  return meaning?.kind === 'expression' && kindOfExpression(meaning.expression) === 'open'
}

const TITLE_WORDS = 8

/** Whether a copyright line only names years, people, files and contacts, without a condition or another license. */
function isCopyrightOnly(line: readonly string[], own: ReadonlySet<string>): boolean {
  const rest = withoutKnownPhrases(line)
  if (rest.some(word => LICENSING.test(word)) && rest.some(word => !own.has(word) && NAMES.test(word))) return false
  if (rest.some(word => SENTENCE.test(word))) return false
  // "(only the files below src)" limits the copyright; "only" without files, or with a purpose, limits the permission.
  const limitsFiles = rest.includes('files') && !rest.some(word => CONDITIONAL.test(word))
  return rest.every(word => !FORBIDDING_ABROAD.test(word) && (!FORBIDDING.test(word) || (word === 'only' && limitsFiles)))
}

const LICENSING = /^(?:licens.*|clause|terms|under)$/

/** Harmless phrases at any place. The last one ends the plain text of Creative Commons licenses. */
const KNOWN_PHRASES = [
  'all rights reserved',
  'end of terms and conditions',
  'the text of the creative commons public licenses is dedicated to the public domain under the cc0 public domain dedication',
].map(phrase => phrase.split(' '))

function withoutKnownPhrases(run: readonly string[]): string[] {
  const rest: string[] = []
  for (let index = 0; index < run.length; ) {
    const phrase = KNOWN_PHRASES.find(words => words.every((word, offset) => run[index + offset] === word))
    if (phrase === undefined) rest.push(run[index] ?? '')
    index += phrase?.length ?? 1
  }
  return rest
}

/** The words of the license's id and name, which its text may use. */
export function ownWords(id: string): ReadonlySet<string> {
  const name = licenseNames().find(license => license.id === id)?.name ?? id
  const own = new Set([...wordsOf(id.toLowerCase()), ...wordsOf(name.toLowerCase())])
  for (const [word, others] of ALSO) if (own.has(word)) for (const other of others) own.add(other)
  for (const word of own) if (FORBIDDING.test(word)) own.delete(word)
  return own
}

const ALSO: readonly (readonly [string, readonly string[]])[] = [
  ['commons', ['cc', 'creativecommons', 'by']],
  ['gpl', ['gnu', 'general']],
  ['agpl', ['gnu', 'affero']],
  ['lgpl', ['gnu', 'lesser']],
  ['mozilla', ['mpl']],
  ['wtfpl', ['fuck']],
]

export function partsOfAddress(address: string): string[] {
  return address.split(/[^\p{L}\p{N}]+/u)
}

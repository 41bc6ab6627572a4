import type { Candidate } from './candidates.ts'
import { AROUND_NAMES, holderWords, isCopyrightOnly, LEGAL_FORM } from './copyright.ts'
import { licenseNames } from './data.ts'
import { kindOfExpression } from './kind.ts'
import { licenseIdOf } from './license-ids.ts'
import type { LineToken, NormalizedText } from './normalize.ts'
import {
  ABSOLUTE,
  ADDRESSING,
  CONDITIONAL,
  ESSENTIAL,
  FORBIDDING,
  LATIN,
  NAMES,
  NAMING,
  NEGATING,
  SENTENCE,
} from './significant-words.ts'
import { documentOf, isAddress, isHarmlessAddress, type Token, wordsOf } from './tokens.ts'

/** Why a text is not the license that it resembles: too many words differ, or the words that change what it permits. */
export type Change =
  | { kind: 'rewritten' }
  | { kind: 'added'; text: string }
  | { kind: 'removed'; text: string }
  | { kind: 'copyright'; text: string }

/**
 * What the text changes of the permissions of the candidate's license; `null` when only headings, names of authors and typing errors
 * differ. In doubt it is a change: an unrecognized license keeps content unserved, a wrongly recognized one publishes it against its terms.
 */
export function findChange(text: NormalizedText, candidate: Candidate): Change | null {
  const { id, words, before, after } = candidate
  const maxInserted = Math.max(INSERTED.least, Math.min(INSERTED.most, words.length * INSERTED.share))
  const maxDeleted = Math.max(DELETED.least, words.length * DELETED.share)
  const maxOptional = Math.min(OPTIONAL_WORDS, before + after)
  const difference = wordDifference(words, text.words, Math.ceil(maxInserted + maxDeleted + maxOptional))
  if (difference === null) return { kind: 'rewritten' }
  const deleted = difference.deleted
    .flatMap(({ at, words: run }) => run.map((word, index) => ({ word, at: at + index })))
    .filter(({ at }) => at >= before && at < words.length - after)
  // A license that is not open needs no guard: its files are not served.
  const isGuarded = kindOfExpression(id) === 'open'
  const change = isGuarded ? changeOfTerms(text, candidate, difference, deleted) : null
  if (change !== null) return change
  return difference.insertedWords > maxInserted || deleted.length > maxDeleted ? { kind: 'rewritten' } : null
}

function changeOfTerms(
  text: NormalizedText,
  { id, words, before, after }: Candidate,
  difference: Difference,
  deleted: readonly { word: string; at: number }[],
): Change | null {
  const own = ownWords(id)
  const titleEnd = words.findIndex(word => !own.has(word))
  const placeOf = ({ at }: Run): Place => {
    if (at <= titleEnd) return 'start'
    if (at === words.length) return 'end'
    return (before > 0 && at <= before) || at >= words.length - after ? 'optional' : 'body'
  }
  const statement = text.copyright.find(
    line => !isCopyrightOnly(line, own) || !addressesOf(line).every(one => isHarmlessAddress(one, own)),
  )
  if (statement !== undefined) return { kind: 'copyright', text: statement }
  const holders = text.copyright.map(holderWords).filter(isSpecialName)
  const added = difference.inserted.find(run => {
    const replaced = difference.deleted.filter(({ at, words: gone }) => at <= run.at && run.at <= at + gone.length)
    const tokens = text.tokens.slice(run.textAt, run.textAt + run.words.length)
    const rest = withoutSameReference(withoutPhrases(tokens, holders), replaced)
    return !isHarmless(rest, placeOf(run), own, replaced.length > 0)
  })
  if (added !== undefined) {
    const telling = added.words.findIndex(word => !isHarmlessWord(word, placeOf(added), own))
    return { kind: 'added', text: excerptOf(added.words, Math.max(0, telling)) }
  }
  const isTitle = (run: readonly string[]) =>
    run.length > 2 && run.length <= titleEnd && run.every((word, index) => word === words[index])
  const removed = deleted.find(
    ({ word, at }) =>
      at >= titleEnd && ESSENTIAL.test(word) && !isTitle(runAt(difference.deleted, at)) && !isInDisclaimer(words, at),
  )
  return removed === undefined ? null : { kind: 'removed', text: excerptOf(runAt(difference.deleted, removed.at), 0) }
}

/** Whether the word is "software" in "this software is provided" or "use of this software", where copies leave it out. */
function isInDisclaimer(words: readonly string[], at: number): boolean {
  const around = words.slice(Math.max(0, at - 3), at + 3).join(' ')
  return words[at] === 'software' && (around.endsWith('this software is provided') || around.startsWith('use of this software'))
}

/** At most `EXCERPT_WORDS` words, with the one that tells most. */
function excerptOf(words: readonly string[], telling: number): string {
  const start = Math.max(0, Math.min(telling - EXCERPT_WORDS / 2, words.length - EXCERPT_WORDS))
  const end = start + EXCERPT_WORDS
  return `${start > 0 ? '… ' : ''}${words.slice(start, end).join(' ')}${end < words.length ? ' …' : ''}`
}

const EXCERPT_WORDS = 12

function runAt(runs: readonly Run[], position: number): string[] {
  return runs.find(({ at, words }) => at <= position && position < at + words.length)?.words ?? []
}

type Place = 'start' | 'body' | 'optional' | 'end'

const INSERTED = { least: 45, share: 0.04, most: 120 }
const DELETED = { least: 22, share: 0.03 }
const OPTIONAL_WORDS = 600
/** Longest insertion inside the terms: copies replace the name of an author there. */
const BODY_RUN_WORDS = 8
const NEUTRAL = /^(?:the|a|an|and|or|of|to|in|any|its|this|that|including|next|paragraph|\p{N}{1,4}|\p{L}|[ivx]{1,4})$/u

function isHarmless(run: readonly LineToken[], place: Place, own: ReadonlySet<string>, replaces: boolean): boolean {
  const rest = withoutPhrases(run, KNOWN_PHRASES)
  const words = rest.map(({ word }) => word)
  if (place === 'body') {
    const significant = words.filter(word => !own.has(word) && !NEUTRAL.test(word) && !isAddress(word))
    if (significant.length > (replaces ? BODY_RUN_WORDS : 0)) return false
  } else if (!isHeading(place === 'optional' ? rest.filter(({ word }) => !ADVICE.has(word)) : rest, own, place === 'start'))
    return false
  if (place === 'start' && isOpenTitle(words)) return true
  return words.every(word => isHarmlessWord(word, place, own))
}

function isHarmlessWord(word: string, place: Place, own: ReadonlySet<string>): boolean {
  if (isAddress(word)) return isHarmlessAddress(word, own)
  if (!LATIN.test(word) || FORBIDDING.test(word)) return false
  if (own.has(word)) return true
  return !NAMES.test(word) && (!CONDITIONAL.test(word) || (place === 'optional' && ADVICE.has(word)))
}

function addressesOf(statement: string): string[] {
  return wordsOf(statement.toLowerCase()).filter(isAddress)
}

/** Whether a holder's name contains the subject of a restriction or the name of a license, and is long enough to be recognized elsewhere in the text. */
function isSpecialName(name: readonly string[]): boolean {
  const has = (list: RegExp) => name.some(word => list.test(word))
  return (
    name.length > 1 &&
    (has(NAMING) || (has(NAMES) && name.at(-1) === 'foundation')) &&
    !has(NEGATING) &&
    !has(ABSOLUTE) &&
    !has(SENTENCE)
  )
}

/** Without addresses that moved at the same host: their last segment, which names the document, is the same. */
function withoutSameReference(run: readonly LineToken[], replaced: readonly Run[]): LineToken[] {
  const old = new Set(replaced.flatMap(({ words }) => words.filter(isAddress).map(documentOf)))
  return run.filter(({ word }) => !(isAddress(word) && old.has(documentOf(word))))
}

/** A known variant of the appendix of Apache-2.0. */
const ADVICE = new Set(
  'please dont get an informed understanding of your current status in work made hire or other employer ip clauses jurisdiction and contracts before applying'.split(
    ' ',
  ),
)

/** Whether a heading is only the name of an open license: then the license is open, whichever of the two the author meant. */
function isOpenTitle(run: readonly string[]): boolean {
  const id = run.length <= TITLE_WORDS ? licenseIdOf(run.join(' ')) : null
  return id !== null && kindOfExpression(id) === 'open'
}

const TITLE_WORDS = 8

/** Harmless phrases at any place: the address of the Free Software Foundation, the end of the texts of Creative Commons. */
const KNOWN_PHRASES = [
  'all rights reserved',
  'end of terms and conditions',
  '51 franklin street fifth floor boston ma 02110 1301 usa',
  'team members are listed at',
  'the complete list of contributors can be found at',
  'for more information please see',
  'for licensing see',
  'original library',
  'additional functionality',
  'the text of the creative commons public licenses is dedicated to the public domain under the cc0 public domain dedication',
].map(phrase => phrase.split(' '))

function withoutPhrases(run: readonly LineToken[], phrases: readonly (readonly string[])[]): LineToken[] {
  const rest: LineToken[] = []
  let end = 0
  for (const [index, token] of run.entries()) {
    if (index < end) continue
    const phrase = phrases.find(words => words.every((word, offset) => run[index + offset]?.word === word))
    if (phrase === undefined) rest.push(token)
    else end = index + phrase.length
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
  ['commons', ['cc', 'creativecommons', 'by', 'wiki', 'org', 'considerations', 'licensors', 'licensees', 'link', 'references']],
  ...['gpl', 'lgpl', 'agpl'].map(id => [id, ['gnu', 'general', 'lesser', 'affero', 'gpl', 'lgpl', 'agpl']] as const),
  ['mozilla', ['mpl']],
  ['unlicense', ['public', 'domain']],
  ['wtfpl', ['fuck']],
]

/** A run of words that only one of two texts has. `at`, `textAt`: the numbers of words of the first and of the second text before it. */
interface Run {
  at: number
  textAt: number
  words: string[]
}

interface Difference {
  /** Words of the first text that the second lacks, in order. */
  deleted: Run[]
  /** Words of the second text that the first lacks, in order. */
  inserted: Run[]
  deletedWords: number
  insertedWords: number
}

/**
 * The shortest word-level difference (Myers), or `null` when more than `maxWords` words differ.
 * Time is `O((n + m) + maxWords²)` and memory `O(maxWords²)`, whatever the texts.
 */
export function wordDifference(from: readonly string[], to: readonly string[], maxWords: number): Difference | null {
  if (Math.abs(from.length - to.length) > maxWords) return null
  const trace = shortestPath(from, to, maxWords)
  return trace === null ? null : runsOf(from, to, trace)
}

/** For each number of edits, the furthest position in `from` on each diagonal, at index `diagonal + edits`. */
function shortestPath(from: readonly string[], to: readonly string[], maxWords: number): Int32Array[] | null {
  const trace: Int32Array[] = []
  for (let edits = 0; edits <= maxWords; edits++) {
    const reach = new Int32Array(2 * edits + 1)
    const before = trace[edits - 1]
    trace.push(reach)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = before === undefined ? 0 : nextStart(before, edits, diagonal)
      // A diagonal outside the texts stays where it is.
      while (x < from.length && x - diagonal < to.length && x >= diagonal && from[x] === to[x - diagonal]) x++
      reach[diagonal + edits] = x
      if (x >= from.length && x - diagonal >= to.length) return trace
    }
  }
  return null
}

function nextStart(before: Int32Array, edits: number, diagonal: number): number {
  return isInsertion(before, edits, diagonal) ? reachOf(before, edits, diagonal + 1) : reachOf(before, edits, diagonal - 1) + 1
}

function isInsertion(before: Int32Array, edits: number, diagonal: number): boolean {
  return (
    diagonal === -edits || (diagonal !== edits && reachOf(before, edits, diagonal - 1) < reachOf(before, edits, diagonal + 1))
  )
}

function reachOf(before: Int32Array, edits: number, diagonal: number): number {
  return before[diagonal + edits - 1] ?? 0
}

function runsOf(from: readonly string[], to: readonly string[], trace: readonly Int32Array[]): Difference {
  const difference: Difference = { deleted: [], inserted: [], deletedWords: 0, insertedWords: 0 }
  let x = from.length
  let y = to.length
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const before = trace[edits - 1] as Int32Array
    const diagonal = x - y
    const insertion = isInsertion(before, edits, diagonal)
    const previous = diagonal + (insertion ? 1 : -1)
    x = reachOf(before, edits, previous)
    y = x - previous
    if (insertion) {
      addWord(difference.inserted, { at: x, textAt: y }, x, to[y])
      difference.insertedWords++
    } else {
      addWord(difference.deleted, { at: x, textAt: y }, x + 1, from[x])
      difference.deletedWords++
    }
  }
  for (const runs of [difference.deleted, difference.inserted]) {
    runs.reverse()
    for (const run of runs) run.words.reverse()
  }
  return difference
}

/** Adds a word, walking backwards: it joins the run that begins where the word ends. */
function addWord(runs: Run[], place: Omit<Run, 'words'>, nextAt: number, word: string | undefined): void {
  if (word === undefined) return
  const last = runs.at(-1)
  if (last !== undefined && last.at === nextAt) {
    last.words.push(word)
    Object.assign(last, place)
  } else runs.push({ ...place, words: [word] })
}

/**
 * Whether words that a text adds before or behind a license are a heading or a credit: names, and the words that stand around them. A sentence
 * of ordinary words ("Ask first.") may be a condition, though no word in it restricts by itself.
 *
 * @param isTitle the words stand before the license, where a single one names the work
 */
function isHeading(added: readonly LineToken[], own: ReadonlySet<string>, isTitle: boolean): boolean {
  const lines = Object.values(Object.groupBy(added, ({ line }) => line))
  return lines.every((line = []) => isHeadingLine(line, own, isTitle))
}

function isHeadingLine(line: readonly LineToken[], own: ReadonlySet<string>, isTitle: boolean): boolean {
  const words = line.map(({ word }) => word)
  const names = line.filter(({ word }) => !own.has(word) && !isAddress(word) && !isKnown(word))
  if (names.some(({ word, isJoined }) => !isJoined && ADDRESSING.test(word))) return false
  if (names.length > LINE_NAMES || (names.length > 0 && words.includes('see'))) return false
  // "For members of Example", "This is for Example": the license would be one for them.
  if (words.includes('for') && words.some(word => VERB.test(word))) return false
  if (words[0] === 'for' || words[0] === 'from') return false
  if (words.filter(word => /^\p{L}$/u.test(word)).length > LINE_INITIALS) return false
  const isSingle = isTitle && words.every(word => word === names[0]?.word || own.has(word) || BESIDE_SINGLE.test(word))
  return isSingle || names.every(isWrittenAsName)
}

/** Whether a word is not in lower case, or is a part of a handle, an address or a path. */
export function isWrittenAsName({ written, isJoined }: Token): boolean {
  return isJoined || !/^\p{Ll}*$/u.test(written)
}

/** Whether a word stands in headings and credits, around names. */
export function isKnown(word: string): boolean {
  return AROUND_NAMES.has(word) || AROUND_TITLES.has(word) || LEGAL_FORM.test(word) || !/\p{L}{2}/u.test(word)
}

const LINE_NAMES = 8
/** More single letters spell words out. */
const LINE_INITIALS = 4
const VERB = /^(?:is|are|was|were|be|been|has|have)$/

const BESIDE_SINGLE = /^(?:copyright|inc|llc|v?\p{N}+)$/u

/** Words that stand in titles and credits, beside those of copyright statements. */
const AROUND_TITLES: ReadonlySet<string> = new Set(
  `this these that is are was were has been it released published licensed license licenses version under from on for at to in with see as
  contains includes include including based adapted ported port derived forked fork taken sourced inspired implementation written
  work works subdirectory repo plugin plugins tool tools skill skills app application agent agents server library data
  client parsing parser language programming typescript javascript python rust rule rules copywrites noted
  readme md txt credit credits website homepage email mail web site link links reference references related title name description spdx identifier
  brief idea node js`.split(/\s+/),
)

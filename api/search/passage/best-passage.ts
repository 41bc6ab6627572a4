import { visibleLine } from '#core/hidden-text.ts'
import { SUMMARY_CHARACTERS } from '#core/limits.ts'
import { isStopWord } from '#core/search/analyze.ts'
import { countCharacters, sliceCharacters, withoutTrailing } from '#core/text.ts'
import type { Block, BlockKind } from './markdown-blocks.ts'
import { plainText } from './plain-text.ts'
import type { ReadableText } from './readable-text.ts'
import { findPlaces, prepareTerms, type TermFinder, type TermPlaces, termsIn, type WeightedTerm } from './term-places.ts'

/** How many blocks are read, best candidates first, once a passage is found. */
const ATTEMPTS = 6
/** How many blocks are read until a passage is found. */
const ALL_ATTEMPTS = 100
/** No further block is read if the best passage has this share of the score that the block promises. */
const ENOUGH_SHARE = 0.9

/** Weight of terms in each kind of block. */
const KIND_WEIGHT: Readonly<Record<BlockKind, number>> = { prose: 1, plain: 1, item: 0.95, heading: 0.8, row: 0.75, code: 0.65 }
/** Weight of terms in a block that is only a link: an entry of a table of contents. */
const LINK_WEIGHT = 0.5

/**
 * The passage of a text that matches the terms best, as one line of plain text: at most `SUMMARY_CHARACTERS` characters, with an ellipsis where
 * it begins or ends inside a sentence. `null` if the visible text below the title contains no term.
 *
 * Stop words count only if the text contains no other term. Time is linear in the text.
 *
 * @param terms terms of the analyzer
 */
export function bestPassage(text: ReadableText, terms: readonly WeightedTerm[]): string | null {
  for (const finder of findersOf(terms)) {
    const places = findPlaces(finder, text.source, text.isFolded)
    const passage = places.starts.length > 0 ? bestOf(finder, text, places) : null
    if (passage !== null) return passage
  }
  return null
}

/** The finders of the terms of a query, which are the same for all its texts. */
const finders = new WeakMap<readonly WeightedTerm[], readonly TermFinder[]>()

function findersOf(terms: readonly WeightedTerm[]): readonly TermFinder[] {
  const cached = finders.get(terms)
  if (cached) return cached
  const contentWords = terms.filter(({ term }) => !isStopWord(term))
  const stopWords = terms.filter(({ term }) => isStopWord(term))
  const prepared = [contentWords, stopWords].filter(group => group.length > 0).map(prepareTerms)
  finders.set(terms, prepared)
  return prepared
}

/** A block that contains terms. */
interface Candidate {
  /** Index of the block. */
  block: number
  /** Score that a passage from the block on can have, judged by the source. */
  score: number
}

function bestOf(finder: TermFinder, text: ReadableText, places: TermPlaces): string | null {
  const candidates = candidateBlocks(finder, text, places).sort((one, other) => other.score - one.score)
  let best: { passage: string; score: number } | null = null
  let attempts = 0
  // Regions overlap: blocks of a region without visible terms are not read again.
  const unseen = new Set<number>()
  for (const { block, score } of candidates) {
    if (unseen.has(block)) continue
    if (attempts++ >= (best === null ? ALL_ATTEMPTS : ATTEMPTS) || (best !== null && best.score >= score * ENOUGH_SHARE)) break
    const found = passageAt(finder, text, block)
    if (found !== null && found.score > (best?.score ?? 0)) best = found
    const end = found === null ? regionEnd(text.blocks, block) : block
    for (let next = block; next < end; next++) unseen.add(next)
  }
  return best?.passage ?? null
}

/** The blocks that contain terms, in order. */
function candidateBlocks(finder: TermFinder, { source, blocks }: ReadableText, places: TermPlaces): Candidate[] {
  const candidates: Candidate[] = []
  const tally = new Tally(finder, places)
  const blockOf = blocksOfPlaces(blocks, places)
  let right = 0
  for (const [left, start] of places.starts.entries()) {
    const number = blockOf[left] as number
    if (right < left) right = left
    if (number < 0) continue
    const block = blocks[number] as Block
    right = extendWindow(tally, right, { places, blockOf, blocks, run: block.run, end: start + SOURCE_UNITS })
    const score = tally.scoreFrom(left) * weightOf(source, block)
    const last = candidates.at(-1)
    if (last?.block === number) last.score = Math.max(last.score, score)
    else candidates.push({ block: number, score })
    if (left < right) tally.remove(left)
  }
  return candidates
}

/** The index of the block that contains each place; -1 for a place between blocks. */
function blocksOfPlaces(blocks: readonly Block[], { starts }: TermPlaces): number[] {
  let block = 0
  return starts.map(start => {
    while (block < blocks.length && (blocks[block] as Block).end <= start) block++
    return block < blocks.length && (blocks[block] as Block).start <= start ? block : -1
  })
}

interface Window {
  places: TermPlaces
  blockOf: readonly number[]
  blocks: readonly Block[]
  run: number
  /** In the source, exclusive. */
  end: number
}

/** Adds places of the run to the tally up to the end of the window, and returns the first place after it. */
function extendWindow(tally: Tally, right: number, { places, blockOf, blocks, run, end }: Window): number {
  let place = right
  for (; place < blockOf.length && (places.starts[place] as number) < end; place++) {
    const number = blockOf[place] as number
    if (number < 0) continue
    if ((blocks[number] as Block).run !== run) break
    tally.add(place)
  }
  return place
}

function weightOf(source: string, block: Block): number {
  return isLink(source, block) ? LINK_WEIGHT : KIND_WEIGHT[block.kind]
}

function isLink(source: string, { start, end }: Block): boolean {
  return source[start] === '[' && source.startsWith(')', end - 1) && source.slice(start, end).split('](').length === 2
}

/** The best passage that begins with a block; `null` if its plain text contains no term. */
function passageAt(finder: TermFinder, text: ReadableText, first: number): { passage: string; score: number } | null {
  const region = readRegion(text, first)
  const cut = bestCut(finder, region, findPlaces(finder, region.text))
  if (cut === null) return null
  const passage = cutPassage(region, cut.start)
  // The analyzer reads a word in its context, which the cut may have changed.
  const hasTerm = findPlaces(finder, passage).starts.some(start => termsIn(finder, wordAt(passage, start)).length > 0)
  if (!hasTerm) return null
  const block = text.blocks[first] as Block
  const score = cut.score * weightOf(text.source, block)
  const isShort = passage.length < SHORT_UNITS && cut.start === 0 && !block.continues
  return { passage: isShort ? withContext(text, first, passage) : passage, score }
}

function wordAt(text: string, index: number): string {
  const end = text.indexOf(' ', index)
  return text.slice(text.lastIndexOf(' ', index) + 1, end < 0 ? text.length : end)
}

/** If a sentence begins too far before the first term, the passage begins this far before the term. UTF-16 units. */
const LEAD_UNITS = 60

/** The start of the best passage of a region: the start of a sentence, unless the terms lie too far after it. `null` if there are no terms. */
function bestCut(finder: TermFinder, region: Region, places: TermPlaces): { start: number; score: number } | null {
  const tally = new Tally(finder, places)
  let best: { start: number; score: number } | null = null
  let right = 0
  let border = 0
  for (const [left, place] of places.starts.entries()) {
    while (border + 1 < region.borders.length && (region.borders[border + 1] as number) <= place) border++
    const sentence = region.borders[border] ?? 0
    const isNear = placeEnd(finder, places, left) - sentence <= SUMMARY_CHARACTERS - LEAD_UNITS
    const start = isNear ? sentence : wordStart(region.text, place - LEAD_UNITS, place)
    for (; right < places.starts.length && placeEnd(finder, places, right) < start + SUMMARY_CHARACTERS - 1; right++)
      tally.add(right)
    const score = tally.scoreFrom(left) * (isNear ? 1 : 0.97)
    if (score > (best?.score ?? 0)) best = { start, score }
    if (left < right) tally.remove(left)
    else right = left + 1
  }
  return best
}

/** The passage of a region from `start` on: up to the end of a sentence if that is not too short, else up to a word and an ellipsis. */
function cutPassage(region: Region, start: number): string {
  const { text, borders } = region
  const isInside = start === 0 ? region.beginsInside : !borders.includes(start)
  const opening = isInside ? '…' : ''
  const rest = text.slice(start, start + 2 * SUMMARY_CHARACTERS)
  const room = SUMMARY_CHARACTERS - opening.length
  const fitsToEnd = start + rest.length === text.length && countCharacters(rest) <= room - (region.endsInside ? 1 : 0)
  if (fitsToEnd) return opening + rest + (region.endsInside ? '…' : '')
  const longest = sliceCharacters(rest, 0, room).length
  // The space before the next sentence is trimmed, so it may lie past the limit.
  const fits = (border: number) => border <= start + longest + (text[border - 1] === ' ' ? 1 : 0)
  const sentence = borders.findLast(border => border > start && fits(border)) ?? start
  if (sentence - start > longest * 0.66) return opening + trimmed(text.slice(start, sentence))
  return `${opening}${trimmed(rest.slice(0, wordEnd(rest, sliceCharacters(rest, 0, room - 1).length)))}…`
}

function wordStart(text: string, from: number, to: number): number {
  const space = text.indexOf(' ', from)
  return space >= 0 && space < to ? space + 1 : characterBorder(text, from)
}

function wordEnd(text: string, end: number): number {
  if (text[end] === ' ') return end
  const space = text.lastIndexOf(' ', end)
  return space > end * 0.75 ? space : characterBorder(text, end)
}

/** The border of a grapheme at or before the index. */
function characterBorder(text: string, index: number): number {
  if (index <= 0) return 0
  const from = Math.max(0, index - 32)
  const near = text.slice(from, index + 32)
  const segment = segmenter.segment(near).containing(index - from)
  return segment === undefined ? index : from + segment.index
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Without trailing spaces and punctuation that joins to the next words. */
function trimmed(text: string): string {
  return withoutTrailing(text, /[\s·,;:–-]/)
}

/** The plain text of neighbouring blocks, from which a passage is cut. */
interface Region {
  text: string
  /** Where sentences and blocks begin, and the end of the text. UTF-16 units. */
  borders: number[]
  /** The kind of its first block. */
  kind: BlockKind
  /** It begins inside a sentence. */
  beginsInside: boolean
  /** More of the same sentence follows. */
  endsInside: boolean
}

/** Shorter passages are preceded by their context. UTF-16 units. */
const SHORT_UNITS = 110
/** Separates items, headings and cells. */
const JOINT = ' · '

/** The region that begins with block `first`. */
function readRegion(readable: ReadableText, first: number): Region {
  const { blocks } = readable
  const last = regionEnd(blocks, first)
  const borders: number[] = []
  let text = ''
  for (let number = first; number < last; number++) {
    const block = blocks[number] as Block
    const plain = blockText(readable, block)
    if (plain === '') continue
    if (text !== '') text += jointBetween(blocks[number - 1] as Block, text, block)
    if (text === '' || !block.continues) borders.push(text.length)
    for (const match of plain.matchAll(SENTENCE_END)) borders.push(text.length + match.index + match[0].length)
    text += plain
  }
  borders.push(text.length)
  const { kind, continues } = blocks[first] as Block
  return { text, borders, kind, beginsInside: continues, endsInside: blocks[last]?.continues === true }
}

/** The index of the first block after the region that begins with block `first`. */
function regionEnd(blocks: readonly Block[], first: number): number {
  const { start, end } = blocks[first] as Block
  let { run } = blocks[first] as Block
  let next = first + 1
  for (; next < blocks.length; next++) {
    const block = blocks[next] as Block
    if (block.start > end + 2 * SOURCE_UNITS || block.start > start + 4 * SOURCE_UNITS) break
    if (block.run === run) continue
    // A short text before code or a table introduces it.
    const before = blocks[next - 1] as Block
    const isIntroduction = isCodeOrTable(block) && !isCodeOrTable(before) && before.end - start < SHORT_UNITS
    if (!isIntroduction) break
    run = block.run
  }
  return next
}

function isCodeOrTable({ kind }: Block): boolean {
  return kind === 'code' || kind === 'row'
}

/** Puts the blocks before a short passage in front of it while they fit: those of its section, up to the heading. */
function withContext(readable: ReadableText, first: number, passage: string): string {
  const { blocks } = readable
  let result = passage
  for (let number = first; number > 0; number--) {
    const block = blocks[number] as Block
    const before = blocks[number - 1] as Block
    if (block.kind === 'heading' || (before.kind === 'code' && block.kind !== 'code')) break
    // A whole paragraph before would push the terms away from the beginning.
    if ((block.kind === 'prose' || block.kind === 'plain') && before.kind !== 'heading') break
    const plain = blockText(readable, before)
    const longer = plain === '' ? result : plain + jointBetween(before, plain, block) + result
    if (before.continues || countCharacters(longer) > SUMMARY_CHARACTERS) break
    result = longer
  }
  return result
}

/** The end of a sentence with the space after it. */
const SENTENCE_END = /(?:(?<![\s.(]\p{L})[.!?…]["'”’)]*\s+(?=[^\s\p{Ll}])|[。！？]["'”’」』）)]*\s*(?=.))/gu

function jointBetween(before: Block, plain: string, block: Block): string {
  if (block.continues || (block.kind === 'code' && before.kind === 'code')) return ' '
  return /[.!?…:;,。！？：；、]["'”’」』]?$/u.test(plain) ? ' ' : JOINT
}

function blockText({ source }: ReadableText, { start, end, kind }: Block): string {
  const written = source.slice(start, end)
  if (kind === 'code' || kind === 'plain') return visibleLine(written)
  if (kind === 'row') {
    const cells = written.split(/(?<!\\)\|/).map(plainText)
    return cells.filter(cell => cell !== '').join(JOINT)
  }
  const line = written.includes('\n') ? written.replace(LINE_START, ' ') : written
  return plainText(kind === 'heading' ? line.replace(/[ \t]#+\s*$/, '') : line)
}

const LINE_START = /\r?\n[ \t>]*/g

/** The length of a window in the source, which contains marks and link targets too. UTF-16 units. */
const SOURCE_UNITS = 280

/** Neighbouring terms count this much more. */
const PHRASE_SHARE = 0.25

/**
 * Scores a window that slides over the places of terms: each term counts once, and more if terms are neighbours. Places are added in order and
 * removed in order.
 */
class Tally {
  readonly #counts: Uint16Array
  readonly #finder: TermFinder
  readonly #places: TermPlaces
  /** For each place the next place of the same term. */
  readonly #nextPlace: Uint32Array
  #distinct = 0
  /** Start of the place from which on the window contains all its terms. */
  #completeAt = 0
  #phrases = 0

  constructor(finder: TermFinder, places: TermPlaces) {
    this.#counts = new Uint16Array(finder.terms.length)
    this.#finder = finder
    this.#places = places
    this.#nextPlace = new Uint32Array(places.numbers.length)
    const later = new Uint32Array(finder.terms.length)
    for (let place = places.numbers.length - 1; place >= 0; place--) {
      const number = places.numbers[place] as number
      this.#nextPlace[place] = later[number] as number
      later[number] = place
    }
  }

  /** The score of the window, which begins at `place`. Distance counts little: it decides between windows of nearly equal terms. */
  scoreFrom(place: number): number {
    const distance = Math.max(0, this.#completeAt - (this.#places.starts[place] as number))
    return (this.#distinct + Math.min(this.#phrases, this.#distinct) * PHRASE_SHARE) * (1 - (0.1 * distance) / SOURCE_UNITS)
  }

  add(place: number): void {
    const number = this.#places.numbers[place] as number
    const count = this.#counts[number] as number
    this.#counts[number] = count + 1
    if (count === 0) {
      this.#distinct += this.#weight(place)
      this.#completeAt = this.#places.starts[place] as number
    }
    this.#phrases += this.#phraseWeight(place)
  }

  remove(place: number): void {
    const number = this.#places.numbers[place] as number
    const count = this.#counts[number] as number
    this.#counts[number] = count - 1
    if (count === 1) this.#distinct -= this.#weight(place)
    else this.#completeAt = Math.max(this.#completeAt, this.#places.starts[this.#nextPlace[place] as number] as number)
    this.#phrases -= this.#phraseWeight(place)
  }

  #weight(place: number): number {
    return this.#finder.terms[this.#places.numbers[place] as number]?.weight ?? 0
  }

  #phraseWeight(place: number): number {
    const { starts, numbers } = this.#places
    if (place === 0 || numbers[place - 1] === numbers[place]) return 0
    const gap = (starts[place] as number) - placeEnd(this.#finder, this.#places, place - 1)
    return gap <= 4 ? Math.min(this.#weight(place - 1), this.#weight(place)) : 0
  }
}

/** The end of the term at a place. UTF-16 units. */
function placeEnd({ terms }: TermFinder, { starts, numbers }: TermPlaces, place: number): number {
  return (starts[place] as number) + (terms[numbers[place] as number]?.term.length ?? 0)
}

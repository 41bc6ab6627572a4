import { isStopWord } from '#core/search/analyze.ts'
import type { Block, BlockKind } from './blocks.ts'
import { bestCut, cutPassage } from './cut.ts'
import type { ReadableText } from './readable-text.ts'
import { readRegion, regionEnd, SHORT_UNITS, withContext } from './region.ts'
import { SOURCE_UNITS, Tally } from './tally.ts'
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

import { isStopWord } from '#core/search/analyze.ts'
import type { Block, BlockKind } from './blocks.ts'
import { bestCut, cutPassage } from './cut.ts'
import type { ReadableText } from './readable-text.ts'
import { readRegion, regionEnd, SHORT_UNITS, withContext } from './region.ts'
import { SOURCE_UNITS, Tally } from './tally.ts'
import { findPlaces, prepareTerms, type TermFinder, type TermPlaces, termsIn, type WeightedTerm } from './term-places.ts'

/** Blocks that are read for a passage, those that promise most first, and how many more when nothing is seen in them. */
const ATTEMPTS = 6
const ALL_ATTEMPTS = 100
/** Others are not read when the best passage comes this near to what they promise. */
const ENOUGH_SHARE = 0.9

/** How much a place is worth where the terms stand. */
const WORTH: Readonly<Record<BlockKind, number>> = { prose: 1, plain: 1, item: 0.95, heading: 0.8, row: 0.75, code: 0.65 }
/** An entry of a table of contents. */
const LINK_WORTH = 0.5

/**
 * The passage of a Markdown, reStructuredText or plain text file that matches the terms best, as one line of plain text: at most
 * `SUMMARY_CHARACTERS` characters, an ellipsis where it begins or ends inside a sentence. `null` when no term stands in the visible text
 * beside its title, which readers are shown anyway.
 *
 * Terms are those of the analyzer. Stop words count only when no other term stands there. Time is linear in the text.
 */
export function bestPassage(text: ReadableText, terms: readonly WeightedTerm[]): string | null {
  for (const finder of findersOf(terms)) {
    const places = findPlaces(finder, text.source, text.isFolded)
    const passage = places.starts.length > 0 ? bestOf(finder, text, places) : null
    if (passage !== null) return passage
  }
  return null
}

/** One query asks for the passages of many texts with the same terms. */
const prepared = new WeakMap<readonly WeightedTerm[], readonly TermFinder[]>()

function findersOf(terms: readonly WeightedTerm[]): readonly TermFinder[] {
  const known = prepared.get(terms)
  if (known) return known
  const telling = terms.filter(({ term }) => !isStopWord(term))
  const stopWords = terms.filter(({ term }) => isStopWord(term))
  const finders = [telling, stopWords].filter(some => some.length > 0).map(prepareTerms)
  prepared.set(terms, finders)
  return finders
}

interface Candidate {
  block: number
  score: number
}

function bestOf(finder: TermFinder, text: ReadableText, places: TermPlaces): string | null {
  const candidates = candidateBlocks(finder, text, places).sort((one, other) => other.score - one.score)
  let best: { passage: string; score: number } | null = null
  let attempts = 0
  // Where nothing is seen once is not looked at again: regions overlap.
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

/** The blocks that terms stand in, in order, with what a passage that begins there promises. */
function candidateBlocks(finder: TermFinder, { source, blocks }: ReadableText, places: TermPlaces): Candidate[] {
  const candidates: Candidate[] = []
  const tally = new Tally(finder, places)
  const blockOf: number[] = []
  let block = 0
  for (const start of places.starts) {
    while (block < blocks.length && (blocks[block] as Block).end <= start) block++
    blockOf.push(block < blocks.length && (blocks[block] as Block).start <= start ? block : -1)
  }
  let right = 0
  for (const [left, start] of places.starts.entries()) {
    const number = blockOf[left] as number
    if (right < left) right = left
    if (number >= 0) {
      const block = blocks[number] as Block
      while (right < blockOf.length && (places.starts[right] as number) < start + SOURCE_UNITS) {
        const other = blockOf[right] as number
        if (other >= 0 && (blocks[other] as Block).run !== block.run) break
        if (other >= 0) tally.add(right)
        right++
      }
      const score = tally.scoreFrom(left) * worthOf(source, block)
      const last = candidates.at(-1)
      if (last?.block === number) last.score = Math.max(last.score, score)
      else candidates.push({ block: number, score })
      if (left < right) tally.remove(left)
    }
  }
  return candidates
}

function worthOf(source: string, block: Block): number {
  return isLink(source, block) ? LINK_WORTH : WORTH[block.kind]
}

function isLink(source: string, { start, end }: Block): boolean {
  return source[start] === '[' && source.startsWith(')', end - 1) && source.slice(start, end).split('](').length === 2
}

/** The best passage that begins with a block; `null` when no term is seen there. */
function passageAt(finder: TermFinder, text: ReadableText, first: number): { passage: string; score: number } | null {
  const region = readRegion(text, first)
  const cut = bestCut(finder, region, findPlaces(finder, region.text))
  if (cut === null) return null
  const passage = cutPassage(region, cut.start)
  // What stands beside a run may change how it is read.
  const isReal = findPlaces(finder, passage).starts.some(start => termsIn(finder, wordAt(passage, start)).length > 0)
  if (!isReal) return null
  const block = text.blocks[first] as Block
  const score = cut.score * worthOf(text.source, block)
  const isShort = passage.length < SHORT_UNITS && cut.start === 0 && !block.continues
  return { passage: isShort ? withContext(text, first, passage) : passage, score }
}

function wordAt(text: string, index: number): string {
  const end = text.indexOf(' ', index)
  return text.slice(text.lastIndexOf(' ', index) + 1, end < 0 ? text.length : end)
}

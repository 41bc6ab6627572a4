import { SUMMARY_CHARACTERS } from '#core/limits.ts'
import { countCharacters, sliceCharacters, withoutTrailing } from '#core/text.ts'
import type { Region } from './region.ts'
import { placeEnd, Tally } from './tally.ts'
import type { TermFinder, TermPlaces } from './term-places.ts'

/** If a sentence begins too far before the first term, the passage begins this far before the term. UTF-16 units. */
const LEAD_UNITS = 60

/** The start of the best passage of a region: the start of a sentence, unless the terms lie too far after it. `null` if there are no terms. */
export function bestCut(finder: TermFinder, region: Region, places: TermPlaces): { start: number; score: number } | null {
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
export function cutPassage(region: Region, start: number): string {
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

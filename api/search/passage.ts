import { SUMMARY_CHARACTERS } from '#core/limits.ts'
import { isStopWord } from '#core/search/analyze.ts'
import { countCharacters, sliceCharacters } from '#core/text.ts'
import { type Block, type BlockKind, markdownBlocks, plainBlocks, withoutHiddenParts } from './markdown-blocks.ts'
import { plainText, visibleLine } from './plain-text.ts'
import { findPlaces, prepareTerms, type TermFinder, type TermPlaces, termsIn, type WeightedTerm } from './term-places.ts'

/** What of a text is looked at for a passage: so many of its bytes, and of its UTF-16 units. */
export const PASSAGE_TEXT_SIZE = 64 * 1024
/** How far terms may stand apart in the source of one passage: marks and targets take room too. */
const SOURCE_UNITS = 280
/** Blocks that are read for a passage, those that promise most first, and how many more when nothing is seen in them. */
const ATTEMPTS = 6
const ALL_ATTEMPTS = 100
/** Others are not read when the best passage comes this near to what they promise. */
const ENOUGH_SHARE = 0.9
/** A shorter passage begins with what stands before it as well. */
const SHORT_UNITS = 110
/** How far before its first term a passage begins when its sentence begins too far away. */
const LEAD_UNITS = 60
/** Stands between what are lines of their own: items, headings, cells. */
const JOINT = ' · '

/** How much a place is worth where the terms stand. */
const WORTH: Readonly<Record<BlockKind, number>> = { prose: 1, plain: 1, item: 0.95, heading: 0.8, row: 0.75, code: 0.65 }
/** An entry of a table of contents. */
const LINK_WORTH = 0.5
/** Terms that stand side by side count this much more. */
const PHRASE_SHARE = 0.25

/**
 * The passage of a Markdown, reStructuredText or plain text file that matches the terms best, as one line of plain text: at most
 * `SUMMARY_CHARACTERS` characters, an ellipsis where it begins or ends inside a sentence. `null` when no term stands in the visible text
 * beside its title, which readers are shown anyway.
 *
 * Terms are those of the analyzer. Stop words count only when no other term stands there. Time is linear in the text.
 */
export function bestPassage(path: string, text: string, terms: readonly WeightedTerm[]): string | null {
  const finders = findersOf(terms)
  const isRst = /\.rst$/i.test(path)
  const isPlain = /\.txt$/i.test(path)
  const visible = withoutHiddenParts(text.slice(0, PASSAGE_TEXT_SIZE), { isMdx: /\.mdx$/i.test(path) })
  const source = composed(
    isRst ? visible.replace(RST_ROLE, '').replace(RST_TARGET, (_, label: string) => label.trimEnd()) : visible,
  )
  let blocks: Block[] | null = null
  for (const finder of finders) {
    const places = findPlaces(finder, source)
    if (places.starts.length === 0) continue
    blocks ??= isPlain ? plainBlocks(source) : markdownBlocks(source, { isRst })
    const passage = bestOf(finder, source, blocks, places)
    if (passage !== null) return passage
  }
  return null
}

/** `:ref:` before its text */
const RST_ROLE = /:[\w+-]{1,40}:(?=`)/g
/** `text <target>`_ */
const RST_TARGET = /`([^`<\n]{1,200})<[^`>\n]{0,400}>`_{0,2}/g

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

/** Letters in one piece, as they are looked up; runs of marks are bounded, since composing takes quadratic time in their length. */
function composed(text: string): string {
  if (!DECOMPOSED.test(text)) return text
  return text
    .replace(MARK_RUN, '$1')
    .replace(HALF_WIDTH_RUN, run => run.normalize('NFKC'))
    .normalize('NFC')
}

const DECOMPOSED = /[\u0300-\u036f\u1100-\u11ff\u3099\u309a\uff66-\uff9f]/
const MARK_RUN = /([\p{M}\uff9e\uff9f]{4})[\p{M}\uff9e\uff9f]+/gu
const HALF_WIDTH_RUN = /[\uff66-\uff9f]{1,64}/g

interface Candidate {
  block: number
  score: number
}

function bestOf(finder: TermFinder, source: string, blocks: readonly Block[], places: TermPlaces): string | null {
  const candidates = candidateBlocks(finder, source, blocks, places).sort((one, other) => other.score - one.score)
  let best: { passage: string; score: number } | null = null
  let attempts = 0
  // Where nothing is seen once is not looked at again: regions overlap.
  const unseen = new Set<number>()
  for (const { block, score } of candidates) {
    if (unseen.has(block)) continue
    if (attempts++ >= (best === null ? ALL_ATTEMPTS : ATTEMPTS) || (best !== null && best.score >= score * ENOUGH_SHARE)) break
    const found = passageAt(finder, source, blocks, block)
    if (found !== null && found.score > (best?.score ?? 0)) best = found
    const end = found === null ? regionEnd(blocks, block) : block
    for (let next = block; next < end; next++) unseen.add(next)
  }
  return best?.passage ?? null
}

/** The blocks that terms stand in, in order, with what a passage that begins there promises. */
function candidateBlocks(finder: TermFinder, source: string, blocks: readonly Block[], places: TermPlaces): Candidate[] {
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
      const { run, kind, start: blockStart, end } = blocks[number] as Block
      while (right < blockOf.length && (places.starts[right] as number) < start + SOURCE_UNITS) {
        const other = blockOf[right] as number
        if (other >= 0 && (blocks[other] as Block).run !== run) break
        if (other >= 0) tally.add(right)
        right++
      }
      const worth = isLink(source, blockStart, end) ? LINK_WORTH : WORTH[kind]
      const score = tally.scoreFrom(left) * worth
      const last = candidates.at(-1)
      if (last?.block === number) last.score = Math.max(last.score, score)
      else candidates.push({ block: number, score })
      if (left < right) tally.remove(left)
    }
  }
  return candidates
}

/** What the terms of a window tell: each once, and more when they stand side by side. */
class Tally {
  readonly #counts: Uint16Array
  readonly #finder: TermFinder
  readonly #places: TermPlaces
  /** The next place of the same term. */
  readonly #again: Uint32Array
  #distinct = 0
  /** Where the last of the terms is met first. */
  #completeAt = 0
  #phrases = 0

  constructor(finder: TermFinder, places: TermPlaces) {
    this.#counts = new Uint16Array(finder.terms.length)
    this.#finder = finder
    this.#places = places
    this.#again = new Uint32Array(places.numbers.length)
    const later = new Uint32Array(finder.terms.length)
    for (let place = places.numbers.length - 1; place >= 0; place--) {
      const number = places.numbers[place] as number
      this.#again[place] = later[number] as number
      later[number] = place
    }
  }

  /** Of the window that begins at a place. What stands close together decides only between what is nearly equal. */
  scoreFrom(place: number): number {
    const reach = Math.max(0, this.#completeAt - (this.#places.starts[place] as number))
    return (this.#distinct + Math.min(this.#phrases, this.#distinct) * PHRASE_SHARE) * (1 - (0.1 * reach) / SOURCE_UNITS)
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
    else this.#completeAt = Math.max(this.#completeAt, this.#places.starts[this.#again[place] as number] as number)
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

function placeEnd({ terms }: TermFinder, { starts, numbers }: TermPlaces, place: number): number {
  return (starts[place] as number) + (terms[numbers[place] as number]?.term.length ?? 0)
}

function isLink(source: string, start: number, end: number): boolean {
  return source[start] === '[' && source.startsWith(')', end - 1) && source.slice(start, end).split('](').length === 2
}

/** Plain text of neighbouring blocks. `borders`: where sentences and lines begin, and its end. */
interface Region {
  text: string
  borders: number[]
  kind: BlockKind
  /** It begins inside a sentence. */
  beginsInside: boolean
  /** More of the same sentence follows. */
  endsInside: boolean
}

function passageAt(
  finder: TermFinder,
  source: string,
  blocks: readonly Block[],
  first: number,
): { passage: string; score: number } | null {
  const region = readRegion(source, blocks, first)
  const places = findPlaces(finder, region.text)
  const cut = bestCut(finder, region, places)
  if (cut === null) return null
  const passage = cutPassage(region, cut.start)
  // What stands beside a run may change how it is read.
  const isReal = findPlaces(finder, passage).starts.some(start => termsIn(finder, wordAt(passage, start)).length > 0)
  if (!isReal) return null
  const block = blocks[first] as Block
  const worth = isLink(source, block.start, block.end) ? LINK_WORTH : WORTH[region.kind]
  const isShort = passage.length < SHORT_UNITS && cut.start === 0 && !block.continues
  return { passage: isShort ? withContext(source, blocks, first, passage) : passage, score: cut.score * worth }
}

function wordAt(text: string, index: number): string {
  const end = text.indexOf(' ', index)
  return text.slice(text.lastIndexOf(' ', index) + 1, end < 0 ? text.length : end)
}

function regionEnd(blocks: readonly Block[], first: number): number {
  const { start, end } = blocks[first] as Block
  let { run } = blocks[first] as Block
  let next = first + 1
  for (; next < blocks.length; next++) {
    const block = blocks[next] as Block
    if (block.start > end + 2 * SOURCE_UNITS || block.start > start + 4 * SOURCE_UNITS) break
    if (block.run === run) continue
    // A few words before code or a table are about them, and tell little alone.
    const before = blocks[next - 1] as Block
    const isAbout = isLines(block) && !isLines(before) && before.end - start < SHORT_UNITS
    if (!isAbout) break
    run = block.run
  }
  return next
}

function isLines({ kind }: Block): boolean {
  return kind === 'code' || kind === 'row'
}

function readRegion(source: string, blocks: readonly Block[], first: number): Region {
  const last = regionEnd(blocks, first)
  const borders: number[] = []
  let text = ''
  for (let number = first; number < last; number++) {
    const block = blocks[number] as Block
    const plain = blockText(source, block)
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

/** Up to where the next sentence begins. */
const SENTENCE_END = /(?:(?<![\s.(]\p{L})[.!?…]["'”’)]*\s+(?=[^\s\p{Ll}])|[。！？]["'”’」』）)]*\s*(?=.))/gu

function jointBetween(before: Block, plain: string, block: Block): string {
  if (block.continues || (block.kind === 'code' && before.kind === 'code')) return ' '
  return /[.!?…:;,。！？：；、]["'”’」』]?$/u.test(plain) ? ' ' : JOINT
}

function blockText(source: string, { start, end, kind }: Block): string {
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

/** Where the passage begins that tells most: at the border of a sentence unless its terms stand too far behind it. */
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

function wordStart(text: string, from: number, to: number): number {
  const space = text.indexOf(' ', from)
  return space >= 0 && space < to ? space + 1 : characterBorder(text, from)
}

function cutPassage(region: Region, start: number): string {
  const { text, borders } = region
  const isInside = start === 0 ? region.beginsInside : !borders.includes(start)
  const opening = isInside ? '…' : ''
  const rest = text.slice(start, start + 2 * SUMMARY_CHARACTERS)
  const room = SUMMARY_CHARACTERS - opening.length
  const isWhole = start + rest.length === text.length && countCharacters(rest) <= room - (region.endsInside ? 1 : 0)
  if (isWhole) return opening + rest + (region.endsInside ? '…' : '')
  const longest = sliceCharacters(rest, 0, room).length
  // A space before the next sentence takes no room.
  const fits = (border: number) => border <= start + longest + (text[border - 1] === ' ' ? 1 : 0)
  const sentence = borders.findLast(border => border > start && fits(border)) ?? start
  if (sentence - start > longest * 0.66) return opening + trimmed(text.slice(start, sentence))
  return `${opening}${trimmed(rest.slice(0, wordEnd(rest, sliceCharacters(rest, 0, room - 1).length)))}…`
}

function wordEnd(text: string, end: number): number {
  if (text[end] === ' ') return end
  const space = text.lastIndexOf(' ', end)
  return space > end * 0.75 ? space : characterBorder(text, end)
}

/** The border of what is seen as one character, at or before the index. */
function characterBorder(text: string, index: number): number {
  if (index <= 0) return 0
  const from = Math.max(0, index - 32)
  const near = text.slice(from, index + 32)
  const segment = segmenter.segment(near).containing(index - from)
  return segment === undefined ? index : from + segment.index
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Without what joins to the next. */
function trimmed(text: string): string {
  return text.replace(/[\s·,;:–-]+$/u, '')
}

/** Puts what stands before a short passage in front of it, as far as it fits: lines of the same section, up to its heading. */
function withContext(source: string, blocks: readonly Block[], first: number, passage: string): string {
  let result = passage
  for (let number = first; number > 0; number--) {
    const block = blocks[number] as Block
    const before = blocks[number - 1] as Block
    if (block.kind === 'heading' || (before.kind === 'code' && block.kind !== 'code')) break
    // Another paragraph would only push the terms away.
    if ((block.kind === 'prose' || block.kind === 'plain') && before.kind !== 'heading') break
    const plain = blockText(source, before)
    const longer = plain === '' ? result : plain + jointBetween(before, plain, block) + result
    if (before.continues || countCharacters(longer) > SUMMARY_CHARACTERS) break
    result = longer
  }
  return result
}

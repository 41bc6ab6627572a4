import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { primaryOf } from './card-words.ts'

/** Chooses the fonts that texts need. Fonts come in files for ranges of characters; each is read once. */
export interface CardFonts {
  /** The families for texts in a language, best first. */
  familiesFor(lang: string | null): string[]
  /**
   * What fonts draw of a text: a character is drawn by the first family that has a font for the whole of it, its marks included.
   */
  match(text: string, families: readonly string[], options?: { substitute?: string }): Promise<MatchedText>
}

export interface MatchedText {
  /** Without the characters that no family has, or with `substitute` in their place. A mark that the font of its letter lacks is left out. */
  text: string
  /** The share of its characters that no family has. */
  missingShare: number
  /** Best first. */
  fonts: readonly LoadedFont[]
}

/** The bytes of a file of fonts, with the characters that it draws. */
export interface LoadedFont {
  family: string
  /** Of this file alone. */
  name: string
  /** Among the files of its family. */
  position: number
  data: Uint8Array
  unicodeRange: Range[]
}

interface FontFile extends Pick<LoadedFont, 'family' | 'name' | 'position'> {
  path: string
  /** What the package says that it has: more than that. */
  claims: Range[]
  loading: Promise<LoadedFont> | null
}

export const SANS = 'Plex'
export const MONO = 'Plex Mono'

/** A package of fonts, and the end of the names of its files. */
export interface FontPackage {
  name: string
  suffix: string
}

/** By family. */
const PACKAGES: Readonly<Record<string, FontPackage>> = {
  [SANS]: { name: '@fontsource-variable/ibm-plex-sans', suffix: 'wght-normal' },
  [MONO]: { name: '@fontsource/ibm-plex-mono', suffix: '400-normal' },
  Noto: { name: '@fontsource-variable/noto-sans', suffix: 'wght-normal' },
  Arabic: { name: '@fontsource-variable/noto-sans-arabic', suffix: 'wght-normal' },
  Hebrew: { name: '@fontsource-variable/noto-sans-hebrew', suffix: 'wght-normal' },
  Thai: { name: '@fontsource-variable/noto-sans-thai', suffix: 'wght-normal' },
  Chinese: { name: '@fontsource-variable/noto-sans-sc', suffix: 'wght-normal' },
  Japanese: { name: '@fontsource-variable/noto-sans-jp', suffix: 'wght-normal' },
  Korean: { name: '@fontsource-variable/noto-sans-kr', suffix: 'wght-normal' },
}

/** All that cards may need. */
export const FONT_PACKAGES: readonly FontPackage[] = Object.values(PACKAGES)

const ALWAYS = [SANS, 'Noto', 'Arabic', 'Hebrew', 'Thai']
/** The same code points have other shapes in each of these languages. */
const HAN: Readonly<Record<string, readonly string[]>> = {
  ja: ['Japanese', 'Chinese', 'Korean'],
  ko: ['Korean', 'Japanese', 'Chinese'],
  zh: ['Chinese', 'Japanese', 'Korean'],
}

const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Nothing is drawn for them. */
const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u

export function openCardFonts(): CardFonts {
  const files = Map.groupBy(Object.entries(PACKAGES).flatMap(readFontFiles), ({ family }) => family)

  /** The font of the first family that has one for all of these characters; `null` when none has. */
  async function fontOf(characters: readonly string[], families: readonly string[]): Promise<LoadedFont | null> {
    const codes = characters.map(character => character.codePointAt(0) ?? 0)
    for (const family of families) {
      for (const file of files.get(family) ?? []) {
        if (!codes.every(code => isWithin(file.claims, code))) continue
        file.loading ??= loadFont(file)
        const font = await file.loading
        if (codes.every(code => isWithin(font.unicodeRange, code))) return font
      }
    }
    return null
  }

  return {
    familiesFor: lang => [...ALWAYS, ...(HAN[lang === null ? 'zh' : primaryOf(lang)] ?? HAN.zh ?? [])],
    async match(text, families, { substitute = '' } = {}) {
      const fonts = new Set<LoadedFont>()
      let [kept, characters, missing] = ['', 0, 0]
      for (const { segment } of CLUSTERS.segment(text)) {
        const visible = [...segment].filter(character => !INVISIBLE.test(character))
        const whole = await fontOf(visible, families)
        const font = whole ?? (await fontOf(visible.slice(0, 1), families))
        if (font) fonts.add(font)
        kept += whole ? segment : font ? visible[0] : substitute
        characters += visible.length
        missing += visible.length - (whole ? visible.length : font ? 1 : 0)
      }
      return { text: kept, missingShare: characters === 0 ? 0 : missing / characters, fonts: inOrder(fonts, families) }
    },
  }
}

/** Each font once, in the order of their families. */
export function inOrder(fonts: Iterable<LoadedFont>, families: readonly string[]): LoadedFont[] {
  const rankOf = ({ family, position }: LoadedFont) => families.indexOf(family) * MAX_FILES + position
  return [...new Set(fonts)].sort((left, right) => rankOf(left) - rankOf(right))
}

/** More than a package has. */
const MAX_FILES = 1_000

function isWithin(ranges: readonly Range[], code: number): boolean {
  return ranges.some(([first, last]) => first <= code && code <= last)
}

function overlap(left: readonly Range[], right: readonly Range[]): Range[] {
  return left.flatMap(([first, last]) =>
    right.flatMap(([from, to]): Range[] => (last < from || to < first ? [] : [[Math.max(first, from), Math.min(last, to)]])),
  )
}

async function loadFont({ family, name, position, path, claims }: FontFile): Promise<LoadedFont> {
  const data = await readFile(path)
  // A file also has some characters of the others, without the rules by which they are put together.
  return { family, name, position, data, unicodeRange: overlap(claims, await readCoverage(data)) }
}

/** The files of a package, by its list of ranges. Nothing of them is read yet. */
function readFontFiles([family, { name, suffix }]: [string, FontPackage]): FontFile[] {
  const list = createRequire(import.meta.url).resolve(`${name}/unicode.json`)
  const ranges = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>
  const base = name.slice(name.indexOf('/') + 1)
  return Object.entries(ranges).map(([subset, text], position) => ({
    family,
    position,
    name: `${family}-${subset}`.replace(/[^\w-]/g, ''),
    path: join(dirname(list), 'files', `${base}-${subset.replace(/[[\]]/g, '')}-${suffix}.woff2`),
    claims: text.split(',').map(parseRange),
    loading: null,
  }))
}

/** `U+0400-045F`, `U+2116` */
function parseRange(text: string): Range {
  const [first = '', last = first] = text.trim().replace(/^U\+/i, '').split('-')
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)]
}

/** Inclusive range of code points. */
type Range = [first: number, last: number]

const HEADER_BYTES = 48
/** Numbers that stand for names of tables in the directory; the last one is followed by the name itself. */
const [CMAP, HMTX, GLYF, LOCA, NAMED] = [0, 3, 10, 11, 63]

/**
 * The characters for which a WOFF2 file has a glyph, in order. The lists that come with the packages of fonts name more: those of Chinese fonts name
 * Hangul, which is in none of their files.
 *
 * @throws Error for another format
 */
export async function readCoverage(woff2: Buffer): Promise<Range[]> {
  if (woff2.toString('latin1', 0, 4) !== 'wOF2') throw new Error('not a WOFF2 file')
  const { start, length, end } = findCmap(woff2)
  const compressed = woff2.subarray(end, end + woff2.readUInt32BE(20))
  const tables = await promisify(brotliDecompress)(compressed)
  return readCmap(tables.subarray(start, start + length))
}

/** Place and length of the table `cmap` in what is compressed, and where the directory of tables ends. */
function findCmap(woff2: Buffer): { start: number; length: number; end: number } {
  let at = HEADER_BYTES
  let offset = 0
  let cmap = { start: 0, length: 0 }
  const readNumber = () => {
    let value = 0
    for (;;) {
      const byte = woff2.readUInt8(at++)
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
  }
  for (let table = 0; table < woff2.readUInt16BE(12); table++) {
    const flags = woff2.readUInt8(at++)
    const [name, transform] = [flags & 0x3f, flags >> 6]
    if (name === NAMED) at += 4
    const originalLength = readNumber()
    const isTransformed = name === GLYF || name === LOCA ? transform === 0 : name === HMTX ? transform === 1 : false
    const length = isTransformed ? readNumber() : originalLength
    if (name === CMAP) cmap = { start: offset, length }
    offset += length
  }
  return { ...cmap, end: at }
}

/** Encodings of Unicode, the whole of it first. */
const ENCODINGS: readonly (readonly [platform: number, encoding: number])[] = [
  [3, 10],
  [0, 4],
  [3, 1],
  [0, 3],
]

function readCmap(cmap: Buffer): Range[] {
  for (const [platform, encoding] of ENCODINGS) {
    for (let record = 0; record < cmap.readUInt16BE(2); record++) {
      const at = 4 + record * 8
      if (cmap.readUInt16BE(at) !== platform || cmap.readUInt16BE(at + 2) !== encoding) continue
      const table = cmap.subarray(cmap.readUInt32BE(at + 4))
      const format = table.readUInt16BE(0)
      if (format === 12) return readGroups(table)
      if (format === 4) return readSegments(table)
    }
  }
  throw new Error('no table of characters that is read here')
}

/** Format 12. */
function readGroups(table: Buffer): Range[] {
  return Array.from({ length: table.readUInt32BE(12) }, (_, group) => {
    const at = 16 + group * 12
    return [table.readUInt32BE(at), table.readUInt32BE(at + 4)]
  })
}

/** Format 4 of a `cmap` table: segments of characters. Some characters of a segment may be mapped to the missing glyph. */
function readSegments(table: Buffer): Range[] {
  const size = table.readUInt16BE(6)
  const [ends, starts, deltas, offsets] = [14, 16 + size, 16 + 2 * size, 16 + 3 * size]
  const covered: Range[] = []
  for (let at = 0; at < size; at += 2) {
    const [first, last] = [table.readUInt16BE(starts + at), table.readUInt16BE(ends + at)]
    const [delta, offset] = [table.readUInt16BE(deltas + at), table.readUInt16BE(offsets + at)]
    for (let code = first; code <= last && code < 0xffff; code++) {
      const stored = offset === 0 ? code : table.readUInt16BE(offsets + at + offset + 2 * (code - first))
      const glyph = stored === 0 && offset !== 0 ? 0 : (stored + delta) & 0xffff
      const previous = covered.at(-1)
      if (glyph === 0) continue
      if (previous?.[1] === code - 1) previous[1] = code
      else covered.push([code, code])
    }
  }
  return covered
}

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Range, readCoverage } from './font-coverage.ts'
import { primaryOf } from './languages.ts'

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
interface FontPackage {
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

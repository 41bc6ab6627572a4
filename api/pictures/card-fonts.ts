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
  /** What each family has to draw of a text: a character is drawn by the first family that has the whole of it, its marks included. */
  match(text: string, families: readonly string[], options?: { substitute?: string }): Promise<MatchedText>
}

export interface MatchedText {
  /** Without the characters that no family has, or with `substitute` in their place. A mark that the font of its letter lacks is left out. */
  text: string
  /** The share of its characters that no family has. */
  missingShare: number
  fonts: ReadonlySet<LoadedFont>
}

/** The bytes of a file of fonts, under the name of its family, with the characters that it draws. */
export interface LoadedFont {
  path: string
  name: string
  data: Uint8Array
  unicodeRange: Range[]
}

interface FontFile {
  family: string
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

  /** The font of a family that draws the character; `null` when it has none. */
  async function fontIn(family: string, character: string): Promise<LoadedFont | null> {
    const code = character.codePointAt(0) ?? 0
    for (const file of files.get(family) ?? []) {
      if (!isWithin(file.claims, code)) continue
      file.loading ??= loadFont(file)
      const font = await file.loading
      if (isWithin(font.unicodeRange, code)) return font
    }
    return null
  }

  /** The fonts of the first family that has all of these characters; `null` when none has. */
  async function fontsOf(characters: readonly string[], families: readonly string[]): Promise<LoadedFont[] | null> {
    for (const family of families) {
      const fonts = await Promise.all(characters.map(character => fontIn(family, character)))
      if (fonts.every(font => font !== null)) return fonts
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
        const whole = await fontsOf(visible, families)
        const found = whole ?? (await fontsOf(visible.slice(0, 1), families))
        for (const font of found ?? []) fonts.add(font)
        kept += whole ? segment : found ? visible[0] : substitute
        characters += visible.length
        missing += visible.length - (found?.length ?? 0)
      }
      return { text: kept, missingShare: characters === 0 ? 0 : missing / characters, fonts }
    },
  }
}

function isWithin(ranges: readonly Range[], code: number): boolean {
  return ranges.some(([first, last]) => first <= code && code <= last)
}

async function loadFont({ family, path, claims }: FontFile): Promise<LoadedFont> {
  const data = await readFile(path)
  const coverage = await readCoverage(data)
  // A file also has some characters of the others, without the rules by which they are put together.
  return { path, name: family, data, unicodeRange: claims.flatMap(claim => coverage.flatMap(range => overlapOf(claim, range))) }
}

function overlapOf([first, last]: Range, [from, to]: Range): Range[] {
  return last < from || to < first ? [] : [[Math.max(first, from), Math.min(last, to)]]
}

/** The files of a package, by its list of ranges. Nothing of them is read yet. */
function readFontFiles([family, { name, suffix }]: [string, FontPackage]): FontFile[] {
  const list = createRequire(import.meta.url).resolve(`${name}/unicode.json`)
  const ranges = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>
  const base = name.slice(name.indexOf('/') + 1)
  return Object.entries(ranges).map(([subset, text]) => ({
    family,
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

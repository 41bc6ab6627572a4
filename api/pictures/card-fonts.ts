import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { primaryOf } from './languages.ts'

/** Loads fonts for texts. Fonts come in files for ranges of characters, and only those that a text needs are loaded, once. */
export interface CardFonts {
  /** The families for texts in a language, best first. Every character is drawn by the first family that has it. */
  familiesFor(lang: string | null): string[]
  /** Loads what the texts need. */
  load(texts: readonly string[], families: readonly string[], register: RegisterFont): Promise<void>
  /** The characters of the text that no family has. */
  missingIn(text: string, families: readonly string[]): string[]
}

export type RegisterFont = (font: { name: string; data: Uint8Array; unicodeRange: Range[] }) => Promise<unknown>

type Range = [first: number, last: number]

interface FontFile {
  path: string
  ranges: Range[]
  loading: Promise<unknown> | null
}

export const SANS = 'Plex'
export const MONO = 'Plex Mono'

/** A package of fonts. Its other ranges are in other packages, and some claim symbols that their files lack: `only` is the range that is used. */
interface FontPackage {
  name: string
  /** End of the names of its files. */
  suffix: string
  only?: string
}

/** By family. */
const PACKAGES: Readonly<Record<string, FontPackage>> = {
  [SANS]: { name: '@fontsource-variable/ibm-plex-sans', suffix: 'wght-normal' },
  [MONO]: { name: '@fontsource/ibm-plex-mono', suffix: '400-normal' },
  Noto: { name: '@fontsource-variable/noto-sans', suffix: 'wght-normal' },
  Arabic: { name: '@fontsource-variable/noto-sans-arabic', suffix: 'wght-normal', only: 'arabic' },
  Hebrew: { name: '@fontsource-variable/noto-sans-hebrew', suffix: 'wght-normal', only: 'hebrew' },
  Thai: { name: '@fontsource-variable/noto-sans-thai', suffix: 'wght-normal', only: 'thai' },
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

export function openCardFonts(): CardFonts {
  const files = new Map(Object.entries(PACKAGES).map(([family, one]) => [family, readFontFiles(one)]))

  /** The file that draws the character; `null` when no family has it. */
  function fileFor(code: number, families: readonly string[]): { family: string; file: FontFile } | null {
    for (const family of families) {
      const file = files.get(family)?.find(({ ranges }) => ranges.some(([first, last]) => first <= code && code <= last))
      if (file) return { family, file }
    }
    return null
  }

  return {
    familiesFor: lang => [...ALWAYS, ...(HAN[lang === null ? 'zh' : primaryOf(lang)] ?? HAN.zh ?? [])],
    async load(texts, families, register) {
      const needed = new Map<FontFile, string>()
      for (const character of new Set(texts.flatMap(text => [...text]))) {
        const found = fileFor(character.codePointAt(0) ?? 0, families)
        if (found) needed.set(found.file, found.family)
      }
      await Promise.all(
        [...needed].map(([file, family]) => {
          file.loading ??= readFile(file.path).then(data => register({ name: family, data, unicodeRange: file.ranges }))
          return file.loading
        }),
      )
    },
    missingIn: (text, families) => [...text].filter(character => fileFor(character.codePointAt(0) ?? 0, families) === null),
  }
}

/** The files of a package, by its list of ranges. Nothing of them is read yet. */
function readFontFiles({ name, suffix, only }: FontPackage): FontFile[] {
  const list = createRequire(import.meta.url).resolve(`${name}/unicode.json`)
  const ranges = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>
  const base = name.slice(name.indexOf('/') + 1)
  const used = Object.entries(ranges).filter(([subset]) => only === undefined || subset === only)
  return used.map(([subset, text]) => ({
    path: join(dirname(list), 'files', `${base}-${subset.replace(/[[\]]/g, '')}-${suffix}.woff2`),
    ranges: text.split(',').map(parseRange),
    loading: null,
  }))
}

/** `U+0400-045F`, `U+2116` */
function parseRange(text: string): Range {
  const [first = '', last = first] = text.trim().replace(/^U\+/i, '').split('-')
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)]
}

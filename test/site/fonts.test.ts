import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FALLBACK_CSS } from '../../scripts/fallback-fonts.mjs'

const CSS = readFileSync(new URL('../../site/styles/fonts.css', import.meta.url), 'utf8')

interface Face {
  family: string
  weight: string
  file: string
  characters: Set<number>
}

function facesOf(css: string): Face[] {
  return [...css.matchAll(/@font-face\s*\{([^}]+)\}/g)].map(([, body = '']) => ({
    family: /font-family: "([^"]+)"/.exec(body)?.[1] ?? '',
    weight: /font-weight: ([^;]+)/.exec(body)?.[1] ?? '',
    file: /url\("([^"]+)"/.exec(body)?.[1] ?? '',
    characters: new Set(
      [...body.matchAll(/U\+([0-9a-f]+)(?:-([0-9a-f]+))?/gi)].flatMap(([, first = '', last = first]) => {
        const [from, to] = [Number.parseInt(first, 16), Number.parseInt(last, 16)]
        return Array.from({ length: to - from + 1 }, (_, index) => from + index)
      }),
    ),
  }))
}

/** Controls, what is hidden, ends of lines and paragraphs; and marks, which a browser joins with the letter before them. */
const DRAWS_NOTHING = /[\p{Cc}\p{Cf}\p{M}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

const FONTS = [
  ['IBM Plex Sans', '400 700'],
  ['IBM Plex Mono', '400'],
  ['IBM Plex Mono', '600'],
] as const

test.each(FONTS)(
  'of %s %s no other file has the characters of the small one, which a browser would load as well',
  (family, weight) => {
    const faces = facesOf(CSS).filter(face => face.family === family && face.weight === weight)
    const [small, ...more] = faces.filter(({ file }) => file.startsWith('../fonts/'))
    expect(more).toEqual([])
    expect(faces.length).toBeGreaterThan(2)
    for (const other of faces.filter(face => face !== small)) {
      const shared = [...(small?.characters ?? [])].filter(character => other.characters.has(character))
      expect(shared, other.file).toEqual([])
    }
  },
)

test.each(FONTS)('no file of %s %s is loaded for characters that draw nothing, or for a mark on a letter', (family, weight) => {
  const faces = facesOf(CSS).filter(face => face.family === family && face.weight === weight)
  for (const { file, characters } of faces) {
    const needless = [...characters].filter(character => DRAWS_NOTHING.test(String.fromCodePoint(character)))
    expect(
      needless.map(character => character.toString(16)),
      file,
    ).toEqual([])
  }
})

test.each(FONTS)(
  'together the files of %s %s have all of Latin-1 that draws something, and the minus sign is in the small one',
  (family, weight) => {
    const faces = facesOf(CSS).filter(face => face.family === family && face.weight === weight)
    const missing = Array.from({ length: 256 }, (_, character) => character).filter(
      character =>
        !DRAWS_NOTHING.test(String.fromCharCode(character)) && !faces.some(({ characters }) => characters.has(character)),
    )
    expect(missing).toEqual([])
    expect(faces.filter(({ characters }) => characters.has(0x2212)).map(({ file }) => file)).toEqual([
      expect.stringContaining('../fonts/'),
    ])
  },
)

test('the fallbacks are those that the script computes, and every one is in the list of its family', () => {
  const read = (name: string) => readFileSync(new URL(`../../site/styles/${name}`, import.meta.url), 'utf8')
  expect(read('fallback-fonts.css')).toBe(FALLBACK_CSS)
  const families = new Set(facesOf(FALLBACK_CSS).map(({ family }) => family))
  for (const family of families) expect(read('tokens.css')).toContain(`"${family}"`)
})

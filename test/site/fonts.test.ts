import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const CSS = readFileSync(new URL('../../site/styles/fonts.css', import.meta.url), 'utf8')

interface Face {
  family: string
  file: string
  characters: Set<number>
}

function facesOf(css: string): Face[] {
  return [...css.matchAll(/@font-face\s*\{([^}]+)\}/g)].map(([, body = '']) => ({
    family: /font-family: "([^"]+)"/.exec(body)?.[1] ?? '',
    file: /url\("([^"]+)"/.exec(body)?.[1] ?? '',
    characters: new Set(
      [...body.matchAll(/U\+([0-9a-f]+)(?:-([0-9a-f]+))?/gi)].flatMap(([, first = '', last = first]) => {
        const [from, to] = [Number.parseInt(first, 16), Number.parseInt(last, 16)]
        return Array.from({ length: to - from + 1 }, (_, index) => from + index)
      }),
    ),
  }))
}

test('no other file has the characters of a preloaded one, which a browser would load as well', () => {
  const faces = facesOf(CSS)
  const preloaded = faces.filter(({ file }) => file.startsWith('../fonts/'))
  expect(preloaded.map(({ family }) => family)).toEqual(['IBM Plex Sans', 'IBM Plex Mono'])
  for (const { family, characters, file } of preloaded) {
    const others = faces.filter(face => face.family === family && face.file !== file)
    expect(others.length).toBeGreaterThan(1)
    for (const other of others) {
      const shared = [...characters].filter(character => other.characters.has(character))
      expect(shared, other.file).toEqual([])
    }
  }
})

test('together the files have all of Latin-1', () => {
  for (const family of ['IBM Plex Sans', 'IBM Plex Mono']) {
    const faces = facesOf(CSS).filter(face => face.family === family)
    const missing = Array.from({ length: 256 }, (_, character) => character).filter(
      character => !faces.some(({ characters }) => characters.has(character)),
    )
    expect(missing).toEqual([])
  }
})

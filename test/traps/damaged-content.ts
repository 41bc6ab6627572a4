import { MIT, skillText } from '../api/support/texts.ts'

/** Words of the content that no query asks for: no line of the log may have them. */
export const PRIVATE = 'quillwort'

export const HANDBOOK: Record<string, string> = {
  LICENSE: MIT,
  'skills/plant/SKILL.md': skillText('plant', `Plant tulips. ${PRIVATE}\n`),
  'skills/plant/references/kinds.md': `# Kinds\n\nMany tulips and roses. ${PRIVATE}\n`,
  'docs/庭.md': `# 庭に水をやる\n\n毎朝、花に水をやる。${PRIVATE}\n`,
  ...Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `docs/page-${at}.md`,
      `# Page ${at}\n\nBread number ${at}, ${PRIVATE}. ${'Baked. '.repeat(at)}\n`,
    ]),
  ),
}

/** Every way in which a section is read: words, misspelled ones, characters, folders, pages, and what stands nowhere. */
export const SMALL_QUERIES = [
  { query: 'tulips' },
  { query: 'braed' },
  { query: '水' },
  { query: 'bread', path: 'docs', limit: 25 },
  { query: 'page 7' },
  { query: 'zzzzqqqq' },
]

/** Documents, each of 500 words. */
const LIBRARY_PAGES = 1_200
const LIBRARY_WORDS = 20_000

export const LIBRARY_QUERIES = [
  { query: 'tulips' },
  { query: libraryWord(7) },
  { query: `${libraryWord(500)} ${libraryWord(11_000)}`, path: 'docs', limit: 25 },
  { query: 'tulpis', path: 'skills' },
  { query: '庭', limit: 25 },
  { query: 'page 1400', limit: 3 },
]

/**
 * Documents of words that hardly repeat: their postings take more than a section that is read whole. Beside them lies data that nobody
 * searches, so much that the section begins in one pack and ends in another.
 */
export function library(): Record<string, string> {
  const files: Record<string, string> = {
    LICENSE: MIT,
    'skills/plant/SKILL.md': skillText('plant', `Plant tulips. ${PRIVATE}\n`),
  }
  let state = 1
  const random = (below: number) => {
    state = (state * 48_271) % 0x7fffffff
    return state % below
  }
  for (let file = 0; file < 7; file++) {
    const bytes = Uint8Array.from({ length: 740 * 1024 }, () => random(256))
    files[`skills/plant/assets/${file}.json`] = JSON.stringify(Buffer.from(bytes).toString('base64'))
  }
  for (let page = 0; page < LIBRARY_PAGES; page++) {
    const words = Array.from({ length: 500 }, () => libraryWord(random(LIBRARY_WORDS)))
    files[`docs/page-${page}.md`] =
      `# Page ${page}\n\nThe ${libraryWord(page)} of ${PRIVATE}.\n\n${words.join(' ')} 庭に水をやる。\n`
  }
  return files
}

function libraryWord(number: number): string {
  const syllables = [
    'ba',
    'ce',
    'di',
    'fo',
    'gu',
    'ha',
    'ke',
    'li',
    'mo',
    'nu',
    'pa',
    're',
    'si',
    'to',
    'vu',
    'wa',
    'xe',
    'yi',
    'zo',
    'qu',
  ]
  let word = ''
  for (let rest = number + LIBRARY_WORDS; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]
  return `${word}n`
}

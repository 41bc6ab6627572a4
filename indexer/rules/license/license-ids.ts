import { licenseNames, once } from './data.ts'
import { NAMES } from './significant-words.ts'
import { wordsOf } from './tokens.ts'

/** The license with this name, not counting "the", "license" and "version"; or the one that an address of a license collection names. */
export function licenseIdOf(name: string): string | null {
  if (/^https?:/i.test(name)) return idOfAddress(name)
  return aliases().get(aliasOf(name.replace(/(?<=\d)\+$/, ' or later'))) ?? null
}

/** The normal form of a license name. */
function aliasOf(name: string): string {
  return aliasWords(wordsOf(name.normalize('NFKC').toLowerCase())).join(' ')
}

/** The significant words of a license name. */
function aliasWords(words: readonly string[]): string[] {
  return words.filter(word => !FILLERS.has(word)).map(word => word.replace(/^v(?=\d)/, ''))
}

/** License ids by the normal form of their names. Names that several licenses share are left out. */
const aliases = once((): ReadonlyMap<string, string> => {
  const found = new Map<string, string | null>()
  for (const { id, name } of licenseNames()) {
    if (id.endsWith('+')) continue
    for (const alias of new Set([aliasOf(id), aliasOf(name)])) {
      const other = found.get(alias)
      // `GPL-2.0` is the withdrawn id of `GPL-2.0-only`.
      if (other === undefined || other === null || id === `${other}-only`) found.set(alias, other === null ? null : id)
      else if (other !== `${id}-only`) found.set(alias, null)
    }
  }
  for (const [alias, id] of [...COMMON_NAMES, ...gnuNames()]) found.set(alias, id)
  return new Map([...found].flatMap(([alias, id]): [string, string][] => (id === null || alias === '' ? [] : [[alias, id]])))
})

const FILLERS = new Set(['the', 'license', 'version', 'v'])

const COMMON_NAMES: readonly (readonly [string, string])[] = [
  ['apache 2', 'Apache-2.0'],
  ['apache2', 'Apache-2.0'],
  ['apache2 0', 'Apache-2.0'],
  ['apache software 2 0', 'Apache-2.0'],
  ['expat', 'MIT'],
  ['mit expat', 'MIT'],
  ['new bsd', 'BSD-3-Clause'],
  ['modified bsd', 'BSD-3-Clause'],
  ['simplified bsd', 'BSD-2-Clause'],
  ['bsd 2 clause simplified', 'BSD-2-Clause'],
  ['bsd 3 clause new', 'BSD-3-Clause'],
  ['bsd 3 clause revised', 'BSD-3-Clause'],
  ['mpl 2', 'MPL-2.0'],
  ['mozilla public 2', 'MPL-2.0'],
  ['cc0', 'CC0-1.0'],
  ['cc0 1 0 universal', 'CC0-1.0'],
  ['cc attribution 4 0', 'CC-BY-4.0'],
  ['creative commons attribution 4 0', 'CC-BY-4.0'],
  ['creative commons attribution sharealike 4 0', 'CC-BY-SA-4.0'],
  ['creative commons attribution share alike 4 0', 'CC-BY-SA-4.0'],
  ['creative commons attribution noncommercial 4 0', 'CC-BY-NC-4.0'],
  ['bsd 3', 'BSD-3-Clause'],
  ['bsd 2', 'BSD-2-Clause'],
  ['3 clause bsd', 'BSD-3-Clause'],
  ['2 clause bsd', 'BSD-2-Clause'],
  ['cc by 4', 'CC-BY-4.0'],
  ['cc by sa 4', 'CC-BY-SA-4.0'],
]

/** Names of the licenses of GNU: "GPL v3", "GPLv3", "GNU GPL 3.0 or later". Without "or later" they mean "only". */
function gnuNames(): [string, string][] {
  return GNU_LICENSES.flatMap(([id, short, long, versions]) =>
    versions.flatMap(version => {
      const [major = '', minor] = version.split('.')
      const numbers = [`${major} ${minor}`, ...(minor === '0' ? [major] : [])]
      const names = [short, `gnu ${short}`, long, `gnu ${long}`].flatMap(name => numbers.map(number => `${name} ${number}`))
      const joined = numbers.flatMap(number => [`${short}${number}`, `${short}v${number}`, `gnu ${short}v${number}`])
      return [...names.filter(name => !/^[al]?gpl \d 0$/.test(name)), ...joined].flatMap((name): [string, string][] => [
        [name, `${id}-${version}-only`],
        [`${name} or later`, `${id}-${version}-or-later`],
      ])
    }),
  )
}

const GNU_LICENSES = [
  ['GPL', 'gpl', 'general public', ['2.0', '3.0']],
  ['AGPL', 'agpl', 'affero general public', ['3.0']],
  ['LGPL', 'lgpl', 'lesser general public', ['2.1', '3.0']],
] as const

/** The license that an address of a license collection or of a license's steward names. */
function idOfAddress(address: string): string | null {
  const [place = ''] = address.replace(/^https?:\/\/(?:www\.)?/i, '').split(/[?#]/, 1)
  for (const [pattern, nameOf] of COLLECTIONS) {
    const found = pattern.exec(place)
    if (found !== null) return aliases().get(aliasOf(nameOf(found[1] ?? '', found[2] ?? ''))) ?? null
  }
  return null
}

const COLLECTIONS: readonly (readonly [RegExp, (name: string, version: string) => string])[] = [
  [
    /^(?:opensource\.org\/licenses?|spdx\.org\/licenses|choosealicense\.com\/licenses)\/([\w.+-]+?)(?:\.(?:html|php|txt|json))?\/?$/i,
    name => name,
  ],
  [
    /^gnu\.org\/licenses\/((?:old-licenses\/)?[al]?gpl-\d\.\d)(?:\.en|-standalone)?(?:\.html|\.txt|\.md)?$/i,
    name => name.replace(/^old-licenses\//i, ''),
  ],
  [/^apache\.org\/licenses\/license-(2\.0)(?:\.html|\.txt)?$/i, version => `apache ${version}`],
  [/^mozilla\.org\/(?:[a-z-]+\/)?mpl\/(2\.0)\/?$/i, version => `mpl ${version}`],
  [
    /^creativecommons\.org\/licenses\/([a-z-]+)\/(\d\.\d)(?:\/(?:deed|legalcode)(?:\.[\w-]+)?)?\/?$/i,
    (name, version) => `cc ${name} ${version}`,
  ],
  [
    /^creativecommons\.org\/publicdomain\/(zero)\/(1\.0)(?:\/(?:deed|legalcode)(?:\.[\w-]+)?)?\/?$/i,
    (_, version) => `cc0 ${version}`,
  ],
  [/^(unlicense)\.org\/?$/i, name => name],
]

/** The licenses that the words name, and the other words without fillers such as "the"; at each position the longest name counts. */
export function takeLicenseNames(words: readonly string[]): { ids: Set<string>; rest: string[] } {
  const telling = aliasWords(words)
  const ids = new Set<string>()
  const rest: string[] = []
  for (let start = 0; start < telling.length; ) {
    const length = longestName(telling, start)
    const id = length === 0 ? undefined : aliases().get(telling.slice(start, start + length).join(' '))
    if (id !== undefined) ids.add(id)
    else rest.push(telling[start] ?? '')
    start += Math.max(1, length)
  }
  return { ids, rest }
}

function longestName(words: readonly string[], start: number): number {
  for (let length = Math.min(NAME_WORDS, words.length - start); length > 0; length--) {
    const name = words.slice(start, start + length)
    // "Fair", "Intel" and "Jam" are names of licenses and ordinary words.
    if (aliases().has(name.join(' ')) && (length > 1 || NAMES.test(name[0] ?? ''))) return length
  }
  return 0
}

const NAME_WORDS = 10

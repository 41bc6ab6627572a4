import { licenseNames, once } from './data.ts'
import { kindOfExpression } from './kind.ts'
import { wordsOf } from './tokens.ts'

/** The meaning of declared words. `file`: the license is the text of that file, a path relative to the declaring folder or to the root (`/…`). */
export type LicenseWords =
  | { kind: 'expression'; expression: string }
  | { kind: 'file'; file: string }
  | { kind: 'restricted' }
  | { kind: 'unknown' }

/** Reads the value of `license`. Names match word by word, fillers such as "the" aside: with a word more or less they are `unknown`. */
export function readLicenseWords(value: string): LicenseWords {
  const words = value.trim().replace(/\s+/g, ' ')
  if (words === '' || words.length > WORDS_CHARACTERS) return { kind: 'unknown' }
  if (kindOfExpression(words) !== null) return { kind: 'expression', expression: words }
  if (RESERVED.test(words)) return { kind: 'restricted' }
  const file = namedFile(words)
  if (file !== null) return { kind: 'file', file }
  const id = licenseIdOf(words)
  return id === null ? { kind: 'unknown' } : { kind: 'expression', expression: id }
}

/** The license with this name, not counting "the", "license" and "version". */
function licenseIdOf(name: string): string | null {
  const [, outer = name, inner] = name.match(/^([^()]+)\(([^()]+)\)$/) ?? []
  const id = aliases().get(aliasOf(outer)) ?? null
  return inner === undefined || (aliases().get(aliasOf(inner)) ?? null) === id ? id : null
}

/** The normal form of a license name. */
function aliasOf(name: string): string {
  return aliasWords(wordsOf(name.normalize('NFKC').toLowerCase())).join(' ')
}

/** The significant words of a license name. */
export function aliasWords(words: readonly string[]): string[] {
  return words.filter(word => !FILLERS.has(word)).map(word => word.replace(/^v(?=\d)/, ''))
}

/** License ids by the normal form of their names. Names that several licenses share are left out. */
export const aliases = once((): ReadonlyMap<string, string> => {
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
  for (const [alias, id] of COMMON_NAMES) found.set(alias, id)
  return new Map([...found].flatMap(([alias, id]): [string, string][] => (id === null || alias === '' ? [] : [[alias, id]])))
})

const WORDS_CHARACTERS = 400
const RESERVED = /\b(?:proprietary|all rights reserved|unlicensed)\b/i
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
  ['gpl 2', 'GPL-2.0-only'],
  ['gplv2', 'GPL-2.0-only'],
  ['gpl 3', 'GPL-3.0-only'],
  ['gplv3', 'GPL-3.0-only'],
  ['gnu gpl 3', 'GPL-3.0-only'],
  ['gnu gpl 3 0', 'GPL-3.0-only'],
  ['gnu general public 3', 'GPL-3.0-only'],
  ['gnu general public 3 0', 'GPL-3.0-only'],
  ['agpl 3', 'AGPL-3.0-only'],
  ['agplv3', 'AGPL-3.0-only'],
  ['gnu agpl 3', 'AGPL-3.0-only'],
  ['gnu affero general public 3', 'AGPL-3.0-only'],
  ['gnu affero general public 3 0', 'AGPL-3.0-only'],
  ['lgpl 3', 'LGPL-3.0-only'],
  ['lgplv3', 'LGPL-3.0-only'],
  ['mpl 2', 'MPL-2.0'],
  ['mozilla public 2', 'MPL-2.0'],
  ['cc0', 'CC0-1.0'],
  ['cc0 1 0 universal', 'CC0-1.0'],
  ['cc attribution 4 0', 'CC-BY-4.0'],
  ['creative commons attribution 4 0', 'CC-BY-4.0'],
  ['creative commons attribution sharealike 4 0', 'CC-BY-SA-4.0'],
  ['creative commons attribution share alike 4 0', 'CC-BY-SA-4.0'],
  ['creative commons attribution noncommercial 4 0', 'CC-BY-NC-4.0'],
]

/** The file, if the words do nothing but name one: `LICENSE.txt`, "Complete terms in LICENSE.txt", "see TERMS.md". */
function namedFile(words: string): string | null {
  const file = words.match(POINTER)?.[1]
  return file === undefined || file.includes('://') ? null : file.replace(/^\.\//, '')
}

const FILE =
  '["\'`]?((?:[^\\s/"\'`]+/|/)*(?:licen[cs]e|copying|terms|[^\\s/"\'`]+\\.(?:txt|md|rst))(?:[-.][^\\s/"\'`.]+(?:\\.[^\\s/"\'`.]+)*)?)["\'`]?'
const LEAD =
  '(?:(?:(?:complete|full) )?(?:license )?terms (?:are )?in |see (?:the )?(?:licen[cs]e )?(?:file |terms )?(?:in |at )?|licen[cs]e in |refer to )?'
const TRAIL =
  '(?: file)?(?: for (?:the |more |full |complete )*(?:details|terms|information|license terms)| (?:has|contains) (?:the )?(?:complete|full) (?:license )?terms)?'
const POINTER = new RegExp(`^${LEAD}(?:the )?${FILE}${TRAIL}\\.?$`, 'i')

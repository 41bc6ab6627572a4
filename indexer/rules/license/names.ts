import { NAMES } from './significant-words.ts'

/** Maximum size of a license text; a longer file is not a single license. */
export const LICENSE_TEXT_BYTES = 128 * 1024

export interface LicenseFileName {
  /** `plain`: `LICENSE`, `COPYING.md`; it takes precedence over suffixed ones. */
  rank: 'plain' | 'suffixed'
  /** `license`: `LICENSE-MIT` is a license to choose. `scope`: `LICENSE-DOCS` covers a part. */
  names: 'license' | 'scope'
}

const PLAIN = /^(?:LICEN[CS]E|COPYING|UNLICENSE)(?:\.(?:md|txt|rst))?$/
const SUFFIXED = /^(?:LICEN[CS]E|COPYING)([-_.])([A-Za-z0-9][A-Za-z0-9._-]*?)(?:\.(?:md|txt|rst))?$/
const PLAIN_ANY_CASE = new RegExp(PLAIN, 'i')
const SUFFIXED_ANY_CASE = new RegExp(SUFFIXED, 'i')
const OF_OTHERS = /third|3rd|notice|depend|bundl|vendor/i

/** Reads the name of a license file; `null` for other names. */
export function readLicenseFileName(baseName: string, atRootOrSkill: boolean): LicenseFileName | null {
  if ((atRootOrSkill ? PLAIN_ANY_CASE : PLAIN).test(baseName)) return { rank: 'plain', names: 'license' }
  const [, mark, suffix = ''] = baseName.match(atRootOrSkill ? SUFFIXED_ANY_CASE : SUFFIXED) ?? []
  if (mark === undefined || OF_OTHERS.test(suffix)) return null
  const namesLicense = NAMES.test(suffix.toLowerCase().split(/[^a-z]/)[0] ?? '')
  // `LICENSE.MIT` is a license file; `LICENSE.html`, `license.py` and `LICENSE-1.png` are not.
  if (!namesLicense && (mark === '.' || suffix.includes('.'))) return null
  return { rank: 'suffixed', names: namesLicense ? 'license' : 'scope' }
}

/** Whether a file of this base name may hold a license text. Any case counts at the root and in a skill folder, else upper case only. */
export function isLicenseFileName(baseName: string, atRootOrSkill: boolean): boolean {
  return readLicenseFileName(baseName, atRootOrSkill) !== null
}

export const PLUGIN_FILE = '.claude-plugin/plugin.json'
export const PACKAGE_FILE = 'package.json'

/** The README that counts: the one of the lowest rank, then the first in the order of code units. */
export function chooseReadme(names: Iterable<string>): string | null {
  const readmes = [...names]
    .flatMap(name => {
      const rank = readmeRank(name)
      return rank === null ? [] : [{ name, rank }]
    })
    .sort((left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1))
  return readmes[0]?.name ?? null
}

/** Rank of a README among those of its folder, lowest first; `null` when the file is not a README, or is a translation of one. */
export function readmeRank(baseName: string): number | null {
  if (baseName === 'README.md') return -1
  const match = /^readme(?:\.(.+))?$/i.exec(baseName)
  const rank = match ? README_EXTENSIONS.indexOf(match[1]?.toLowerCase() ?? '') : -1
  return rank < 0 ? null : rank
}

const README_EXTENSIONS = ['md', 'mdx', 'markdown', 'txt', 'rst', '']

/** Licence texts are read up to this size; a longer file is not one licence. */
export const LICENSE_TEXT_BYTES = 128 * 1024

const PLAIN = /^(?:LICEN[CS]E|COPYING|UNLICENSE)(?:\.(?:md|txt|rst))?$/
const SUFFIXED = /^(?:LICEN[CS]E|COPYING)[-_.][A-Za-z0-9][A-Za-z0-9._-]*$/
const PLAIN_ANY_CASE = new RegExp(PLAIN.source, 'i')
const SUFFIXED_ANY_CASE = new RegExp(SUFFIXED.source, 'i')
const TEXT_EXTENSION = /\.(?:md|txt|rst)$/i
const README = /^readme(?:\.(?:md|mdx|markdown|txt|rst))?$/i

/** Plain names (`LICENSE`, `COPYING.md`) decide over suffixed ones (`LICENSE-MIT`); `null` is no licence file. */
export function licenseFileRank(baseName: string, atRootOrSkill: boolean): 'plain' | 'suffixed' | null {
  if ((atRootOrSkill ? PLAIN_ANY_CASE : PLAIN).test(baseName)) return 'plain'
  if (!(atRootOrSkill ? SUFFIXED_ANY_CASE : SUFFIXED).test(baseName)) return null
  const suffix = baseName.replace(TEXT_EXTENSION, '').replace(/^[A-Za-z]+/, '')
  return /^[-_][A-Za-z0-9]/.test(suffix) || SPDX_SUFFIX.test(suffix) ? 'suffixed' : null
}

// `LICENSE.MIT` names a licence, `LICENSE.html`, `license.py` and `LICENSE.png` do not.
const SPDX_SUFFIX = /^\.(?:MIT|APACHE|APACHE-?2(?:\.0)?|BSD|GPL|LGPL|AGPL|MPL|CC0|CC-BY.*|ISC|UNLICENSE|ZLIB|BOOST|BSL)$/i

/** Whether a file of this base name may hold a licence text. Any case counts at the root and in a skill folder, else upper case only. */
export function isLicenseFileName(baseName: string, atRootOrSkill: boolean): boolean {
  return licenseFileRank(baseName, atRootOrSkill) !== null
}

/**
 * Whether the text of this file can decide a licence, by its path alone: what is worth reading in a first pass.
 * Texts that only a declaration names (`license: see TERMS.txt`) come with `LicenseResolver.missing`.
 */
export function isLicenseSource(path: string, atRootOrSkill: boolean): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (isLicenseFileName(name, atRootOrSkill)) return true
  if (name === 'plugin.json') return path === '.claude-plugin/plugin.json' || path.endsWith('/.claude-plugin/plugin.json')
  if (name === 'package.json') return atRootOrSkill
  return !path.includes('/') && README.test(name)
}

import { NAMES } from './significant-words.ts'

/** Maximum size of a license text; a longer file is not a single license. */
export const LICENSE_TEXT_BYTES = 128 * 1024

export interface LicenseFileName {
  /**
   * `plain`: `LICENSE`, `COPYING.md`; it takes precedence over `suffixed` ones, which name a license or a part. `copyright` and `unread`, a
   * license in a format that is not read, count where nothing else does.
   */
  rank: 'plain' | 'suffixed' | 'copyright' | 'unread'
  /** `license`: `LICENSE-MIT` is a license to choose. `scope`: `LICENSE-CODE` covers a part; `content`: `LICENSE-DOCS` covers one of
   * texts, or changes the license beside it. */
  names: 'license' | 'scope' | 'content'
}

const PLAIN = /^(?:(?:LICEN[CS]E|COPYING|UNLICENSE)(?:\.(?:md|txt|rst|markdown|MD|TXT))?|Licen[cs]e(?:\.txt)?)$/
const SUFFIXED = /^(?:LICEN[CS]E|COPYING)([-_.])([A-Za-z0-9][A-Za-z0-9._-]*?)(?:\.(?:md|txt|rst|markdown))?$/
const PREFIXED = /^([A-Za-z][A-Za-z0-9.]*)[-_]LICEN[CS]E(?:\.(?:md|txt|rst|markdown))?$/
const COPYRIGHT = /^COPYRIGHT(?:\.(?:md|txt|rst|markdown))?$/
const UNREAD = /^(?:LICEN[CS]E|COPYING|COPYRIGHT)\.(?:html?|adoc|asciidoc|org|textile|tex|pdf|docx?|odt|rtf)$/
const ANY_CASE = new Map([PLAIN, SUFFIXED, PREFIXED, COPYRIGHT, UNREAD].map(pattern => [pattern, new RegExp(pattern, 'i')]))
const OF_OTHERS = /third|3rd|notice|depend|bundl|vendor/i
/** Names of licenses that are names of software, too. */
const OF_LIBRARIES =
  /^(?:zlib|json|python|ruby|php|vim|openssl|redis|boost|mozilla|eclipse|elastic|confluent|timescale|llama|gemma|rail)/i
const OF_CONTENT = /^(?:cc|creative|content|docs?|documentation|skills?|data|media|assets|texts?|gfdl|odbl|ofl)$/
/** A file that changes the license beside it. */
const OF_CHANGES = /^(?:addendum|addition(?:al|s)?|amendments?|exclusions?|restrictions?|rider|commons)$/

/** Reads the name of a license file; `null` for other names. */
export function readLicenseFileName(baseName: string, atRootOrSkill: boolean): LicenseFileName | null {
  const match = (pattern: RegExp) => (atRootOrSkill ? ANY_CASE.get(pattern) : pattern)?.exec(baseName) ?? null
  if (match(PLAIN) !== null) return { rank: 'plain', names: 'license' }
  // Deeper down, such names are pages and notices.
  if (atRootOrSkill && match(COPYRIGHT) !== null) return { rank: 'copyright', names: 'license' }
  if (atRootOrSkill && match(UNREAD) !== null) return { rank: 'unread', names: 'license' }
  const prefix = match(PREFIXED)?.[1] ?? ''
  if (OF_CONTENT.test(firstWord(prefix))) return { rank: 'suffixed', names: 'content' }
  // `zlib-LICENSE` is the license of a library that the repository contains.
  if (namesLicense(prefix) && !OF_LIBRARIES.test(prefix)) return { rank: 'suffixed', names: 'license' }
  const [, mark, suffix = ''] = match(SUFFIXED) ?? []
  if (mark === undefined || OF_OTHERS.test(suffix)) return null
  const isNamed = namesLicense(suffix)
  // `LICENSE.MIT` is a license file; `license.py` and `LICENSE-1.png` are not.
  const isContent = OF_CONTENT.test(firstWord(suffix)) || OF_CHANGES.test(firstWord(suffix))
  if (!isNamed && ((mark === '.' && !isContent) || suffix.includes('.'))) return null
  return { rank: 'suffixed', names: isContent ? 'content' : isNamed ? 'license' : 'scope' }
}

function namesLicense(part: string): boolean {
  return NAMES.test(firstWord(part))
}

function firstWord(part: string): string {
  return part.toLowerCase().split(/[^a-z]/)[0] ?? ''
}

/** Whether a file of this base name may hold a license text. Any case counts at the root and in a skill folder, else upper case only. */
export function isLicenseFileName(baseName: string, atRootOrSkill: boolean): boolean {
  const meaning = readLicenseFileName(baseName, atRootOrSkill)
  return meaning !== null && meaning.rank !== 'unread'
}

/** Manifests of plugins, for several clients. */
export const PLUGIN_FILES = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json', '.cursor-plugin/plugin.json']
export const MARKETPLACE_FILE = '.claude-plugin/marketplace.json'
export const PACKAGE_FILE = 'package.json'

/** Files at the root that may name a license and are not read for it. */
export const UNREAD_FILES =
  '.reuse/dep5 plugin.json gemini-extension.json pyproject.toml setup.cfg Cargo.toml composer.json CITATION.cff'.split(' ')

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

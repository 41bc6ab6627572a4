/**
 * Generates the license data of the indexer from the development dependencies `spdx-license-list` (CC0-1.0) and
 * `@rexxars/choosealicense-list` (MIT): `node scripts/make-license-data.ts`. The same packages give the same bytes; a test compares them
 * with the committed files.
 */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { LicenseName, LicenseTemplate } from '#indexer/rules/license/data.ts'
import { normalizeText } from '#indexer/rules/license/normalize.ts'

interface SpdxLicense {
  name: string
  osiApproved: boolean
  licenseText: string
}

/** The content of both data files: one JSON value a line. */
export function makeLicenseData(): { names: string; templates: string } {
  const licenses = createRequire(import.meta.url)('spdx-license-list/full') as Record<string, SpdxLicense>
  const ids = Object.keys(licenses).sort()
  const names = ids.map((id): LicenseName => ({ id, name: nameOf(licenses, id), osi: licenses[id]?.osiApproved === true }))
  const templates = ids.filter(id => matters(id, licenses)).map(id => cutTemplate(id, textOf(licenses, id)))
  return { names: asLines(names), templates: asLines([...withoutTwins(templates), ...offered(), ...notices(licenses)]) }
}

/** The texts that git hosts offer and that the SPDX list has in other words: another language, preface or appendix. */
function offered(): LicenseTemplate[] {
  const licenses = createRequire(import.meta.url)('@rexxars/choosealicense-list').license as Record<string, { body: string }>
  return OFFERED.map(id => cutTemplate(id, licenses[id.replace(/-only$/, '')]?.body ?? ''))
}

const OFFERED = ['CECILL-2.1', 'GPL-2.0-only', 'OFL-1.1', 'PostgreSQL']

/** OSI-approved licenses in use, and other common licenses, open or not. */
function matters(id: string, licenses: Record<string, SpdxLicense>): boolean {
  if (VARIANT.test(id) || RARE.test(id)) return false
  return licenses[id]?.osiApproved === true || OTHERS.some(pattern => pattern.test(id))
}

const VARIANT = /(?:\+|-or-later|with-.*exception|^[AL]?GPL-\d\.\d|^GFDL-\d\.\d|invariants.*|no-copyleft-exception)$/
const RARE =
  /^(?:AFL-[12]|ALGLIB|APL-|APSL-1|CATOSL|CNRI|CPAL|CUA|CAL-|Entessa|EUDatagrid|Fair|Frameworx|IPA|Intel|Jam|LPL|LiLiQ|Motosoto|Multics|NASA|NGPL|NPOSL|Naumen|Nokia|OCLC|OGTSL|OLFL|OSET|OSL-[12]|RPL-1\.1|RPSL|RSCPL|SISSL|SPL|UCL|VSL|Watcom|Xnet)/
const OTHERS = [
  /^CC0-1\.0$/,
  /^CC-BY(?:-NC)?(?:-SA|-ND)?-[34]\.0$/,
  /^(?:PDDL|ODC-By|ODbL)-1\.0$/,
  /^CDLA-/,
  /^GFDL-1\.[23]-only$/,
  /^(?:WTFPL|FSFAP|X11|curl|Vim|Ruby|TCL|PSF-2\.0|Libpng|libpng-2\.0|OpenSSL|SSPL-1\.0|BUSL-1\.1|Elastic-2\.0|JSON|SUL-1\.0)$/,
  /^BSD-(?:4-Clause|4-Clause-UC|3-Clause-Clear|3-Clause-Attribution|3-Clause-No-.*|2-Clause-Views|Source-Code)$/,
  /^(?:FSL|PolyForm|Parity|Hippocratic|C-UDA|O-UDA|CPOL|OGL-UK-3|etalab)-/,
  /^(?:MIT-(?:advertising|CMU|enna|feh|Festival)|MITNFA|bzip2-1\.0\.6|ImageMagick|FTL|IJG|OLDAP-2\.7|QPL-1\.0-INRIA-2004|SGI-B-2\.0)$/,
]

/** Of licenses with equal words the first is kept: `OFL-1.1`, not `OFL-1.1-RFN`. */
function withoutTwins(templates: LicenseTemplate[]): LicenseTemplate[] {
  const seen = new Set<string>()
  return templates.filter(({ before, words, after }) => {
    const text = [before, words, after].join(' ')
    return !seen.has(text) && seen.add(text)
  })
}

/** The parts a copy may omit: the text before the license itself, and its appendix. */
const PARTS: { ids: RegExp; begins?: RegExp; ends?: RegExp }[] = [
  { ids: /^(?:Apache|ECL)-2\.0$/, ends: /(?:END OF TERMS AND CONDITIONS\s+)?APPENDIX: / },
  { ids: /^[AL]?GPL-[123]\.[01]-only$/, ends: /(?:END OF TERMS AND CONDITIONS\s+)?(?:Appendix: )?How to Apply These Terms/i },
  { ids: /^LGPL-3\.0-only$/, ends: /GNU GENERAL PUBLIC LICENSE\s+Version 3/ },
  { ids: /^GFDL-/, ends: /ADDENDUM: / },
  { ids: /^MPL-2\.0$/, ends: /Exhibit A - / },
  {
    ids: /^CC-BY.*-4\.0$/,
    begins: /Creative Commons Attribution[\w -]* 4\.0 International Public License\s+By exercising/,
    ends: /Creative Commons is not a party to its public/,
  },
  {
    ids: /^CC-BY.*-[23]\.[05]$/,
    begins: /License\s+THE WORK \(AS DEFINED BELOW\)/,
    ends: /Creative Commons (?:Notice\s+Creative Commons )?is not a party to this/,
  },
  { ids: /^CC0-1\.0$/, begins: /Statement of Purpose/ },
  { ids: /^Unlicense$/, ends: /For more information, please/ },
  { ids: /^EPL-2\.0$/, ends: /Exhibit A \S / },
  { ids: /^OFL-1\.[01]$/, begins: /SIL OPEN FONT LICENSE/ },
  { ids: /^(?:OSL|AFL)-3\.0$/, ends: /16\) Modification of This License/ },
]

function cutTemplate(id: string, text: string): LicenseTemplate {
  const parts = PARTS.findLast(({ ids }) => ids.test(id))
  const begin = parts?.begins === undefined ? 0 : text.search(parts.begins)
  const end = parts?.ends === undefined ? text.length : begin + text.slice(begin).search(parts.ends)
  if (begin < 0 || end < begin) throw new Error(`cannot find the parts of ${id}: the text in spdx-license-list changed`)
  const before = joinWords(text.slice(0, begin))
  const after = joinWords(text.slice(end))
  return {
    id,
    ...(before === '' ? {} : { before }),
    words: joinWords(text.slice(begin, end)),
    ...(after === '' ? {} : { after }),
  }
}

/** The notices for source files, in the words of the licenses. */
function notices(licenses: Record<string, SpdxLicense>): LicenseTemplate[] {
  const gnu = (id: string) =>
    passage(licenses, id, /This (?:program|library) is free software[\s\S]*?(?:<https?:[^>]*>|USA\.?|02111-1307)/)
  const gpl3 = gnu('GPL-3.0-only')
  return [
    notice(
      'Apache-2.0',
      passage(licenses, 'Apache-2.0', /Licensed under the Apache License[\s\S]*limitations under the License\./),
    ),
    notice('MPL-2.0', passage(licenses, 'MPL-2.0', /This Source Code Form is subject[\s\S]*?mozilla\.org\/MPL\/2\.0\//)),
    notice('GPL-2.0-or-later', gnu('GPL-2.0-only')),
    notice('LGPL-2.1-or-later', gnu('LGPL-2.1-only')),
    notice('GPL-3.0-or-later', gpl3),
    notice('LGPL-3.0-or-later', gpl3.replaceAll('GNU General', 'GNU Lesser General')),
    notice('AGPL-3.0-or-later', gnu('AGPL-3.0-only')),
  ]
}

function notice(id: string, text: string): LicenseTemplate {
  return { id, words: joinWords(text) }
}

function passage(licenses: Record<string, SpdxLicense>, id: string, pattern: RegExp): string {
  const found = textOf(licenses, id).match(pattern)
  if (found === null) throw new Error(`cannot find the notice of ${id}: the text in spdx-license-list changed`)
  return found[0]
}

function joinWords(text: string): string {
  return normalizeText(text).words.join(' ')
}

function textOf(licenses: Record<string, SpdxLicense>, id: string): string {
  return licenses[id]?.licenseText ?? ''
}

function nameOf(licenses: Record<string, SpdxLicense>, id: string): string {
  return licenses[id]?.name ?? id
}

function asLines(values: readonly unknown[]): string {
  return `${values.map(value => JSON.stringify(value)).join('\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { names, templates } = makeLicenseData()
  writeFileSync(new URL('../indexer/rules/license/names.jsonl', import.meta.url), names)
  writeFileSync(new URL('../indexer/rules/license/templates.jsonl', import.meta.url), templates)
}

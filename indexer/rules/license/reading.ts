import { visibleLine } from '#core/hidden-text.ts'
import { isLfsPointer, truncateCharacters } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import type { Declaration } from './declaration.ts'
import { kindOfExpression, type LicenseSettings } from './kind.ts'
import type { PluginLicenses } from './metadata.ts'
import { LICENSE_TEXT_BYTES } from './names.ts'
import { type RecognizedText, recognizeLicenseText } from './recognize.ts'
import type { ReuseFile } from './reuse-file.ts'
import type { LicenseSources, Unrecognized } from './sources.ts'
import type { FoundFile } from './tree-files.ts'

/** The sources of one repository, and what was read of them. */
export interface Reading {
  sources: LicenseSources
  settings: LicenseSettings
  /** By blob id. */
  recognized: Map<string, RecognizedText>
  /** By blob id of a marketplace. */
  plugins: Map<string, PluginLicenses>
  /** By blob id of a `REUSE.toml`. */
  reuse: Map<string, ReuseFile>
}

export function expressionOf({ settings }: Reading, expression: string): Pick<Declaration, 'kind' | 'name'> {
  return { kind: kindOfExpression(expression, settings) ?? 'unknown', name: expression }
}

export function readLicenseText(reading: Reading, file: FoundFile): Declaration {
  const text = recognizeFile(reading, file)
  const base = { origin: 'file', source: file.path } as const
  switch (text.kind) {
    case 'known':
      return { ...base, ...expressionOf(reading, text.id), issues: [] }
    case 'restricted':
    case 'unknown': {
      const issue = { ...unrecognized(text, reading.sources.isWithheld(file.path)), path: file.path }
      return { ...base, kind: text.kind, name: null, issues: [issue] }
    }
  }
}

export function recognizeFile({ sources, recognized }: Reading, { oid, sizeBytes }: FoundFile): RecognizedText {
  const known = recognized.get(oid)
  if (known !== undefined) return known
  const text = sources.textOf(oid)
  if (text === null || text === undefined) {
    return { kind: 'unknown', why: { kind: (sizeBytes ?? 0) > LICENSE_TEXT_BYTES ? 'long' : 'unreadable' } }
  }
  const result: RecognizedText = isLfsPointer(text) ? { kind: 'unknown', why: { kind: 'lfs' } } : recognizeLicenseText(text)
  recognized.set(oid, result)
  return result
}

/** Says why the license of a text is not known. A withheld text is not quoted. */
function unrecognized(text: Exclude<RecognizedText, { kind: 'known' }>, isWithheld: boolean): Unrecognized {
  if (isWithheld) return finding('license.unrecognized:text')
  if (text.kind === 'restricted') return finding('license.unrecognized:reserved')
  const { why } = text
  if (why.kind === 'long') return finding('license.unrecognized:long', { limit: LICENSE_TEXT_BYTES })
  if (!('like' in why)) return finding(`license.unrecognized:${why.kind}`)
  const words = 'text' in why ? truncateCharacters(visibleLine(why.text), QUOTED_CHARACTERS) : ''
  return finding(`license.unrecognized:${why.kind}`, { name: why.like, words })
}

const QUOTED_CHARACTERS = 120

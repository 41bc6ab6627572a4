import { normalizeText } from './normalize.ts'
import { FORBIDDING } from './significant-words.ts'
import { wordsOf } from './tokens.ts'

/** A page of a license collection such as choosealicense.com: metadata between two lines of `---`, then the license. */
export interface LicensePage {
  /** The SPDX id that the metadata names. */
  id: string
  text: string
}

/** Reads such a page; `null` when the text is not one, or its metadata may contain a condition. */
export function readLicensePage(text: string): LicensePage | null {
  const [all, metadata = ''] = text.match(/^\ufeff?---\r?\n([\s\S]{0,8000}?)\n---\r?\n/) ?? []
  const id = metadata.match(/^spdx-id:[ \t]*([A-Za-z0-9.-]+)[ \t]*\r?$/m)?.[1]
  if (all === undefined || id === undefined) return null
  if (!metadata.split(/\r?\n/).every(line => FIELD.test(line))) return null
  const prose = metadata.toLowerCase().replace(RIGHTS, '').replace(NO_CONDITIONS, '')
  const { words, copyright } = normalizeText(prose)
  return [...words, ...copyright.flatMap(wordsOf)].some(word => FORBIDDING.test(word))
    ? null
    : { id, text: text.slice(all.length) }
}

/** The fields of such pages, and what their lists name: anything else may be a condition. */
const FIELD =
  /^(?:(?:title|nickname|spdx-id|redirect_from|source|featured|hidden|description|how|using|permissions|conditions|limitations):.*| *- (?:\/\S+|(?:commercial|private|patent|trademark)-use|modifications|distribution|include-copyright(?:--source)?|document-changes|disclose-source|network-use-disclose|same-license(?:--file|--library)?|liability|warranty)| +[^\s:][^:]{0,80}: ["']?https?:\/\/\S+|\s*)$/
const RIGHTS = /^ *- (?:private-use|commercial-use|modifications|distribution|patent-use) *\r?$/gm
const NO_CONDITIONS = /no conditions whatsoever|unlicensed works|without source code/g

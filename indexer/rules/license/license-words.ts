import { isContentLicense, kindOfExpression } from './kind.ts'
import { licenseIdOf } from './license-ids.ts'

/**
 * The meaning of declared words. `file`: the license is the text of that file, a path relative to the declaring folder or to the root (`/…`).
 * An expression may come with a `file` that has its complete terms.
 */
export type LicenseWords =
  | { kind: 'expression'; expression: string; file?: string }
  | { kind: 'file'; file: string }
  | { kind: 'restricted' }
  | { kind: 'unknown' }

/** Reads the value of `license`. Names match word by word, fillers such as "the" aside: with a word more or less they are `unknown`. */
export function readLicenseWords(value: string): LicenseWords {
  const words = value.trim().replace(/\s+/g, ' ')
  if (words.endsWith('?') || words === '' || words.length > WORDS_CHARACTERS) return { kind: 'unknown' }
  if (kindOfExpression(words) !== null) return { kind: 'expression', expression: words }
  if (RESERVED.test(words)) return { kind: 'restricted' }
  const file = namedFile(words)
  if (file !== null) return { kind: 'file', file }
  const plain = withoutFrame(words)
  // A name in parentheses may be that of a file, so pointers come first there.
  const pointing = plain.includes('(') ? expressionWithPointer(plain) : null
  if (pointing !== null) return pointing
  const expression = expressionOf(plain)
  return expression === null ? (expressionWithPointer(plain) ?? { kind: 'unknown' }) : { kind: 'expression', expression }
}

/** Without quotes, a full stop, the brackets of a link, and words such as "Licensed under". */
function withoutFrame(words: string): string {
  const bare = words
    .replace(/^(["'`])(.*)\1$/, '$2')
    .replace(/\.$/, '')
    .replace(/^\[([^[\]]+)\]\(/, '$1 (')
  return bare.replace(FRAME, '').replace(/,? (?:\(at your option\)|at your option)$/i, '')
}

/** An expression of ids or of names: "MIT", "The MIT License", "Apache 2.0 or MIT", "MIT/Apache-2.0". */
function expressionOf(words: string): string | null {
  if (kindOfExpression(words) !== null) return words
  const id = licenseIdOf(words)
  if (id !== null) return id
  for (const [separator, operator] of OPERATORS) {
    const parts = words.split(separator)
    const ids = parts.length > 1 && parts.length <= EXPRESSION_PARTS ? parts.map(part => idOrName(part.trim())) : []
    if (ids.length > 0 && ids.every(part => part !== null)) return joinIds(ids, isDivision(separator, ids) ? 'AND' : operator)
  }
  return null
}

/** Whether a slash stands beside a license that is not open: it may divide parts as well as offer a choice. */
function isDivision(separator: RegExp, ids: readonly string[]): boolean {
  return separator === SLASH && ids.some(id => kindOfExpression(id) !== 'open')
}

function idOrName(words: string): string | null {
  return /^[\w.+-]+$/.test(words) && kindOfExpression(words) !== null ? words : licenseIdOf(words)
}

/** Ids side by side are a choice; but a license of content beside one of software is another license for another part. */
export function joinIds(ids: readonly string[], operator: 'OR' | 'AND'): string {
  const isDivided = ids.some(isContentLicense) && !ids.every(isContentLicense)
  return ids.join(isDivided ? ' AND ' : ` ${operator} `)
}

/** An expression and the file with its complete terms: "Apache-2.0. See LICENSE for complete terms", "MIT (see ../LICENSE)". Or two names of it: "The MIT License (MIT)". */
function expressionWithPointer(words: string): LicenseWords | null {
  for (const { index, 0: separator } of words.matchAll(POINTER_SEPARATOR)) {
    const expression = expressionOf(words.slice(0, index))
    if (expression === null) continue
    const rest = words.slice(index + separator.length).replace(/\)\.?$/, '')
    if (expressionOf(rest) === expression) return { kind: 'expression', expression }
    const file = namedFile(rest)
    if (file !== null) return { kind: 'expression', expression, file }
  }
  return null
}

const WORDS_CHARACTERS = 400
const EXPRESSION_PARTS = 6
const RESERVED = /\b(?:proprietary|all rights reserved|unlicensed)\b/i
const FRAME =
  /^(?:(?:(?:licensed|released|distributed|available|published) )?under(?: the(?: terms of(?: the)?)?)? |spdx(?:-license-identifier)?: ?|licen[cs]e: |(?:dual |dually )?licensed(?: as)? |either(?: of)? |dual )/i
const POINTER_SEPARATOR = /[.,;:]? (?:[-–—|] )?\(?|[.,;:]? ?\(/g
const SLASH = / ?\/ ?/
/** What stands between names. A comma and "and" ask for all of them. */
const OPERATORS = [
  [/ or /i, 'OR'],
  [SLASH, 'OR'],
  [/,? and |, | ?& ?| ?\+ ?/i, 'AND'],
] as const

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
